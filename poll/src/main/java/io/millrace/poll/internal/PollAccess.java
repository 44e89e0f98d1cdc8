package io.millrace.poll.internal;

import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Readiness;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What an event loop needs from a {@link Poll} beyond its public methods: waiting by nanoseconds, waking it only when
 * it sleeps, and finding the sink of an event by reference instead of by token.
 *
 * <p>It is implemented in the package of {@link Poll}, which sets it here, so that none of it is public there.
 */
public abstract class PollAccess {
    private static volatile @Nullable PollAccess instance;

    /** For the only implementation. */
    protected PollAccess() {}

    /**
     * Returns the implementation.
     *
     * @return available once {@link Poll} has been initialized
     */
    public static PollAccess get() {
        return Objects.requireNonNull(instance, "open a Poll first");
    }

    /**
     * Sets the implementation. Called by {@link Poll} when it is initialized.
     *
     * @param access the implementation
     */
    public static void set(PollAccess access) {
        instance = access;
    }

    /** Work that a loop has besides its sources, during which it must not sleep. */
    @FunctionalInterface
    public interface PendingWork {
        /**
         * Returns whether there is work. Called after the poll has announced that it sleeps; a thread that adds work
         * adds it first and then calls {@link #wakeSleeper}.
         *
         * @return whether there is any
         */
        boolean isPending();
    }

    /**
     * Makes the calling thread the polling thread, until {@link #leave}. A loop enters once for all its turns, and this
     * is its only check that no other thread runs it. Meanwhile no other thread can poll, and a close waits until it
     * has left.
     *
     * @param poll the loop's poll
     * @return false if another thread has entered
     * @throws io.millrace.poll.ClosedPollException if the poll is closed
     */
    public abstract boolean tryEnter(Poll poll);

    /**
     * Ends what {@link #tryEnter} began, on the same thread.
     *
     * @param poll the loop's poll
     */
    public abstract void leave(Poll poll);

    /**
     * Performs one pass of {@link Poll#poll} on a thread that has {@linkplain #tryEnter entered}. It may return nothing
     * before its time is over.
     *
     * @param poll the loop's poll
     * @param events cleared, then filled
     * @param timeoutNanos 0 to not wait; {@link Long#MAX_VALUE} to wait for ever
     * @param work checked before it sleeps
     * @return the number of events
     */
    public abstract int pollOnce(Poll poll, Events events, long timeoutNanos, PendingWork work);

    /**
     * Wakes the poll if it is asleep.
     *
     * @param poll the loop's poll
     */
    public abstract void wakeSleeper(Poll poll);

    /**
     * Registers a source with a sink in place of a token.
     *
     * @param poll the loop's poll
     * @param source what to wait for
     * @param token as in {@link Poll#register}
     * @param sink the object to hand back with the source's events
     * @param interest the kinds of readiness to report
     * @param trigger when to report them
     */
    public abstract void register(
            Poll poll, Source source, long token, Object sink, Interest interest, Trigger trigger);

    /**
     * Returns the sink of the event under the cursor.
     *
     * @param events after {@link Events#advance} returned true
     * @return the sink that was registered, or null
     */
    public abstract @Nullable Object sink(Events events);

    /**
     * Returns the readiness of the event under the cursor.
     *
     * @param events after {@link Events#advance} returned true
     * @return as {@link io.millrace.sys.Bits}
     */
    public abstract int bits(Events events);

    /**
     * Returns the part of a readiness that is visible with an interest.
     *
     * @param bits as {@link io.millrace.sys.Bits}
     * @param interest the interest of the registration
     * @return the visible part
     */
    public abstract Readiness visible(int bits, Interest interest);

    /**
     * Returns whether the kernel has no edges of its own, so that they depend on would-block being reported.
     *
     * @param poll the loop's poll
     * @return true on poll(2) and NIO
     */
    public abstract boolean emulatesTriggers(Poll poll);

    /**
     * Passes on the sink of each registration, without a lock. A source that is registered or deregistered meanwhile
     * may or may not be included. Any thread.
     *
     * @param poll the loop's poll
     * @param each receives each sink, and may deregister its source
     */
    public abstract void forEachSink(Poll poll, Consumer<Object> each);

    /**
     * Returns whether a poll watches channels of {@code java.nio} rather than descriptors.
     *
     * @param poll any poll
     * @return what its backend says, whatever its name
     */
    public abstract boolean takesChannels(Poll poll);

    /**
     * Returns whether a source is a {@link io.millrace.poll.Timer} or wraps one. Only the polling thread may use those.
     *
     * @param source any source
     * @return true if its handle is that of a timer
     */
    public abstract boolean isTimer(Source source);

    /**
     * Describes the registrations, without a lock; for reports.
     *
     * @param poll the loop's poll
     * @param each receives a line about each
     */
    public abstract void describe(Poll poll, Consumer<String> each);
}
