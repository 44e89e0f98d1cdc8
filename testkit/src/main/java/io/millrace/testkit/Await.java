package io.millrace.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Waits for what must happen sooner or later. The deadline decides nothing but whether a test hangs: it is far beyond what any
 * machine needs.
 */
public final class Await {
    /** Long enough for a loaded machine, short enough for whoever waits for the build. */
    public static final Duration DEADLINE = Duration.ofSeconds(10);

    private static final long PAUSE_NANOS = 50_000;
    private static final int SPINS = 2_000;

    private Await() {}

    /**
     * Returns when the condition holds.
     *
     * @param what for the message, e.g. "the poll sleeps"
     * @param condition looked at again and again
     * @throws AssertionError if it does not hold within {@link #DEADLINE}
     */
    public static void until(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > DEADLINE.toNanos()) {
                throw new AssertionError("not within " + DEADLINE.toSeconds() + " s: " + what);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /**
     * Returns within nanoseconds after another thread made the condition hold: for races, where both sides must be on time.
     *
     * @param what for the message
     * @param condition looked at without a pause, for a while
     * @throws AssertionError if it does not hold within {@link #DEADLINE}
     */
    public static void spinUntil(String what, BooleanSupplier condition) {
        for (int i = 0; i < SPINS; i++) {
            if (condition.getAsBoolean()) {
                return;
            }
            Thread.onSpinWait();
        }
        until(what, condition);
    }

    /**
     * Does nothing for a short while.
     *
     * @param spins how short; some nanoseconds each
     */
    public static void spin(int spins) {
        for (int i = 0; i < spins; i++) {
            Thread.onSpinWait();
        }
    }
}
