package io.millrace.engine.internal;

import java.time.Duration;

/** Durations as nanoseconds that saturate, so that a deadline computed from one still compares by subtraction. */
public final class Nanos {
    /** A quarter of the long range: 73 years. */
    public static final long MAX = Long.MAX_VALUE / 4;

    private Nanos() {}

    /** 0 for what is negative. */
    public static long of(Duration duration) {
        if (duration.isNegative()) {
            return 0;
        }
        return duration.toSeconds() >= MAX / 1_000_000_000 ? MAX : duration.toNanos();
    }

    public static long positive(Duration duration, String what) {
        long nanos = of(duration);
        if (nanos == 0) {
            throw new IllegalArgumentException(what + " must be positive, not " + duration);
        }
        return nanos;
    }

    /** How far a deadline is ahead, at most {@link #MAX}; 0 if it has passed. A deadline more than half the range away has not passed. */
    public static long until(long deadline, long now) {
        return Math.clamp(deadline - now, 0, MAX);
    }
}
