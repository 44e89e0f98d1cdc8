package io.millrace.engine.internal;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Repeats what has to be done until it is done. For steps that fail for want of memory, which others may give back.
 *
 * <p>Even code that creates nothing may need memory when it runs for the first time: its instructions load classes, make
 * the strings of constants and link calls. So this code runs once beforehand, in {@link #prepare}.
 */
public final class Insistence {
    private static final long PAUSE_NANOS = 10_000_000;

    static {
        until(new BooleanSupplier() {
            private boolean again;

            @Override
            public boolean getAsBoolean() {
                again = !again;
                return !again;
            }
        });
    }

    private Insistence() {}

    /** Runs the code of this class once, by loading it. Called while there is memory. */
    public static void prepare() {
        // The static initializer has done it.
    }

    /**
     * Runs a step until it returns true, with a pause of 10 ms after each failure.
     *
     * @param step created beforehand; throwing counts as false
     */
    public static void until(BooleanSupplier step) {
        while (!isDone(step)) {
            pause(PAUSE_NANOS);
        }
    }

    private static boolean isDone(BooleanSupplier step) {
        try {
            return step.getAsBoolean();
        } catch (Throwable e) {
            return false;
        }
    }

    /**
     * Waits.
     *
     * @param nanos how long
     */
    public static void pause(long nanos) {
        LockSupport.parkNanos(nanos);
    }
}
