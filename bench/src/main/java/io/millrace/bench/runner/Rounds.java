package io.millrace.bench.runner;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Measures all contestants of a contest, round by round. In each round everyone has one turn, and the round after begins with the next of them: nobody is always
 * the one who comes after a certain other. Who fails once is out, and the outcome says why.
 */
final class Rounds {
    private final Progress progress;

    Rounds(Progress progress) {
        this.progress = progress;
    }

    Outcome run(Contest contest, int rounds) throws InterruptedException {
        Outcome outcome = new Outcome(contest);
        for (Contestant contestant : contest.contestants()) {
            progress.show(contest.title() + ": warming up " + contestant.name());
            Outcome.Entry entry = outcome.entry(contestant);
            try {
                entry.warmUp = contestant.warmUp();
            } catch (IOException e) {
                entry.failure = String.valueOf(e.getMessage());
            }
        }
        for (int round = 0; round < rounds; round++) {
            for (Contestant contestant : order(contest.contestants(), round)) {
                progress.show(contest.title() + ": round " + (round + 1) + " of " + rounds + ", " + contestant.name());
                turn(contestant, outcome.entry(contestant));
            }
        }
        return outcome;
    }

    /** Everyone once, beginning with another one in every round. */
    static List<Contestant> order(List<Contestant> contestants, int round) {
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
