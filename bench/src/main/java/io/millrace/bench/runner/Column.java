package io.millrace.bench.runner;

/**
 * A figure that the table shows.
 *
 * @param key its name among a candidate's figures
 * @param header what the table says above it
 * @param decimals of its absolute value
 * @param ratio whether its ratio to the base line is shown as well
 */
public record Column(String key, String header, int decimals, boolean ratio) {
    /** Shown as it is, and as a ratio. */
    static Column compared(String key, String header, int decimals) {
        return new Column(key, header, decimals, true);
    }

    /** Shown as it is. */
    static Column shown(String key, String header, int decimals) {
        return new Column(key, header, decimals, false);
    }
}
