package io.millrace.engine.reactor;

import io.millrace.engine.Histogram;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A histogram of values up to {@code Long.MAX_VALUE}, with a bucket for each eighth of a power of two. */
final class BucketHistogram implements Histogram {
    private static final int SUB_BITS = 3;
    static final int BUCKETS = (Long.SIZE - SUB_BITS) << SUB_BITS;

    private final long[] counts;
    private final long count;
    private final long max;
    private final long sum;

    BucketHistogram(long[] counts, long max, long sum) {
        this.counts = counts;
        this.count = Arrays.stream(counts).sum();
        this.max = max;
        this.sum = sum;
    }

    /** Returns the bucket of a non-negative value. */
    static int bucket(long value) {
        int shift = Math.max(0, Long.SIZE - SUB_BITS - 1 - Long.numberOfLeadingZeros(value));
        return (shift << SUB_BITS) + (int) (value >>> shift);
    }

    /** Returns the largest value of a bucket. */
    static long upperBound(int bucket) {
        if (bucket < 2 << SUB_BITS) {
            return bucket;
        }
        int shift = (bucket >>> SUB_BITS) - 1;
        long mantissa = (bucket & ((1 << SUB_BITS) - 1)) + (1L << SUB_BITS);
        return ((mantissa + 1) << shift) - 1;
    }

    @Override
    public long count() {
        return count;
    }

    @Override
    public long maxNanos() {
        return max;
    }

    @Override
    public long sumNanos() {
        return sum;
    }

    @Override
    public List<Bucket> buckets() {
        List<Bucket> all = new ArrayList<>();
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] > 0) {
                all.add(new Bucket(upperBound(i), counts[i]));
            }
        }
        return List.copyOf(all);
    }

    @Override
    public long percentileNanos(double percent) {
        if (!(percent >= 0 && percent <= 100)) {
            throw new IllegalArgumentException("a percentile is from 0 to 100, not " + percent);
        }
        long wanted = Math.max(1, (long) Math.ceil(count * percent / 100));
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen >= wanted) {
                return Math.min(max, upperBound(i));
            }
        }
        return max;
    }

    /** Returns the sum of both. */
    BucketHistogram plus(BucketHistogram other) {
        long[] both = counts.clone();
        for (int i = 0; i < both.length; i++) {
            both[i] += other.counts[i];
        }
        return new BucketHistogram(both, Math.max(max, other.max), sum + other.sum);
    }

    @Override
    public Histogram since(Histogram earlier) {
        if (!(earlier instanceof BucketHistogram before)) {
            throw new IllegalArgumentException("cannot compare with " + earlier + ": it is not a loop's histogram");
        }
        long[] added = new long[counts.length];
        long most = 0;
        for (int i = 0; i < added.length; i++) {
            // Never negative, even if the snapshots come in the wrong order.
            added[i] = Math.max(0, counts[i] - before.counts[i]);
            if (added[i] > 0) {
                most = upperBound(i);
            }
        }
        return new BucketHistogram(added, Math.min(max, most), Math.max(0, sum - before.sum));
    }

    @Override
    public String toString() {
        return count + " values, p50 " + percentileNanos(50) + " ns, p99 " + percentileNanos(99) + " ns, max " + max
                + " ns";
    }
}
