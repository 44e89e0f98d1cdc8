package io.millrace.engine;

import io.millrace.poll.Source;
import java.io.IOException;
import java.time.Duration;

/** An {@link EventManager} that tells when descriptors become ready, and whose alarms may have slack: gRPC's epoll flavour. */
public interface ReadinessEventManager extends EventManager {
    /**
     * Runs a callback between a time and that time plus a slack, together with others if that spares a wake-up.
     *
     * @param deadlineNanos nanoseconds of {@link #clock}; never earlier
     * @param slack how much later it may be
     * @param callback gets true
     * @param priority its class among what is due at once
     * @return to cancel it
     * @throws java.util.concurrent.RejectedExecutionException if the manager has ended
     */
    AlarmKey schedule(long deadlineNanos, Duration slack, AlarmCallback callback, Priority priority);

    /**
     * Watches a descriptor of yours. It stays where it is until it is closed or released.
     *
     * @param fd an open descriptor; its flags are not changed
     * @return what tells of it
     * @throws IllegalStateException if this descriptor is registered with this manager already
     * @throws IllegalArgumentException if it is not open
     * @throws IOException if the system refuses
     * @throws UnsupportedOperationException if the backend has no descriptors (NIO); then register the source
     */
    ReadinessDescriptor register(int fd) throws IOException;

    /**
     * Watches a source.
     *
     * @param source anything that a {@link io.millrace.poll.Poll} can wait for
     * @return what tells of it
     * @throws IllegalStateException if it is registered already
     * @throws IllegalArgumentException if this backend cannot watch it
     */
    ReadinessDescriptor register(Source source);

    /**
     * Forgets a descriptor. One that is neither closed nor released is released first.
     *
     * @param descriptor of this manager
     * @throws IllegalArgumentException if it is another manager's
     */
    void delete(ReadinessDescriptor descriptor);
}
