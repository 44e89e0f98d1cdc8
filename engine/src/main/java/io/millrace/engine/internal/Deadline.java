package io.millrace.engine.internal;

import io.millrace.poll.Clock;
import io.millrace.poll.internal.Durations;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/**
 * The one deadline of a shutdown. Everything that it waits for on the way is waited for until this time and no longer,
 * so the waits together take no longer than the caller asked for (end-3). Time comes from an injected clock; a wait
 * checks again when the clock jumps.
 */
public final class Deadline {
    /** How long every {@code close()} waits. */
    public static final Duration OF_CLOSE = Duration.ofSeconds(10);

    /** How much longer a shutdown may take after its deadline, for callbacks that report the end, which are quick. */
    public static final Duration A_LITTLE = Duration.ofMillis(250);

    private final Clock clock;
    private final long at;

    private Deadline(Clock clock, long at) {
        this.clock = clock;
        this.at = at;
    }

    /**
     * Returns a deadline some time from now.
     *
     * @param clock the clock to measure by
     * @param atMost how far ahead; a negative duration counts as zero
     * @return a deadline
     */
    public static Deadline after(Clock clock, Duration atMost) {
        return new Deadline(clock, clock.nanoTime() + Durations.nanosOrZero(atMost));
    }

    /**
     * Returns a slightly later deadline, for what should need no waiting.
     *
     * @return {@link #A_LITTLE} after this deadline or after now, whichever is later
     */
    public Deadline andALittle() {
        long now = clock.nanoTime();
        return new Deadline(clock, (at - now > 0 ? at : now) + A_LITTLE.toNanos());
    }

    /**
     * Returns how much time is left.
     *
     * @return 0 if the deadline has passed
     */
    public long leftNanos() {
        return Math.max(0, at - clock.nanoTime());
    }

    /**
     * Returns whether this deadline is before another one of the same clock.
     *
     * @param other a deadline of the same clock
     * @return false if they are the same
     */
    public boolean isBefore(Deadline other) {
        return at - other.at < 0;
    }

    /**
     * Waits until a future is complete or this deadline is reached. An interrupt does not cut the wait short; the
     * interrupt status is restored for the caller.
     *
     * @param end completes, in whatever way, when the wait is over
     * @return whether it is complete
     */
    public boolean await(CompletableFuture<?> end) {
        if (end.isDone()) {
            return true;
        }
        Thread waiting = Thread.currentThread();
        boolean interrupted = false;
        // Through anyOf, which removes itself from one future when the other completes. Otherwise a future that is
        // waited for often, and never completes, would keep every waiter.
        CompletableFuture<Void> enough = new CompletableFuture<>();
        var ignored =
                CompletableFuture.anyOf(end, enough).whenComplete((result, failure) -> LockSupport.unpark(waiting));
        Runnable unsubscribe = clock.subscribe(() -> LockSupport.unpark(waiting));
        try {
            for (long left = leftNanos(); left > 0 && !end.isDone(); left = leftNanos()) {
                LockSupport.parkNanos(this, left);
                interrupted |= Thread.interrupted();
            }
            return end.isDone();
        } finally {
            unsubscribe.run();
            enough.complete(null);
            if (interrupted) {
                waiting.interrupt();
            }
        }
    }

    @Override
    public String toString() {
        return "in " + leftNanos() / 1_000_000 + " ms";
    }
}
