package io.millrace.micrometer;

import io.micrometer.core.instrument.Timer;
import io.millrace.engine.Histogram;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Passes what was added to a histogram since the last time on to a Micrometer timer, which makes it a histogram in
 * whatever form its registry publishes: buckets, percentiles, a sum. Micrometer cannot be given buckets, so each value
 * is recorded by itself, as the upper bound of its bucket; so it is never too small, and at most an eighth too large.
 *
 * <p>Used by one thread at a time.
 */
final class HistogramFeed {
    private final Supplier<Histogram> from;
    private final Timer to;
    /** How many values of each bucket were passed on, by its upper bound. */
    private final Map<Long, Long> passedOn = new HashMap<>();

    HistogramFeed(Supplier<Histogram> from, Timer to) {
        this.from = from;
        this.to = to;
    }

    void feed() {
        Histogram now = from.get();
        for (Histogram.Bucket bucket : now.buckets()) {
            Long before = passedOn.put(bucket.atMostNanos(), bucket.count());
            long value = Math.min(bucket.atMostNanos(), now.maxNanos());
            for (long left = bucket.count() - (before == null ? 0 : before); left > 0; left--) {
                to.record(value, TimeUnit.NANOSECONDS);
            }
        }
    }
}
