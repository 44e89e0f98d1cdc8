package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Somebody in a JMH suite: a JVM of its own in every round, which warms up by itself.
 *
 * @param name in the table
 * @param arguments of JMH: which benchmarks, with which parameters
 * @param operations how many of what is counted make one operation of JMH's
 * @param session where it runs
 */
record JmhCandidate(String name, List<String> arguments, double operations, Session session) implements Candidate {
    JmhCandidate each(double count) {
        return new JmhCandidate(name, arguments, count, session);
    }

    @Override
    public String command() {
        return "java -cp bench/target/lib/* org.openjdk.jmh.Main " + String.join(" ", arguments);
    }

    @Override
    public Map<String, Double> measure() throws IOException, InterruptedException {
        Path home = session.settings().home();
        Path result = session.log("jmh").resolveSibling("jmh-result.json");
        Files.createDirectories(result.getParent());
        Files.deleteIfExists(result);
        List<String> command = new ArrayList<>(List.of(
                Tools.jdk("java"),
                "-Djmh.ignoreLock=true",
                "--sun-misc-unsafe-memory-access=allow",
                "-cp",
                home.resolve("bench/target/lib") + "/*",
                "org.openjdk.jmh.Main"));
        command.addAll(arguments);
        command.addAll(List.of("-foe", "true", "-rf", "json", "-rff", result.toString()));
        session.children().run("JMH", session.log("jmh"), command);
        Map<String, Double> figures = figures(Files.readString(result));
        figures.replaceAll((key, figure) -> figure / operations);
        return figures;
    }

    /**
     * The scores of JMH's JSON by the name of the method; behind it {@code .p50} and {@code .p99} where times were sampled, and counters of the benchmark's own. An average of
     * several threads is divided by their number: it is the time between two operations of any of them.
     */
    static Map<String, Double> figures(String json) throws IOException {
        Map<String, Double> figures = new LinkedHashMap<>();
        try {
            for (Object each : (List<?>) Json.read(json)) {
                Map<?, ?> run = (Map<?, ?>) each;
                String name = String.valueOf(run.get("benchmark"));
                String method = name.substring(name.lastIndexOf('.') + 1);
                Map<?, ?> metric = (Map<?, ?>) run.get("primaryMetric");
                double threads = run.get("mode").equals("avgt") ? (Double) run.get("threads") : 1;
                figures.put(method, (Double) metric.get("score") / threads);
                if (run.get("mode").equals("sample")) {
                    Map<?, ?> percentiles = (Map<?, ?>) metric.get("scorePercentiles");
                    figures.put(method + ".p50", (Double) percentiles.get("50.0"));
                    figures.put(method + ".p99", (Double) percentiles.get("99.0"));
                }
                ((Map<?, ?>) run.get("secondaryMetrics")).forEach((counter, value) -> {
                    figures.put(method + "." + counter, median((Map<?, ?>) value));
                });
            }
        } catch (ClassCastException | NullPointerException | IllegalArgumentException e) {
            throw new IOException("JMH wrote what is not understood: " + e.getMessage(), e);
        }
        if (figures.isEmpty()) {
            throw new IOException("JMH measured nothing");
        }
        return figures;
    }

    /** Of the iterations, since the score of a benchmark's own counter is their sum. */
    private static double median(Map<?, ?> metric) {
        return Ratio.median(((List<?>) metric.get("rawData"))
                .stream()
                        .flatMap(fork -> ((List<?>) fork).stream())
                        .mapToDouble(iteration -> (Double) iteration)
                        .toArray());
    }
}
