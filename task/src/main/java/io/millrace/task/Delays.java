package io.millrace.task;

import java.time.Duration;

/** Calls back after a while: for the timeouts of children. Replace it in tests, or by the timer of an event loop. */
@FunctionalInterface
public interface Delays {
    /**
     * Runs something after a while, never early.
     *
     * @param delay how long to wait; a negative one counts as none
     * @param action short; called at most once, by any thread
     * @return cancels it; may be called at any time, any number of times
     */
    Runnable after(Duration delay, Runnable action);

    /**
     * The JDK's own: one thread for all, started with the first alarm.
     *
     * @return over the common pool
     */
    static Delays system() {
        return SystemDelays.INSTANCE;
    }
}
