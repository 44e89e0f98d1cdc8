package io.millrace.bench.runner;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;

/**
 * Measures all contestants of a contest, round by round. In each round everyone has one turn, and the round after begins with the next of them: nobody is always
 * the one who comes after a certain other. Who fails once is out, and the outcome says why.
 */
final class Rounds {
    private final Consumer<String> progress;

    Rounds(Consumer<String> progress) {
        this.progress = progress;
    }

    Outcome run(Contest contest, int rounds) throws InterruptedException {
        Outcome outcome = new Outcome(contest);
        for (Contestant contestant : contest.contestants()) {
            if (contestant.compiles()) {
                progress.accept(contest.title() + ": warming up " + contestant.name());
                warmUp(contestant, outcome.entry(contestant));
            }
        }
        for (int round = 0; round < rounds; round++) {
            for (Contestant contestant : order(contest.contestants(), round)) {
                progress.accept(
                        contest.title() + ": round " + (round + 1) + " of " + rounds + ", " + contestant.name());
                turn(contestant, outcome.entry(contestant));
            }
        }
        return outcome;
    }

    private static void warmUp(Contestant contestant, Outcome.Entry entry) throws InterruptedException {
        try {
            entry.warmUp = contestant.warmUp();
        } catch (IOException e) {
            entry.failure = String.valueOf(e.getMessage());
        }
    }

    /** Everyone once, beginning with another one in every round. */
    static List<Contestant> order(List<? extends Contestant> contestants, int round) {
        List<Contestant> order = new ArrayList<>(contestants);
        Collections.rotate(order, -round);
        return order;
    }

    private static void turn(Contestant contestant, Outcome.Entry entry) throws InterruptedException {
        if (entry.failure == null) {
            try {
                entry.rounds.add(contestant.measure());
                return;
            } catch (IOException e) {
                entry.failure = String.valueOf(e.getMessage());
            }
        }
        entry.rounds.add(null);
    }
}
