package io.millrace.bench.runner;

import java.io.IOException;
import java.util.Locale;

/** Measures again and again until two windows in succession differ by less than 5 %: then nothing is being compiled any more. */
final class WarmUp {
    private static final double SETTLED = 0.05;

    private WarmUp() {}

    /** Something that is measured, by any number that shrinks or grows while the JVM compiles. */
    interface Window {
        double measure() throws IOException, InterruptedException;
    }

    /**
     * Warms up.
     *
     * @param most how many windows at most; at least 2
     * @return how it went; begins with "not" if it has not settled
     */
    static String until(int most, Window window) throws IOException, InterruptedException {
        double last = window.measure();
        double change = 1;
        for (int windows = 2; windows <= most; windows++) {
            double now = window.measure();
            change = Math.abs(now - last) / Math.max(now, last);
            last = now;
            if (change < SETTLED) {
                return told("settled", windows, change);
            }
        }
        return told("not settled", most, change);
    }

    private static String told(String how, int windows, double change) {
        return String.format(
                Locale.ROOT, "%s after %d windows: the last two differ by %.1f %%", how, windows, change * 100);
    }
}
