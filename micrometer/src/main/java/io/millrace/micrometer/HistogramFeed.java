package io.millrace.micrometer;

import io.micrometer.core.instrument.Timer;
import io.millrace.engine.Histogram;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Passes what was added to a histogram since the last time on to a Micrometer timer, which makes it a histogram in
 * whatever form its registry publishes: buckets, percentiles, a sum. Micrometer cannot be given buckets, so each value
 * is recorded by itself, as the upper bound of its bucket; so it is never too small, and at most an eighth too large.
 *
 * <p>Begins with what is added after it was made: a loop that has run for a day has millions of values, and to record
 * them one by one would take minutes.
 *
 * <p>Used by one thread at a time.
 */
final class HistogramFeed {
    private final Supplier<Histogram> from;
    private final Timer to;
    /** What was passed on. */
    private Histogram last;

    HistogramFeed(Supplier<Histogram> from, Timer to) {
        this.from = from;
        this.to = to;
        this.last = from.get();
    }

    void feed() {
        Histogram now = from.get();
        Histogram added = now.since(last);
        last = now;
        for (Histogram.Bucket bucket : added.buckets()) {
            long value = Math.min(bucket.atMostNanos(), added.maxNanos());
            for (long left = bucket.count(); left > 0; left--) {
                to.record(value, TimeUnit.NANOSECONDS);
            }
        }
    }
}
