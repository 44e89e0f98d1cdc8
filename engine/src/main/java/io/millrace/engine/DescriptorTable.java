package io.millrace.engine;

import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The descriptors of a manager: what its reactors' last turns must tell, and which numbers are taken. Any thread. */
final class DescriptorTable {
    /** Those that are open. Their sources may be closed without them, so the poll does not know all of them. */
    private final Set<Owner> descriptors = ConcurrentHashMap.newKeySet();
    /** Of those that were registered by number: the kernel would take one twice, and report it to one of the two. */
    private final Set<Integer> numbers = ConcurrentHashMap.newKeySet();

    /** Takes a number; false if it is taken. */
    boolean claim(int fd) {
        return numbers.add(fd);
    }

    /** Gives back a number that came to nothing. */
    void disclaim(int fd) {
        numbers.remove(fd);
    }

    void add(Owner descriptor) {
        descriptors.add(descriptor);
    }

    /** It was not registered after all. */
    void remove(Owner descriptor) {
        descriptors.remove(descriptor);
    }

    /** A descriptor is closed or released. */
    void forget(Owner descriptor, int fd) {
        descriptors.remove(descriptor);
        numbers.remove(fd);
    }

    /** A view. */
    Collection<Owner> all() {
        return descriptors;
    }
}
