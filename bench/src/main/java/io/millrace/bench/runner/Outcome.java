package io.millrace.bench.runner;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What came out of a contest: the figures of every contestant in every round. */
public final class Outcome {
    /** One contestant's. */
    static final class Entry {
        final Contestant contestant;
        /** As many as there were rounds; null where it had failed. */
        final List<@Nullable Map<String, Double>> rounds = new ArrayList<>();

        String warmUp = "";

        @Nullable
        String failure;

        Entry(Contestant contestant) {
            this.contestant = contestant;
        }
    }

    private final Contest contest;
    private final Map<String, Entry> entries = new LinkedHashMap<>();

    Outcome(Contest contest) {
        this.contest = contest;
        contest.contestants().forEach(contestant -> entries.put(contestant.name(), new Entry(contestant)));
    }

    public Contest contest() {
        return contest;
    }

    List<Entry> entries() {
        return List.copyOf(entries.values());
    }

    Entry entry(Contestant contestant) {
        return entries.get(contestant.name());
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
