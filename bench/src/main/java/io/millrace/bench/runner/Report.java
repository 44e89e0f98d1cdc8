package io.millrace.bench.runner;

import io.millrace.bench.Plot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The file with everything that was measured, and a plot for each compared figure beside it. Written anew after every comparison, so that a run that is ended
 * early leaves what it had. Its keys are those of all files in {@code bench/results}: a comparison is a contest there, and its candidates are contestants.
 */
final class Report {
    private final Path file;
    private final Map<String, Object> root = new LinkedHashMap<>();
    private final List<Object> absent = new ArrayList<>();
    private final List<Object> comparisons = new ArrayList<>();

    Report(String name, Settings settings) {
        Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
        String stamp = DateTimeFormatter.ofPattern("yyyyMMdd-HHmmss")
                .withZone(ZoneOffset.UTC)
                .format(now);
        this.file = settings.json() != null
                ? settings.json().toAbsolutePath()
                : settings.home().resolve("bench/results/" + name + "-" + stamp + ".json");
        root.put("suite", name);
        root.put("when", now.toString());
        root.put("quick", settings.quick());
        root.put("machine", Machine.facts(settings.home()));
        root.put("absent", absent);
        root.put("contests", comparisons);
    }

    Path file() {
        return file;
    }

    void add(Absent who) {
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("name", who.name());
        entry.put("reason", who.reason());
        absent.add(entry);
    }

    void add(Outcome outcome) throws IOException {
        comparisons.add(json(outcome));
        Files.createDirectories(file.getParent());
        Files.writeString(file, Json.write(root));
        String base = file.getFileName().toString().replaceFirst("\\.json$", "");
        for (Column column : outcome.comparison().columns()) {
            if (column.ratio()) {
                plot(outcome, column, base + "-" + outcome.comparison().id() + "-" + column.key() + ".svg");
            }
        }
    }

    private void plot(Outcome outcome, Column column, String name) throws IOException {
        Comparison comparison = outcome.comparison();
        Map<String, double[]> bars = new LinkedHashMap<>();
        for (Outcome.Entry entry : outcome.entries()) {
            String who = entry.candidate.name();
            Ratio.paired(outcome.figures(who, column.key()), outcome.figures(comparison.baseline(), column.key()))
                    .ifPresent(ratio -> bars.put(who, new double[] {ratio.median(), ratio.least(), ratio.most()}));
        }
        if (!bars.isEmpty()) {
            String title = comparison.title() + ": " + column.header() + ", ratio to " + comparison.baseline();
            Files.writeString(file.resolveSibling(name), Plot.bars(title, bars));
        }
    }

    static Map<String, Object> json(Outcome outcome) {
        Comparison comparison = outcome.comparison();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", comparison.id());
        json.put("title", comparison.title());
        json.put("baseline", comparison.baseline());
        List<Object> candidates = new ArrayList<>();
        for (Outcome.Entry entry : outcome.entries()) {
            candidates.add(json(outcome, entry));
        }
        json.put("contestants", candidates);
        List<Object> targets = new ArrayList<>();
        comparison.targets().forEach(target -> targets.add(target.text(outcome)));
        json.put("targets", targets);
        return json;
    }

    private static Map<String, Object> json(Outcome outcome, Outcome.Entry entry) {
        String name = entry.candidate.name();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", name);
        json.put("command", entry.candidate.command());
        if (!entry.warmUp.isEmpty()) {
            json.put("compilation", entry.warmUp);
        }
        if (entry.failure != null) {
            json.put("failure", entry.failure);
        }
        Map<String, Object> ratios = new LinkedHashMap<>();
        Comparison comparison = outcome.comparison();
        for (Column column : comparison.columns()) {
            if (column.ratio()) {
                Ratio.paired(outcome.figures(name, column.key()), outcome.figures(comparison.baseline(), column.key()))
                        .ifPresent(ratio ->
                                ratios.put(column.key(), List.of(ratio.median(), ratio.least(), ratio.most())));
            }
        }
        json.put("ratiosMedianLeastMost", ratios);
        json.put("rounds", entry.rounds);
        return json;
    }
}
