package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a chat over an engine costs, as the suite {@code backplane} has measured it: sums that are fitted to one node and two; what
 * they predict of other arrangements can be compared with what was measured of those.
 *
 * @param nodes µs of CPU of all nodes for a line
 * @param engine µs of CPU of the engine for a line
 * @param latency µs until half of the members have it; all nodes shared a core
 * @param roomOnNode µs more of a node's CPU, for each line that it follows, for each room that it follows
 * @param roomOnEngine the same of the engine's CPU
 * @param baseBytes what a node takes without members, resident
 * @param memberBytes heap of a member on its own node
 * @param strangerBytes heap of a member on each other node
 * @param others arrangements that the sums were not fitted to
 */
record Costs(
        Linear nodes,
        Linear engine,
        Linear latency,
        double roomOnNode,
        double roomOnEngine,
        double baseBytes,
        double memberBytes,
        double strangerBytes,
        List<Measured> others) {
    /** How many nodes the fit knows. */
    private static final int FITTED_NODES = 2;

    private static final String WITH_ALL = "with all";

    /**
     * One arrangement: medians of its rounds.
     *
     * @param name of the candidate and of the comparison
     * @param nodes how many
     * @param members on each
     * @param figures all of them
     */
    record Measured(String name, double nodes, double members, Map<String, Double> figures) {
        Linear.Point point(String key) {
            return new Linear.Point(nodes, nodes * members, figures.getOrDefault(key, Double.NaN));
        }
    }

    /** Of one engine, redis or nats; empty if the file has not all that it takes. */
    static Optional<Costs> of(Path results, String engine) throws IOException {
        Map<String, Object> root;
        try {
            root = Json.readObject(Files.readString(results));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("cannot read " + results + ": it is not JSON", e);
        }
        List<Measured> fitted = new ArrayList<>();
        List<Measured> others = new ArrayList<>();
        for (String size : List.of("many", "few")) {
            for (Measured each : measured(root, "backplane-" + engine + "-" + size)) {
                if (each.name.startsWith(BackplaneSuite.OURS + ",")) {
                    boolean known = each.nodes <= FITTED_NODES && !each.name.contains(WITH_ALL);
                    (known ? fitted : others).add(each);
                }
            }
        }
        if (fitted.size() < 2 * FITTED_NODES) {
            return Optional.empty();
        }
        List<Measured> rooms = measured(root, "backplane-" + engine + "-rooms");
        List<Measured> weight = measured(root, "backplane-" + engine + "-weight");
        return Optional.of(new Costs(
                Linear.fit(points(fitted, "lineMicros")),
                Linear.fitWithoutDeliveries(points(fitted, "engineMicros")),
                Linear.fit(points(fitted, "p50us")),
                slope(rooms, "lineMicros"),
                slope(rooms, "engineMicros"),
                median(fitted.stream().map(Measured::figures).toList(), "residentBytes"),
                median(weight.stream().map(Measured::figures).toList(), "memberBytes"),
                median(weight.stream().map(Measured::figures).toList(), "strangerBytes"),
                List.copyOf(others)));
    }

    private static List<Linear.Point> points(List<Measured> all, String key) {
        return all.stream().map(each -> each.point(key)).toList();
    }

    /** Of the most rooms against the fewest, a room. */
    private static double slope(List<Measured> rooms, String key) {
        if (rooms.size() < 2) {
            return 0;
        }
        Map<String, Double> least = rooms.getFirst().figures;
        Map<String, Double> most = rooms.getLast().figures;
        return (most.get(key) - least.get(key)) / (most.get("rooms") - least.get("rooms"));
    }

    /** All candidates of a comparison that went through; none if it is not there. */
    private static List<Measured> measured(Map<String, Object> root, String id) {
        List<Measured> all = new ArrayList<>();
        for (Object contest : list(root.get("contests"))) {
            if (contest instanceof Map<?, ?> comparison && id.equals(comparison.get("id"))) {
                for (Object each : list(comparison.get("contestants"))) {
                    if (each instanceof Map<?, ?> candidate && candidate.get("failure") == null) {
                        Map<String, Double> figures = medians(list(candidate.get("rounds")));
                        all.add(new Measured(
                                String.valueOf(candidate.get("name")),
                                figures.getOrDefault("nodes", 1.0),
                                figures.getOrDefault("members", 0.0),
                                figures));
                    }
                }
            }
        }
        return all;
    }

    private static Map<String, Double> medians(List<?> rounds) {
        Map<String, List<Double>> values = new LinkedHashMap<>();
        for (Object round : rounds) {
            if (round instanceof Map<?, ?> figures) {
                figures.forEach((key, value) -> {
                    if (value instanceof Double number) {
                        values.computeIfAbsent(String.valueOf(key), none -> new ArrayList<>())
                                .add(number);
                    }
                });
            }
        }
        Map<String, Double> medians = new LinkedHashMap<>();
        values.forEach((key, some) -> medians.put(
                key, Ratio.median(some.stream().mapToDouble(Double::doubleValue).toArray())));
        return medians;
    }

    /** NaN if nobody has it. */
    private static double median(List<Map<String, Double>> all, String key) {
        double[] values = all.stream()
                .filter(figures -> figures.containsKey(key))
                .mapToDouble(figures -> figures.get(key))
                .toArray();
        return values.length == 0 ? Double.NaN : Ratio.median(values);
    }

    private static List<?> list(Object value) {
        return value instanceof List<?> list ? list : List.of();
    }
}
