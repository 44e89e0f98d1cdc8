package io.millrace.engine.descriptor;

import io.millrace.engine.reactor.EventSink;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The descriptors of a manager: which are open, and which descriptor numbers are in use. Any thread. */
public final class DescriptorTable {
    /** The open descriptors. Their sources may be closed without them, so the polls do not know all of them. */
    private final Set<EventSink> descriptors = ConcurrentHashMap.newKeySet();
    /**
     * Descriptors that were registered by number. The kernel would accept the same number twice and report its events
     * to only one of the two.
     */
    private final Set<Integer> numbers = ConcurrentHashMap.newKeySet();

    /** Claims a number. Returns false if it is in use. */
    public boolean claim(int fd) {
        return numbers.add(fd);
    }

    /** Gives back a number whose registration failed. */
    public void disclaim(int fd) {
        numbers.remove(fd);
    }

    public void add(EventSink descriptor) {
        descriptors.add(descriptor);
    }

    /** Removes a descriptor whose registration failed. */
    public void remove(EventSink descriptor) {
        descriptors.remove(descriptor);
    }

    /** Removes a descriptor that was closed or released. */
    void forget(EventSink descriptor, int fd) {
        descriptors.remove(descriptor);
        numbers.remove(fd);
    }

    /** Returns a live view. */
    public Collection<EventSink> all() {
        return descriptors;
    }
}
