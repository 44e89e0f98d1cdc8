package io.millrace.bench.runner;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * Measures all candidates of a comparison, round by round. In each round everyone has one turn, and the round after begins with the next of them: nobody is always
 * the one who comes after a certain other. Who fails once is out, and the outcome says why.
 */
final class Rounds {
    private final Consumer<String> progress;

    Rounds(Consumer<String> progress) {
        this.progress = progress;
    }

    Outcome run(Comparison comparison, int rounds) throws InterruptedException {
        Outcome outcome = new Outcome(comparison);
        for (Candidate candidate : comparison.candidates()) {
            if (candidate.compiles()) {
                progress.accept(comparison.title() + ": warming up " + candidate.name());
                warmUp(candidate, outcome.entry(candidate));
            }
        }
        for (int round = 0; round < rounds; round++) {
            for (Candidate candidate : order(comparison.candidates(), round)) {
                progress.accept(
                        comparison.title() + ": round " + (round + 1) + " of " + rounds + ", " + candidate.name());
                turn(candidate, outcome.entry(candidate));
            }
        }
        return outcome;
    }

    private static void warmUp(Candidate candidate, Outcome.Entry entry) throws InterruptedException {
        try {
            entry.warmUp = candidate.warmUp();
        } catch (IOException e) {
            entry.failure = String.valueOf(e.getMessage());
        }
    }

    /** Everyone once, beginning with another one in every round. */
    static List<Candidate> order(List<? extends Candidate> candidates, int round) {
        List<Candidate> order = new ArrayList<>(candidates);
        Collections.rotate(order, -round);
        return order;
    }

    private static void turn(Candidate candidate, Outcome.Entry entry) throws InterruptedException {
        if (entry.failure == null) {
            try {
                entry.rounds.add(candidate.measure());
                return;
            } catch (IOException e) {
                entry.failure = String.valueOf(e.getMessage());
            }
        }
        entry.rounds.add(null);
    }
}
