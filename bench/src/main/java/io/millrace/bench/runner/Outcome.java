package io.millrace.bench.runner;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What came out of a comparison: the figures of every candidate in every round. */
public final class Outcome {
    /** One candidate's. */
    static final class Entry {
        final Candidate candidate;
        /** As many as there were rounds; null where it had failed. */
        final List<@Nullable Map<String, Double>> rounds = new ArrayList<>();

        String warmUp = "";

        @Nullable
        String failure;

        Entry(Candidate candidate) {
            this.candidate = candidate;
        }
    }

    private final Comparison comparison;
    private final Map<String, Entry> entries = new LinkedHashMap<>();

    Outcome(Comparison comparison) {
        this.comparison = comparison;
        comparison.candidates().forEach(candidate -> entries.put(candidate.name(), new Entry(candidate)));
    }

    public Comparison comparison() {
        return comparison;
    }

    List<Entry> entries() {
        return List.copyOf(entries.values());
    }

    Entry entry(Candidate candidate) {
        return entries.get(candidate.name());
    }

    boolean failed() {
        return entries.values().stream().anyMatch(entry -> entry.failure != null);
    }

    /** A figure per round; null where there is none. */
    List<@Nullable Double> figures(String name, String key) {
        List<@Nullable Double> figures = new ArrayList<>();
        Entry entry = entries.get(name);
        if (entry != null) {
            entry.rounds.forEach(round -> figures.add(round == null ? null : round.get(key)));
        }
        return figures;
    }
}
