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
 * What an event loop needs of a {@link Poll} beyond its public face: to wait by nanoseconds, to be woken only when it sleeps, and to find the owner of
 * an event by a reference instead of a token.
 *
 * <p>Implemented in the package of {@link Poll}, which hands it over here; so none of it is public.
 */
public abstract class PollAccess {
    private static volatile @Nullable PollAccess instance;

    /** For the one implementation. */
    protected PollAccess() {}

    /**
     * The one there is.
     *
     * @return available once a {@link Poll} was opened
     */
    public static PollAccess get() {
        return Objects.requireNonNull(instance, "open a Poll first");
    }

    /**
     * By the class {@link Poll}, when it is initialised.
     *
     * @param access the implementation
     */
    public static void set(PollAccess access) {
        instance = access;
    }

    /** Work that the loop has besides its sources, and must not sleep on. */
    @FunctionalInterface
    public interface PendingWork {
        /**
         * Asked after the poll has said that it sleeps: whoever adds work adds it first and then calls {@link #wakeSleeper}.
         *
         * @return whether there is any
         */
        boolean isPending();
    }

    /**
     * One pass of {@link Poll#poll}: may return nothing before its time is over.
     *
     * @param poll the loop's
     * @param events cleared, then filled
     * @param timeoutNanos 0: do not wait; {@link Long#MAX_VALUE}: for ever
     * @param work looked at before it sleeps
     * @return the number of events
     */
    public abstract int pollOnce(Poll poll, Events events, long timeoutNanos, PendingWork work);

    /**
     * Wakes the poll if it sleeps, and only then.
     *
     * @param poll the loop's
     */
    public abstract void wakeSleeper(Poll poll);

    /**
     * Registers a source with an owner in the place of a token.
     *
     * @param poll the loop's
     * @param source what to wait for
     * @param token as in {@link Poll#register}
     * @param owner comes back with its events
     * @param interest what to hear of
     * @param trigger when to hear of it
     */
    public abstract void register(
            Poll poll, Source source, long token, Object owner, Interest interest, Trigger trigger);

    /**
     * The owner of the event under the cursor.
     *
     * @param events after {@link Events#advance} returned true
     * @return as registered; null if it was registered without one
     */
    public abstract @Nullable Object owner(Events events);

    /**
     * The readiness of the event under the cursor.
     *
     * @param events after {@link Events#advance} returned true
     * @return as {@link io.millrace.sys.Bits}
     */
    public abstract int bits(Events events);

    /**
     * What of a readiness may be seen with an interest.
     *
     * @param bits as {@link io.millrace.sys.Bits}
     * @param interest of the registration
     * @return within the interest
     */
    public abstract Readiness visible(int bits, Interest interest);

    /**
     * Whether the kernel has no edges of its own, so that they depend on would-block being reported.
     *
     * @param poll the loop's
     * @return true on poll(2) and NIO
     */
    public abstract boolean emulatesTriggers(Poll poll);

    /**
     * The owners of what is registered now, as far as a look without a lock shows them. Any thread; what is registered or deregistered meanwhile may be missed or shown.
     *
     * @param poll the loop's
     * @param each gets each owner, and may deregister what it owns
     */
    public abstract void owners(Poll poll, Consumer<Object> each);

    /**
     * Whether it watches channels of {@code java.nio}, and not descriptors.
     *
     * @param poll any
     * @return as its backend says, whatever its name
     */
    public abstract boolean takesChannels(Poll poll);

    /**
     * The registrations, as far as a look without a lock shows them; for reports.
     *
     * @param poll the loop's
     * @param each gets a line about each
     */
    public abstract void describe(Poll poll, Consumer<String> each);
}
