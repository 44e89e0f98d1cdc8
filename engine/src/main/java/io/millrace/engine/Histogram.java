package io.millrace.engine;

/**
 * How long something took, many times: counts by size, each bucket at most an eighth wide. A snapshot; it does not change.
 *
 * <p>Part of {@link Metrics}.
 */
public interface Histogram {
    /**
     * How many values were recorded.
     *
     * @return the count
     */
    long count();

    /**
     * The largest value.
     *
     * @return nanoseconds; 0 if there is none
     */
    long maxNanos();

    /**
     * A value that so many percent of the values do not exceed, to within an eighth.
     *
     * @param percent from 0 to 100
     * @return nanoseconds; 0 if there is none
     * @throws IllegalArgumentException if there is no such percentage
     */
    long percentileNanos(double percent);
}
