package io.millrace.poll.internal;

import java.time.Duration;

/** Durations as the numbers that clocks and kernels count in. */
public final class Durations {
    /**
     * What stands for ever: 73 years, a quarter of what a long holds, so that a deadline computed from it still compares by subtraction.
     */
    public static final long MAX_NANOS = Long.MAX_VALUE / 4;

    private Durations() {}

    /**
     * In nanoseconds.
     *
     * @param duration any
     * @return at most {@link #MAX_NANOS}; −1 for what is negative
     */
    public static long toNanos(Duration duration) {
        if (duration.isNegative()) {
            return -1;
        }
        return duration.toSeconds() >= MAX_NANOS / 1_000_000_000 ? MAX_NANOS : duration.toNanos();
    }

    /**
     * In nanoseconds, of one that must be positive.
     *
     * @param duration more than none
     * @param what for the message
     * @return from 1 to {@link #MAX_NANOS}
     */
    public static long positiveNanos(Duration duration, String what) {
        long nanos = toNanos(duration);
        if (nanos <= 0) {
            throw new IllegalArgumentException(what + " must be positive, not " + duration);
        }
        return nanos;
    }

    /**
     * In whole seconds, rounded up, so that nothing happens early.
     *
     * @param duration within the bounds
     * @param what for the message
     * @param least the lower bound
     * @param most the upper bound
     * @return within the bounds
     */
    public static int wholeSeconds(Duration duration, String what, int least, int most) {
        long seconds = duration.toSeconds() + (duration.toNanosPart() > 0 ? 1 : 0);
        if (duration.isNegative() || seconds < least || seconds > most) {
            throw new IllegalArgumentException(
                    what + " is from " + least + " to " + most + " seconds long, not " + duration);
        }
        return (int) seconds;
    }
}
