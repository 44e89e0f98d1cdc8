package io.millrace.poll;

import java.time.Duration;

/** Durations as nanoseconds that saturate: 292 years are for ever. */
final class Durations {
    private Durations() {}

    /** At most a quarter of the long range, so that a deadline computed from it still compares by subtraction. */
    static final long MAX_NANOS = Long.MAX_VALUE / 4;

    static long toNanos(Duration duration) {
        if (duration.toSeconds() >= MAX_NANOS / 1_000_000_000) {
            return MAX_NANOS;
        }
        if (duration.isNegative()) {
            return -1;
        }
        return duration.toNanos();
    }

    static long positiveNanos(Duration duration, String what) {
        long nanos = toNanos(duration);
        if (nanos <= 0) {
            throw new IllegalArgumentException(what + " must be positive, not " + duration);
        }
        return nanos;
    }
}
