package io.millrace.engine;

import java.util.Arrays;

/**
 * How long something took, many times: counts by size, each bucket at most an eighth wide. A snapshot; it does not change.
 *
 * <p>Part of {@link Metrics}.
 */
public final class Histogram {
    private static final int SUB_BITS = 3;
    static final int BUCKETS = (Long.SIZE - SUB_BITS) << SUB_BITS;

    private final long[] counts;
    private final long count;
    private final long max;

    Histogram(long[] counts, long max) {
        this.counts = counts;
        this.count = Arrays.stream(counts).sum();
        this.max = max;
    }

    /** The bucket of a value that is not negative. */
    static int bucket(long value) {
        int shift = Math.max(0, Long.SIZE - SUB_BITS - 1 - Long.numberOfLeadingZeros(value));
        return (shift << SUB_BITS) + (int) (value >>> shift);
    }

    /** The largest value of a bucket. */
    static long upperBound(int bucket) {
        if (bucket < 2 << SUB_BITS) {
            return bucket;
        }
        int shift = (bucket >>> SUB_BITS) - 1;
        long mantissa = (bucket & ((1 << SUB_BITS) - 1)) + (1L << SUB_BITS);
        return ((mantissa + 1) << shift) - 1;
    }

    /**
     * How many values were recorded.
     *
     * @return the count
     */
    public long count() {
        return count;
    }

    /**
     * The largest value.
     *
     * @return nanoseconds; 0 if there is none
     */
    public long maxNanos() {
        return max;
    }

    /**
     * A value that so many percent of the values do not exceed, to within an eighth.
     *
     * @param percent from 0 to 100
     * @return nanoseconds; 0 if there is none
     */
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

    /** Both together. */
    Histogram plus(Histogram other) {
        long[] sum = counts.clone();
        for (int i = 0; i < sum.length; i++) {
            sum[i] += other.counts[i];
        }
        return new Histogram(sum, Math.max(max, other.max));
    }

    @Override
    public String toString() {
        return count + " values, p50 " + percentileNanos(50) + " ns, p99 " + percentileNanos(99) + " ns, max " + max
                + " ns";
    }
}
