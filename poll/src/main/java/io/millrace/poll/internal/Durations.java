package io.millrace.poll.internal;

import java.time.Duration;

/** Converts durations to the numbers that clocks and kernels use. */
public final class Durations {
    /**
     * Stands for "for ever": 73 years, a quarter of the range of a long, so that a deadline computed from it can still
     * be compared by subtraction.
     */
    public static final long MAX_NANOS = Long.MAX_VALUE / 4;

    private Durations() {}

    /**
     * Converts a duration to nanoseconds.
     *
     * @param duration any duration
     * @return at most {@link #MAX_NANOS}; −1 if it is negative
     */
    public static long toNanos(Duration duration) {
        if (duration.isNegative()) {
            return -1;
        }
        return duration.toSeconds() >= MAX_NANOS / 1_000_000_000 ? MAX_NANOS : duration.toNanos();
    }

    /**
     * Converts a duration to nanoseconds; a negative one counts as zero.
     *
     * @param duration any duration
     * @return from 0 to {@link #MAX_NANOS}
     */
    public static long nanosOrZero(Duration duration) {
        return Math.max(0, toNanos(duration));
    }

    /**
     * Converts a limit to nanoseconds.
     *
     * @param limit not negative; zero stands for no limit
     * @param what its name, for the message
     * @return from 0 to {@link #MAX_NANOS}
     */
    public static long limitNanos(Duration limit, String what) {
        if (limit.isNegative()) {
            throw new IllegalArgumentException(what + " must not be negative, not " + limit + "; zero is never");
        }
        return toNanos(limit);
    }

    /**
     * Returns the time until a deadline. A deadline more than half the range of a long away has not passed.
     *
     * @param deadline in nanoseconds of a clock
     * @param now of the same clock
     * @return at most {@link #MAX_NANOS}; 0 if it has passed
     */
    public static long nanosUntil(long deadline, long now) {
        return Math.clamp(deadline - now, 0, MAX_NANOS);
    }

    /**
     * Converts a duration that must be positive to nanoseconds.
     *
     * @param duration a positive duration
     * @param what its name, for the message
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
     * Converts a duration to whole seconds, rounded up, so that nothing happens early.
     *
     * @param duration a duration within the bounds
     * @param what its name, for the message
     * @param least the lower bound
     * @param most the upper bound
     * @return a number within the bounds
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
