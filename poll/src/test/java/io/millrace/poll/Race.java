package io.millrace.poll;

import org.jetbrains.lincheck.Lincheck;

/**
 * Two threads for the model checker to interleave, and what must hold afterwards. A thread that waits for ever fails too: the checker finds
 * it as a deadlock.
 *
 * <p>Most races are one interruption of the longer part at the wrong moment, in which the shorter part runs to its end; the longer one
 * begins, so the checker finds those with a single switch of threads. What the two share must be in fields of the race, not in a lambda:
 * see {@link #shared}.
 */
abstract class Race {
    /**
     * Lincheck interrupts no access to an object that only one thread can reach, and it does not follow the ways through a {@link Thread}
     * and through lambdas. What is in a static field is everybody's.
     */
    private static volatile Race shared;

    /** Makes a fresh race for each interleaving. */
    interface Maker {
        Race make();
    }

    abstract void longer();

    abstract void shorter();

    void afterwards() {}

    static void explore(int interleavings, Maker maker) {
        Lincheck.runConcurrentTest(interleavings, () -> {
            Race race = maker.make();
            shared = race;
            Thread thread = new Thread(new Shorter(race));
            thread.start();
            race.longer();
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            race.afterwards();
        });
    }

    static void expect(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }

    private static final class Shorter implements Runnable {
        private final Race race;

        Shorter(Race race) {
            this.race = race;
        }

        @Override
        public void run() {
            race.shorter();
        }
    }
}
