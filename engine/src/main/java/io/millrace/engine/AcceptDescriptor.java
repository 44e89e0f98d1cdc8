package io.millrace.engine;

/**
 * A listener that a {@link CompletionEventManager} watches for you: the counterpart of libuv's {@code uv_listen}.
 *
 * <p><b>What it guarantees.</b> A callback runs once, on a thread of the manager and never inside the call itself, when
 * a connection is waiting; then accept until there is none, and ask again. It may run although no connection is
 * waiting.
 *
 * <p><b>Ending.</b> A manager that ends may close it. A pending callback may then be dropped.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public interface AcceptDescriptor extends AutoCloseable {
    /**
     * Calls back once, when a connection is waiting to be accepted.
     *
     * @param callback accepts
     * @throws IllegalStateException if a callback is pending, or the descriptor is closed; nothing is changed
     */
    void notifyWhenAcceptable(Runnable callback);

    /**
     * Returns whether it was closed.
     *
     * @return true from then on
     */
    boolean isClosed();

    /** Stops watching. The listener stays open. Idempotent. */
    @Override
    void close();
}
