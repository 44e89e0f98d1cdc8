package io.millrace.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Waits for what must happen eventually. The deadline only decides whether a test hangs: it is far beyond what any
 * machine needs.
 */
public final class Await {
    /** Long enough for a loaded machine, short enough for people who wait for the build. */
    public static final Duration DEADLINE = Duration.ofSeconds(10);

    private static final long PAUSE_NANOS = 50_000;
    private static final int SPINS = 2_000;

    private Await() {}

    /**
     * Returns when the condition holds.
     *
     * @param what the condition, for the message; for example "the poll sleeps"
     * @param condition checked repeatedly
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
     * Returns within nanoseconds after another thread made the condition hold; for races, in which both sides must be
     * on time.
     *
     * @param what the condition, for the message
     * @param condition checked without a pause, for a while
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
