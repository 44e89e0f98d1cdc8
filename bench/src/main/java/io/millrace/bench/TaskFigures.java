package io.millrace.bench;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The figures of {@code docs/benchmarks/log.md} about sets: what a completion costs beside the peers, what a child weighs, and who is polled how often. Writes
 * them as JSON and draws the plots from that very data.
 *
 * <p>All take turns in every round, so a noisy machine is noisy for all; a ratio is the median of the rounds' ratios. What is
 * measured is the thread's own CPU time, without collections, and of a round's repetitions the best: on a shared machine the rest is somebody
 * else's. What others do to the caches remains.
 *
 * <p>{@code java -XX:+UseSerialGC -Xms4g -Xmx4g -Xmn2500m -cp bench/target/benchmarks.jar io.millrace.bench.TaskFigures . [rounds]}, where the first
 * argument is the root of the working copy.
 */
public final class TaskFigures {
    private static final int[] SIZES = {1_000, 10_000, 100_000, 1_000_000};
    /** How many completions a round spends on each, at least. */
    private static final int SHARE = 200_000;

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private TaskFigures() {}

    /** For each order and size: nanoseconds a completion, per round. */
    private record Cell(Completions.Order order, int size, EnumMap<Completions, double[]> nanos) {}

    public static void main(String[] args) throws Exception {
        Path root = Path.of(args[0]);
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 10;
        List<Cell> cells = completions(rounds);
        Map<String, Double> weights = ChildWeight.measure();
        Spinner.Result spinner = Spinner.measure();

        Path results = root.resolve("bench/results");
        Files.createDirectories(results);
        Files.writeString(results.resolve("task-completions.json"), json(rounds, cells, weights));
        Files.writeString(results.resolve("task-fairness.csv"), spinner.csv());
        Path plots = root.resolve("docs/plots");
        Files.createDirectories(plots);
        Files.writeString(
                plots.resolve("task-completions.svg"),
                Plot.lines(
                        "ns per completion, one by one, by number of children",
                        series(cells, Completions.Order.ONE_BY_ONE)));
        Files.writeString(
                plots.resolve("task-total.svg"),
                Plot.linear(
                        "Total time over number of children (set of pollables, scattered bursts)",
                        total(cells, Completions.SET_OF_POLLABLES, Completions.Order.SCATTERED_BURSTS)));
        Files.writeString(plots.resolve("task-fairness.svg"), spinner.plot());
        print(cells, weights, spinner);
    }

    private static List<Cell> completions(int rounds) throws Exception {
        List<Cell> cells = new ArrayList<>();
        for (Completions.Order order : Completions.Order.values()) {
            for (int size : SIZES) {
                EnumMap<Completions, double[]> nanos = new EnumMap<>(Completions.class);
                for (Completions by : Completions.values()) {
                    if (size <= by.largest()) {
                        nanos.put(by, new double[rounds]);
                    }
                }
                cells.add(new Cell(order, size, nanos));
            }
        }
        for (int round = -2; round < rounds; round++) { // two to warm up
            for (Cell cell : cells) {
                for (Map.Entry<Completions, double[]> entry : cell.nanos.entrySet()) {
                    double best = best(entry.getKey(), cell.size, cell.order);
                    if (round >= 0) {
                        entry.getValue()[round] = best;
                    }
                }
            }
            System.err.println("round " + round);
        }
        return cells;
    }

    private static double best(Completions by, int size, Completions.Order order) throws Exception {
        int times = by == Completions.ANY_OF ? 3 : Math.max(2, SHARE / size);
        double best = Double.MAX_VALUE;
        for (int i = 0; i < times; i++) {
            long begin = THREADS.getCurrentThreadCpuTime();
            by.runChecked(size, order);
            best = Math.min(best, (THREADS.getCurrentThreadCpuTime() - begin) / (double) size);
        }
        return best;
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    /** The median of the rounds' ratios of one to another. */
    private static double ratio(Cell cell, Completions one, Completions other) {
        double[] ones = cell.nanos.get(one);
        double[] others = cell.nanos.get(other);
        double[] ratios = new double[ones.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = ones[i] / others[i];
        }
        return median(ratios);
    }

    private static Map<String, double[][]> series(List<Cell> cells, Completions.Order order) {
        Map<String, double[][]> series = new LinkedHashMap<>();
        for (Completions by : Completions.values()) {
            if (by == Completions.ANY_OF) {
                continue; // three orders of magnitude above the rest
            }
            double[][] points = cells.stream()
                    .filter(cell -> cell.order == order)
                    .map(cell -> new double[] {cell.size, median(cell.nanos.get(by))})
                    .toArray(double[][]::new);
            series.put(name(by), points);
        }
        return series;
    }

    private static double[][] total(List<Cell> cells, Completions by, Completions.Order order) {
        return cells.stream()
                .filter(cell -> cell.order == order)
                .map(cell -> new double[] {cell.size, median(cell.nanos.get(by)) * cell.size / 1e6})
                .toArray(double[][]::new);
    }

    static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static String json(int rounds, List<Cell> cells, Map<String, Double> weights) throws IOException {
        StringBuilder json = new StringBuilder("{\n");
        json.append("  \"when\": \"").append(Instant.now()).append("\",\n");
        json.append("  \"java\": \"").append(Runtime.version()).append("\",\n");
        json.append("  \"kernel\": \"").append(System.getProperty("os.version")).append("\",\n");
        json.append("  \"processors\": ")
                .append(Runtime.getRuntime().availableProcessors())
                .append(",\n");
        json.append("  \"load\": \"").append(load()).append("\",\n");
        json.append("  \"rounds\": ").append(rounds).append(",\n");
        json.append("  \"bytesPerChild\": {");
        weights.forEach((what, bytes) -> json.append(String.format(Locale.ROOT, "\"%s\": %.1f, ", what, bytes)));
        json.setLength(json.length() - 2);
        json.append("},\n  \"nanosPerCompletion\": [\n");
        for (Cell cell : cells) {
            cell.nanos.forEach((by, nanos) -> {
                json.append(String.format(
                        Locale.ROOT,
                        "    {\"order\": \"%s\", \"children\": %d, \"by\": \"%s\", \"rounds\": [",
                        cell.order,
                        cell.size,
                        by));
                for (double nano : nanos) {
                    json.append(String.format(Locale.ROOT, "%.1f, ", nano));
                }
                json.setLength(json.length() - 2);
                json.append("]},\n");
            });
        }
        json.setLength(json.length() - 2);
        return json.append("\n  ]\n}\n").toString();
    }

    private static String load() throws IOException {
        Path load = Path.of("/proc/loadavg");
        return Files.exists(load) ? Files.readString(load).strip() : "unknown";
    }

    private static void print(List<Cell> cells, Map<String, Double> weights, Spinner.Result spinner) {
        for (Cell cell : cells) {
            System.out.printf(Locale.ROOT, "%-17s %9d", name(cell.order), cell.size);
            for (Completions by : cell.nanos.keySet()) {
                System.out.printf(
                        Locale.ROOT,
                        "  %s %.0f (%.2f)",
                        name(by),
                        median(cell.nanos.get(by)),
                        ratio(cell, Completions.SET_OF_POLLABLES, by));
            }
            System.out.println();
        }
        weights.forEach((what, bytes) -> System.out.printf(Locale.ROOT, "%s: %.1f bytes a child%n", what, bytes));
        System.out.println(spinner.summary());
    }
}
