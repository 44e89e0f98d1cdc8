package io.millrace.bench.runner;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * What became faster or slower between two runs of a suite, beyond what chance explains: {@code ./millrace bench compare OLD.json NEW.json}.
 *
 * <p>Figures of two runs cannot be compared, because the machine has changed in between. What is compared is each candidate's ratio to the base line of its own
 * round: a candidate has changed if the 95 % interval of the ratio of those ratios' medians does not contain 1.
 */
public final class Changes {
    private static final int FEW_ROUNDS = 5;

    private final List<List<String>> rows = new ArrayList<>();
    private final List<String> remarks = new ArrayList<>();
    private int compared;
    private int slower;

    private Changes() {
        rows.add(List.of("", "", "before", "after", "after / before [95 %]", ""));
    }

    /**
     * Compares two files of {@code bench/results}.
     *
     * @return a table of what has changed, and of what cannot be compared
     * @throws IOException if one of them cannot be read
     * @throws IllegalArgumentException if one of them holds no results, or they have nothing in common
     */
    public static Changes between(Path before, Path after) throws IOException {
        Map<String, Object> first = read(before);
        Map<String, Object> second = read(after);
        Changes changes = new Changes();
        changes.sameMachine(first, second);
        Map<String, Map<?, ?>> now = byName(second.get("contests"), "id");
        byName(first.get("contests"), "id").forEach((id, contest) -> {
            Map<?, ?> other = now.get(id);
            if (other != null) {
                changes.compare(id, contest, other);
            }
        });
        if (changes.compared == 0) {
            throw new IllegalArgumentException("cannot compare " + before + " and " + after
                    + ": no candidate was measured beside the same base line in both");
        }
        return changes;
    }

    private static Map<String, Object> read(Path file) throws IOException {
        Map<String, Object> results;
        try {
            results = Json.readObject(Files.readString(file));
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException("cannot compare " + file + ": there is no such file", e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("cannot compare " + file + ": it is not JSON", e);
        }
        if (!(results.get("contests") instanceof List<?>)) {
            throw new IllegalArgumentException(
                    "cannot compare " + file + ": it has no results; give files that millrace bench has written");
        }
        return results;
    }

    private void sameMachine(Map<String, Object> first, Map<String, Object> second) {
        Map<?, ?> one = first.get("machine") instanceof Map<?, ?> machine ? machine : Map.of();
        Map<?, ?> other = second.get("machine") instanceof Map<?, ?> machine ? machine : Map.of();
        for (String fact : List.of("cpu", "processors", "system", "java")) {
            Object was = one.get(fact);
            Object is = other.get(fact);
            if (was != null && is != null && !was.equals(is)) {
                remarks.add("not the same machine: " + fact + " was " + was + ", and is " + is);
            }
        }
    }

    private void compare(String id, Map<?, ?> before, Map<?, ?> after) {
        Object baseline = before.get("baseline");
        if (!String.valueOf(baseline).equals(String.valueOf(after.get("baseline")))) {
            remarks.add(id + " is not compared: its base line was " + baseline + ", and is " + after.get("baseline"));
            return;
        }
        Map<String, Map<?, ?>> was = byName(before.get("contestants"), "name");
        Map<String, Map<?, ?>> is = byName(after.get("contestants"), "name");
        Map<?, ?> wasBaseline = was.get(String.valueOf(baseline));
        Map<?, ?> isBaseline = is.get(String.valueOf(baseline));
        if (wasBaseline == null || isBaseline == null) {
            return;
        }
        was.forEach((name, candidate) -> {
            Map<?, ?> other = is.get(name);
            if (other != null && !name.equals(String.valueOf(baseline))) {
                for (String key : keys(candidate, other)) {
                    judge(id, name, key, ratios(candidate, wasBaseline, key), ratios(other, isBaseline, key));
                }
            }
        });
    }

    /** The figures whose ratios both runs show. */
    private static TreeSet<String> keys(Map<?, ?> one, Map<?, ?> other) {
        TreeSet<String> keys = new TreeSet<>();
        if (one.get("ratiosMedianLeastMost") instanceof Map<?, ?> mine
                && other.get("ratiosMedianLeastMost") instanceof Map<?, ?> theirs) {
            mine.keySet().stream().filter(theirs::containsKey).forEach(key -> keys.add(String.valueOf(key)));
        }
        return keys;
    }

    private static double[] ratios(Map<?, ?> candidate, Map<?, ?> baseline, String key) {
        List<Double> ratios = new ArrayList<>();
        if (candidate.get("rounds") instanceof List<?> mine && baseline.get("rounds") instanceof List<?> theirs) {
            for (int i = 0; i < Math.min(mine.size(), theirs.size()); i++) {
                double figure = figure(mine.get(i), key);
                double of = figure(theirs.get(i), key);
                if (figure > 0 && of > 0) {
                    ratios.add(figure / of);
                }
            }
        }
        return ratios.stream().mapToDouble(Double::doubleValue).toArray();
    }

    private static double figure(Object round, String key) {
        return round instanceof Map<?, ?> figures && figures.get(key) instanceof Double figure ? figure : Double.NaN;
    }

    private void judge(String id, String name, String key, double[] before, double[] after) {
        if (before.length == 0 || after.length == 0) {
            return;
        }
        compared++;
        if (Math.min(before.length, after.length) < FEW_ROUNDS) {
            String few =
                    id + " has fewer than " + FEW_ROUNDS + " rounds in one of the runs, so its intervals say little";
            if (!remarks.contains(few)) {
                remarks.add(few);
            }
        }
        Interval interval = Interval.ofMedians(before, after);
        if (interval.containsOne()) {
            return;
        }
        boolean more = interval.ratio() > 1;
        boolean moreIsBetter = key.endsWith("PerSecond");
        boolean isBetter = more == moreIsBetter;
        slower += isBetter ? 0 : 1;
        rows.add(List.of(
                id + ": " + name,
                key,
                Ratio.text(Ratio.median(before)),
                Ratio.text(Ratio.median(after)),
                interval.text(),
                isBetter ? "better" : "worse"));
    }

    private static Map<String, Map<?, ?>> byName(Object list, String key) {
        Map<String, Map<?, ?>> byName = new LinkedHashMap<>();
        if (list instanceof List<?> elements) {
            for (Object each : elements) {
                if (each instanceof Map<?, ?> element && element.get(key) instanceof String name) {
                    byName.put(name, element);
                }
            }
        }
        return byName;
    }

    /** Whether something became worse. */
    public boolean areWorse() {
        return slower > 0;
    }

    /** A human-readable table. */
    public String text() {
        StringBuilder text = new StringBuilder();
        if (rows.size() > 1) {
            text.append("Ratios to the base line of the same round:\n\n")
                    .append(Table.aligned(rows))
                    .append('\n');
        }
        int changed = rows.size() - 1;
        text.append(compared).append(compared == 1 ? " figure was compared: " : " figures were compared: ");
        text.append(changed - slower).append(" better, ").append(slower).append(" worse, ");
        text.append(compared - changed).append(" not told apart from chance\n");
        remarks.forEach(remark -> text.append(remark).append('\n'));
        return text.toString();
    }
}
