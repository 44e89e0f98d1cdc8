package io.millrace.poll;

/**
 * The source of time for a {@link Poll} and a {@link Timer}. Like {@link System#nanoTime()}: the origin is arbitrary,
 * values are compared by subtraction, and it never runs backwards.
 */
public interface Clock {
    /**
     * Returns the current time.
     *
     * @return nanoseconds since some origin
     */
    long nanoTime();

    /**
     * Subscribes to jumps of the clock, that is, to changes other than the passing of real time, so that a sleeping
     * poll can check its deadlines again. The system's clock never jumps.
     *
     * @param onJump run after each jump, by the thread that made it
     * @return cancels the subscription when run
     */
    default Runnable subscribe(Runnable onJump) {
        return () -> {};
    }

    /**
     * Returns the system's monotonic clock.
     *
     * @return a clock over {@link System#nanoTime()}
     */
    static Clock system() {
        return SystemClock.INSTANCE;
    }
}
