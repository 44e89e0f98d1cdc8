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
     * In nanoseconds, where what is negative is over.
     *
     * @param duration any
     * @return from 0 to {@link #MAX_NANOS}
     */
    public static long nanosOrZero(Duration duration) {
        return Math.max(0, toNanos(duration));
    }

    /**
     * In nanoseconds, of a limit that may be none.
     *
     * @param limit not negative; zero stands for never
     * @param what for the message
     * @return from 0 to {@link #MAX_NANOS}
     */
    public static long limitNanos(Duration limit, String what) {
        if (limit.isNegative()) {
            throw new IllegalArgumentException(what + " must not be negative, not " + limit + "; zero is never");
        }
        return toNanos(limit);
    }

    /**
     * How far a deadline is ahead. A deadline more than half the range of a long away has not passed.
     *
     * @param deadline in nanoseconds of a clock
     * @param now of the same clock
     * @return at most {@link #MAX_NANOS}; 0 if it has passed
     */
    public static long nanosUntil(long deadline, long now) {
        return Math.clamp(deadline - now, 0, MAX_NANOS);
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
