package io.millrace.bench.runner;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * What several rounds say about one number: their median, and how far they are apart.
 *
 * @param median the middle one, or the mean of the two in the middle
 * @param least of the rounds
 * @param most of the rounds
 */
public record Ratio(double median, double least, double most) {
    /**
     * One figure divided by another of the same round, for each round that has both.
     *
     * @param ones a figure per round; null where there is none
     * @param others as many
     * @return empty if no round has both
     */
    static Optional<Ratio> paired(List<Double> ones, List<Double> others) {
        return of(IntStream.range(0, Math.min(ones.size(), others.size()))
                .filter(round -> ones.get(round) != null && others.get(round) != null && others.get(round) != 0)
                .mapToDouble(round -> ones.get(round) / others.get(round)));
    }

    /** The figures themselves, where there are some. */
    static Optional<Ratio> of(List<Double> values) {
        return of(values.stream().filter(Objects::nonNull).mapToDouble(Double::doubleValue));
    }

    private static Optional<Ratio> of(DoubleStream values) {
        double[] sorted = values.sorted().toArray();
        if (sorted.length == 0) {
            return Optional.empty();
        }
        return Optional.of(new Ratio(median(sorted), sorted[0], sorted[sorted.length - 1]));
    }

    static double median(double... values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    /** {@code 1.03} */
    static String text(double ratio) {
        return String.format(Locale.ROOT, "%.2f", ratio);
    }

    /** {@code 1.03 (0.99–1.08)} */
    String text() {
        return String.format(Locale.ROOT, "%.2f (%.2f–%.2f)", median, least, most);
    }
}
