package io.millrace.poll;

/**
 * Where a {@link Poll} and a {@link Timer} take their time from. Like {@link System#nanoTime()}: the origin means nothing, values
 * are compared by subtraction, and it never runs backwards.
 */
public interface Clock {
    /**
     * The time now.
     *
     * @return nanoseconds since some origin
     */
    long nanoTime();

    /**
     * Asks to be told when the clock moves other than by the passing of real time, so that a sleeping poll can look again. The
     * system's clock never does.
     *
     * @param onJump run after each jump, by the thread that made it
     * @return undoes the subscription
     */
    default Runnable subscribe(Runnable onJump) {
        return () -> {};
    }

    /**
     * The system's monotonic clock.
     *
     * @return a clock over {@link System#nanoTime()}
     */
    static Clock system() {
        return SystemClock.INSTANCE;
    }
}
