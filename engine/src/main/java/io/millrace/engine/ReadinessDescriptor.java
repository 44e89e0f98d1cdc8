package io.millrace.engine;

import io.millrace.poll.Source;
import java.util.function.Consumer;

/**
 * A descriptor that a {@link ReadinessEventManager} watches. Notifications are one-shot: ask, be told once, ask again.
 *
 * <p><b>What it guarantees.</b> A callback runs once for each notify call, always on the descriptor's own thread of the manager and never
 * inside the call itself; soon, if the descriptor was ready already. Readiness is kept until it is used up by a notification or forgotten by a
 * {@code clear…} call.
 *
 * <p><b>Edges.</b> Readiness is reported when it comes, not while it stays. So before you ask again, read or write until would-block.
 *
 * <p><b>Ending.</b> A manager that ends releases its descriptors: what waits is told, and what is watched stays open.
 *
 * <p><b>Threads.</b> Any.
 */
public interface ReadinessDescriptor extends AutoCloseable {
    /**
     * The descriptor's number.
     *
     * @return −1 if it is closed or released, or a source without a number of its own
     */
    int fd();

    /**
     * What is being watched.
     *
     * @return as registered
     */
    Source source();

    /**
     * Who watches it.
     *
     * @return the manager that it was registered with
     */
    ReadinessEventManager manager();

    /**
     * Whether it was closed or released.
     *
     * @return true from then on
     */
    boolean isClosed();

    /**
     * Sets the class in which readable notifications run; normal at first.
     *
     * @param priority from now on
     */
    void setReadPriority(Priority priority);

    /**
     * Sets the class in which writable notifications run; normal at first.
     *
     * @param priority from now on
     */
    void setWritePriority(Priority priority);

    /**
     * Sets the class in which error notifications run; normal at first.
     *
     * @param priority from now on
     */
    void setErrorPriority(Priority priority);

    /**
     * Runs a callback once, when a read would not block. Also when the descriptor is closed or released.
     *
     * @param callback on the descriptor's thread
     * @throws IllegalStateException if one for readable is pending, or the descriptor is closed; nothing is changed
     */
    void notifyWhenReadable(Runnable callback);

    /**
     * Runs a callback once, when a write would not block. Also when the descriptor is closed or released.
     *
     * @param callback on the descriptor's thread
     * @throws IllegalStateException if one for writable is pending, or the descriptor is closed; nothing is changed
     */
    void notifyWhenWritable(Runnable callback);

    /**
     * Runs a callback once, when there is an error. Also when the descriptor is closed or released.
     *
     * @param callback on the descriptor's thread
     * @throws IllegalStateException if one for errors is pending, or the descriptor is closed; nothing is changed
     */
    void notifyWhenHasError(Runnable callback);

    /**
     * Runs a callback once: when a read would not block, or at a time.
     *
     * @param callback on the descriptor's thread
     * @param deadlineNanos nanoseconds of the manager's clock
     * @throws IllegalStateException if one for readable is pending, or the descriptor is closed; nothing is changed
     */
    void notifyWhenReadableOrTimeout(Consumer<NotifyOutcome> callback, long deadlineNanos);

    /**
     * Runs a callback once: when a write would not block, or at a time.
     *
     * @param callback on the descriptor's thread
     * @param deadlineNanos nanoseconds of the manager's clock
     * @throws IllegalStateException if one for writable is pending, or the descriptor is closed; nothing is changed
     */
    void notifyWhenWritableOrTimeout(Consumer<NotifyOutcome> callback, long deadlineNanos);

    /**
     * Forgets that it was readable: the next notification is of something new. Call it before the read that meets would-block; afterwards it could forget what came since.
     */
    void clearReadable();

    /**
     * Forgets that it was writable: the next notification is of something new. Call it before the write that meets would-block; afterwards it could forget what came since.
     */
    void clearWritable();

    /** Forgets that it had an error: the next notification is of something new. */
    void clearHasError();

    /** Makes it readable as far as notifications are concerned, whatever the kernel says. */
    void forceReadable();

    /** Makes it writable as far as notifications are concerned, whatever the kernel says. */
    void forceWritable();

    /** Makes it have an error as far as notifications are concerned, whatever the kernel says. */
    void forceHasError();

    /**
     * Runs every callback that is pending, on the descriptor's thread, and then closes the descriptor or the source. Idempotent.
     */
    @Override
    void close();

    /**
     * Gives the descriptor back, open and no longer watched, and runs every callback that is pending, on the descriptor's thread. Idempotent.
     *
     * @return its number; −1 if it was closed or released before, or has no number
     */
    int release();
}
