package io.millrace.engine.internal;

import io.millrace.poll.Clock;
import io.millrace.poll.internal.Durations;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/**
 * The one deadline of an ending. Whatever has to be waited for on the way is waited for until this moment and no longer, so the sum of the waits has the bound that the
 * caller asked for (end-3). Time is that of an injected clock; a wait looks again when the clock jumps.
 */
public final class Deadline {
    /** How long {@code close()} waits, of everything that has one. */
    public static final Duration OF_CLOSE = Duration.ofSeconds(10);

    /** How much longer an ending may take after its deadline: for callbacks that tell of the end, which are quick. */
    public static final Duration A_LITTLE = Duration.ofMillis(250);

    private final Clock clock;
    private final long at;

    private Deadline(Clock clock, long at) {
        this.clock = clock;
        this.at = at;
    }

    /**
     * A deadline from now on.
     *
     * @param clock whose time it is
     * @param atMost how far ahead; what is negative counts as zero
     * @return a deadline
     */
    public static Deadline after(Clock clock, Duration atMost) {
        return new Deadline(clock, clock.nanoTime() + Durations.nanosOrZero(atMost));
    }

    /**
     * The same clock, a little later: when even what needs no patience must be over.
     *
     * @return {@link #A_LITTLE} behind the later of this one and now
     */
    public Deadline andALittle() {
        long now = clock.nanoTime();
        return new Deadline(clock, (at - now > 0 ? at : now) + A_LITTLE.toNanos());
    }

    /**
     * How long it is until then.
     *
     * @return 0 if it is over
     */
    public long leftNanos() {
        return Math.max(0, at - clock.nanoTime());
    }

    /**
     * Whether it comes before another one of the same clock.
     *
     * @param other of the same clock
     * @return false if they are the same
     */
    public boolean isBefore(Deadline other) {
        return at - other.at < 0;
    }

    /**
     * Waits until something has ended, or until this moment. An interrupt does not cut it short, and is kept for the caller.
     *
     * @param end completes when it has ended, in whatever way
     * @return whether it has ended
     */
    public boolean await(CompletableFuture<?> end) {
        if (end.isDone()) {
            return true;
        }
        Thread waiting = Thread.currentThread();
        boolean interrupted = false;
        // By way of anyOf, which takes itself off the end when the other one is complete: what is asked for its end
        // often,
        // and has none, must not remember everyone who asked.
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
