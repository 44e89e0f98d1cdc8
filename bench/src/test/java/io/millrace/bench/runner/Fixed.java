package io.millrace.bench.runner;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;

/** A candidate whose figures are known; null is a failure. Notes when it was its turn. */
final class Fixed implements Candidate {
    private final String name;
    private final Deque<Double> figures = new ArrayDeque<>();
    private final List<String> turns;

    Fixed(String name, List<String> turns, double... figures) {
        this.name = name;
        this.turns = turns;
        for (double figure : figures) {
            this.figures.add(figure);
        }
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String command() {
        return "run \"" + name + "\"";
    }

    @Override
    public Map<String, Double> measure() throws IOException {
        turns.add(name);
        Double figure = figures.poll();
        if (figure == null) {
            throw new IOException("out of figures");
        }
        return Map.of("cost", figure);
    }

    /** They play for the least cost, against the first of them. */
    static Comparison comparison(Candidate... candidates) {
        return new Comparison(
                "play",
                "a play",
                candidates[0].name(),
                List.of(Column.compared("cost", "ns", 1)),
                List.of(candidates),
                List.of(
                        Target.atMost(1.05, "cost", "b", "a"),
                        Target.atLeast(1.05, "cost", "b", "a"),
                        Target.atMost(5, "cost", "b"),
                        Target.atMost(1, "cost", "b", "nobody")));
    }

    static Outcome play(Comparison comparison, int rounds) throws InterruptedException {
        return new Rounds(what -> {}).run(comparison, rounds);
    }
}
