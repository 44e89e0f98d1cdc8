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
 * The file with everything that was measured, and a plot for each compared figure beside it. Written anew after every contest, so that a run that is ended
 * early leaves what it had.
 */
final class Report {
    private final Path file;
    private final Map<String, Object> root = new LinkedHashMap<>();
    private final List<Object> absent = new ArrayList<>();
    private final List<Object> contests = new ArrayList<>();

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
        root.put("contests", contests);
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
        contests.add(json(outcome));
        Files.createDirectories(file.getParent());
        Files.writeString(file, Json.write(root));
        String base = file.getFileName().toString().replaceFirst("\\.json$", "");
        for (Column column : outcome.contest().columns()) {
            if (column.ratio()) {
                plot(outcome, column, base + "-" + outcome.contest().id() + "-" + column.key() + ".svg");
            }
        }
    }

    private void plot(Outcome outcome, Column column, String name) throws IOException {
        Contest contest = outcome.contest();
        Map<String, double[]> bars = new LinkedHashMap<>();
        for (Outcome.Entry entry : outcome.entries()) {
            String who = entry.contestant.name();
            Ratio.paired(outcome.figures(who, column.key()), outcome.figures(contest.baseline(), column.key()))
                    .ifPresent(ratio -> bars.put(who, new double[] {ratio.median(), ratio.least(), ratio.most()}));
        }
        if (!bars.isEmpty()) {
            String title = contest.title() + ": " + column.header() + ", ratio to " + contest.baseline();
            Files.writeString(file.resolveSibling(name), Plot.bars(title, bars));
        }
    }

    static Map<String, Object> json(Outcome outcome) {
        Contest contest = outcome.contest();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", contest.id());
        json.put("title", contest.title());
        json.put("baseline", contest.baseline());
        List<Object> contestants = new ArrayList<>();
        for (Outcome.Entry entry : outcome.entries()) {
            contestants.add(json(outcome, entry));
        }
        json.put("contestants", contestants);
        List<Object> targets = new ArrayList<>();
        contest.targets().forEach(target -> targets.add(target.text(outcome)));
        json.put("targets", targets);
        return json;
    }

    private static Map<String, Object> json(Outcome outcome, Outcome.Entry entry) {
        String name = entry.contestant.name();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("name", name);
        json.put("command", entry.contestant.command());
        if (!entry.warmUp.isEmpty()) {
            json.put("compilation", entry.warmUp);
        }
        if (entry.failure != null) {
            json.put("failure", entry.failure);
        }
        Map<String, Object> ratios = new LinkedHashMap<>();
        Contest contest = outcome.contest();
        for (Column column : contest.columns()) {
            if (column.ratio()) {
                Ratio.paired(outcome.figures(name, column.key()), outcome.figures(contest.baseline(), column.key()))
                        .ifPresent(ratio ->
                                ratios.put(column.key(), List.of(ratio.median(), ratio.least(), ratio.most())));
            }
        }
        json.put("ratiosMedianLeastMost", ratios);
        json.put("rounds", entry.rounds);
        return json;
    }
}
