package io.millrace.engine;

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
     * Returns a value that the given percentage of the values does not exceed, to within an eighth.
     *
     * @param percent from 0 to 100
     * @return nanoseconds; 0 if there is none
     * @throws IllegalArgumentException if the percentage is out of range
     */
    long percentileNanos(double percent);
}
