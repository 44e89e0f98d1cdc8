package io.millrace.engine;

import io.millrace.poll.Source;
import java.util.function.Consumer;

/**
 * A descriptor that a {@link ReadinessEventManager} watches. Notifications are one-shot: ask, be notified once, ask
 * again.
 *
 * <p><b>What it guarantees.</b> The callback of each notify call runs once, always on the descriptor's own thread of
 * the manager and never inside the call itself. If the descriptor is already ready, it runs soon. Readiness is kept
 * until it is used up by a notification or discarded by a {@code clear…} call.
 *
 * <p><b>Edges.</b> Readiness is reported when it arises, not for as long as it lasts. So read or write until
 * would-block before you ask again.
 *
 * <p><b>Ending.</b> A manager that ends releases its descriptors: pending callbacks run, and what was watched stays
 * open.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public interface ReadinessDescriptor extends AutoCloseable {
    /**
     * Returns the descriptor's number.
     *
     * @return −1 if it is closed or released, or if the source has no number
     */
    int fd();

    /**
     * Returns what is being watched.
     *
     * @return the source that was registered
     */
    Source source();

    /**
     * Returns the manager that watches it.
     *
     * @return the manager that it was registered with
     */
    ReadinessEventManager manager();

    /**
     * Returns whether it was closed or released.
     *
     * @return true from then on
     */
    boolean isClosed();

    /**
     * Sets the priority of notifications for reading; normal at first.
     *
     * @param priority the new priority
     */
    void setReadPriority(Priority priority);

    /**
     * Sets the priority of notifications for writing; normal at first.
     *
     * @param priority the new priority
     */
    void setWritePriority(Priority priority);

    /**
     * Sets the priority of notifications for errors; normal at first.
     *
     * @param priority the new priority
     */
    void setErrorPriority(Priority priority);

    /**
     * Runs a callback once, when a read would not block, or when the descriptor is closed or released.
     *
     * @param callback called on the descriptor's thread
     * @throws IllegalStateException if a callback for reading is pending, or the descriptor is closed; nothing is
     *     changed
     */
    void notifyWhenReadable(Runnable callback);

    /**
     * Runs a callback once, when a write would not block, or when the descriptor is closed or released.
     *
     * @param callback called on the descriptor's thread
     * @throws IllegalStateException if a callback for writing is pending, or the descriptor is closed; nothing is
     *     changed
     */
    void notifyWhenWritable(Runnable callback);

    /**
     * Runs a callback once, when there is an error, or when the descriptor is closed or released.
     *
     * @param callback called on the descriptor's thread
     * @throws IllegalStateException if a callback for errors is pending, or the descriptor is closed; nothing is
     *     changed
     */
    void notifyWhenHasError(Runnable callback);

    /**
     * Runs a callback once: when a read would not block, or at a deadline.
     *
     * @param callback called on the descriptor's thread
     * @param deadlineNanos the deadline in nanoseconds of the manager's clock
     * @throws IllegalStateException if a callback for reading is pending, or the descriptor is closed; nothing is
     *     changed
     */
    void notifyWhenReadableOrTimeout(Consumer<NotifyOutcome> callback, long deadlineNanos);

    /**
     * Runs a callback once: when a write would not block, or at a deadline.
     *
     * @param callback called on the descriptor's thread
     * @param deadlineNanos the deadline in nanoseconds of the manager's clock
     * @throws IllegalStateException if a callback for writing is pending, or the descriptor is closed; nothing is
     *     changed
     */
    void notifyWhenWritableOrTimeout(Consumer<NotifyOutcome> callback, long deadlineNanos);

    /**
     * Discards kept readiness for reading, so that the next notification is about something new. Call this before the
     * read that meets would-block; afterwards it could discard what has come since.
     */
    void clearReadable();

    /**
     * Discards kept readiness for writing, so that the next notification is about something new. Call this before the
     * write that meets would-block; afterwards it could discard what has come since.
     */
    void clearWritable();

    /** Discards a kept error, so that the next notification is about something new. */
    void clearHasError();

    /** Makes the descriptor readable for notifications, no matter what the kernel says. */
    void forceReadable();

    /** Makes the descriptor writable for notifications, no matter what the kernel says. */
    void forceWritable();

    /** Makes the descriptor have an error for notifications, no matter what the kernel says. */
    void forceHasError();

    /**
     * Runs all pending callbacks on the descriptor's thread, and then closes the descriptor or the source. Idempotent.
     */
    @Override
    void close();

    /**
     * Stops watching the descriptor, leaves it open, and runs all pending callbacks on the descriptor's thread.
     * Idempotent.
     *
     * @return its number; −1 if it was closed or released before, or has no number
     */
    int release();
}
