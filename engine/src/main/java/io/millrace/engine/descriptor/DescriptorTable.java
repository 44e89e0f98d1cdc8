package io.millrace.engine.descriptor;

import io.millrace.engine.reactor.EventSink;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The descriptors of a manager: what its reactors' last turns must tell, and which numbers are taken. Any thread. */
public final class DescriptorTable {
    /** Those that are open. Their sources may be closed without them, so the poll does not know all of them. */
    private final Set<EventSink> descriptors = ConcurrentHashMap.newKeySet();
    /** Of those that were registered by number: the kernel would take one twice, and report it to one of the two. */
    private final Set<Integer> numbers = ConcurrentHashMap.newKeySet();

    /** Takes a number; false if it is taken. */
    public boolean claim(int fd) {
        return numbers.add(fd);
    }

    /** Gives back a number that came to nothing. */
    public void disclaim(int fd) {
        numbers.remove(fd);
    }

    public void add(EventSink descriptor) {
        descriptors.add(descriptor);
    }

    /** It was not registered after all. */
    public void remove(EventSink descriptor) {
        descriptors.remove(descriptor);
    }

    /** A descriptor is closed or released. */
    void forget(EventSink descriptor, int fd) {
        descriptors.remove(descriptor);
        numbers.remove(fd);
    }

    /** A view. */
    public Collection<EventSink> all() {
        return descriptors;
    }
}
