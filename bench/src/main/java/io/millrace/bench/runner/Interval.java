package io.millrace.bench.runner;

import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * How far two medians are apart, and how far they could be by chance.
 *
 * @param ratio the second median divided by the first
 * @param low 95 of 100 such intervals contain the true ratio: their lower end
 * @param high their upper end
 */
record Interval(double ratio, double low, double high) {
    private static final int SAMPLES = 5_000;
    private static final long SEED = 20_261_119; // the same figures give the same interval

    /** By bootstrap: rounds of each run are drawn with replacement, again and again, and the medians of what was drawn compared. */
    static Interval ofMedians(double[] before, double[] after) {
        SplittableRandom random = new SplittableRandom(SEED);
        double[] ratios = new double[SAMPLES];
        for (int i = 0; i < SAMPLES; i++) {
            ratios[i] = drawnMedian(after, random) / drawnMedian(before, random);
        }
        Arrays.sort(ratios);
        return new Interval(
                Ratio.median(after) / Ratio.median(before),
                ratios[SAMPLES * 25 / 1_000],
                ratios[SAMPLES * 975 / 1_000 - 1]);
    }

    private static double drawnMedian(double[] figures, SplittableRandom random) {
        double[] drawn = new double[figures.length];
        for (int i = 0; i < drawn.length; i++) {
            drawn[i] = figures[random.nextInt(figures.length)];
        }
        return Ratio.median(drawn);
    }

    /** Whether chance explains the difference. */
    boolean containsOne() {
        return low <= 1 && high >= 1;
    }

    /** {@code 0.93 [0.90–0.97]} */
    String text() {
        return String.format(Locale.ROOT, "%.2f [%.2f–%.2f]", ratio, low, high);
    }
}
