package io.millrace.engine;

import java.util.List;

/**
 * A distribution of durations. Values are counted in buckets, each at most an eighth wide. It is a snapshot and does
 * not change.
 *
 * <p>Part of {@link Metrics}.
 */
public interface Histogram {
    /**
     * Returns how many values were recorded.
     *
     * @return the count
     */
    long count();

    /**
     * Returns the largest value.
     *
     * @return nanoseconds; 0 if there is none
     */
    long maxNanos();

    /**
     * Returns the sum of all values, which is exact.
     *
     * @return nanoseconds
     */
    long sumNanos();

    /**
     * Returns the buckets that hold values, from the smallest.
     *
     * @return each with its own values only, not those of the buckets below
     */
    List<Bucket> buckets();

    /**
     * Some values of a histogram.
     *
     * @param atMostNanos the largest value that belongs here
     * @param count how many values there are
     */
    record Bucket(long atMostNanos, long count) {}

    /**
     * Returns a value that the given percentage of the values does not exceed, to within an eighth.
     *
     * @param percent from 0 to 100
     * @return nanoseconds; 0 if there is none
     * @throws IllegalArgumentException if the percentage is out of range
     */
    long percentileNanos(double percent);

    /**
     * Returns the values that were recorded after an earlier snapshot, for figures of the last second instead of since
     * the start.
     *
     * @param earlier a snapshot of the same histogram
     * @return a distribution whose maximum is known to within an eighth only, unless it is that of all values
     * @throws IllegalArgumentException if that is no snapshot of a loop's histogram
     */
    Histogram since(Histogram earlier);
}
