package io.millrace.engine;

import io.millrace.poll.Source;
import java.io.IOException;
import java.time.Duration;

/**
 * An {@link EventManager} that reports when descriptors become ready, and whose alarms may have slack, like gRPC's
 * event engine on epoll.
 */
public interface ReadinessEventManager extends EventManager {
    /**
     * Runs a callback between a deadline and that deadline plus a slack, together with others if that saves a wake-up.
     *
     * @param deadlineNanos the deadline in nanoseconds of {@link #clock}; the callback never runs earlier
     * @param slack how much later it may run
     * @param callback called with true
     * @param priority its priority among everything that is due
     * @return a key to cancel it
     * @throws java.util.concurrent.RejectedExecutionException if the manager has ended
     */
    AlarmKey schedule(long deadlineNanos, Duration slack, AlarmCallback callback, Priority priority);

    /**
     * Watches a descriptor of yours. It stays on one thread of the manager until it is closed or released.
     *
     * @param fd an open descriptor; its flags are not changed
     * @return a descriptor that notifies you
     * @throws IllegalStateException if this number is already registered with this manager
     * @throws IllegalArgumentException if it is not open
     * @throws IOException if the system refuses
     * @throws UnsupportedOperationException if the backend has no descriptors (NIO); register the source instead
     */
    ReadinessDescriptor register(int fd) throws IOException;

    /**
     * Watches a source.
     *
     * @param source anything that a {@link io.millrace.poll.Poll} can wait for
     * @return a descriptor that notifies you
     * @throws IllegalStateException if it is registered already
     * @throws IllegalArgumentException if this backend cannot watch it
     */
    ReadinessDescriptor register(Source source);

    /**
     * Removes a descriptor. If it is neither closed nor released, it is released first.
     *
     * @param descriptor a descriptor of this manager
     * @throws IllegalArgumentException if it belongs to another manager
     */
    void delete(ReadinessDescriptor descriptor);
}
