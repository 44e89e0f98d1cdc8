package io.millrace.engine;

import java.util.ArrayList;
import java.util.List;
import org.jetbrains.lincheck.Lincheck;
import org.jspecify.annotations.Nullable;

/**
 * Two or three threads for the model checker to interleave, and what must hold afterwards. A thread that waits for ever fails too: the checker finds
 * it as a deadlock.
 *
 * <p>The longer part runs on the thread that begins, so the checker finds its interruption by the shorter one with a single switch of
 * threads. What they share must be in fields of the race, not in a lambda: see {@link #shared}.
 */
abstract class Race {
    /** How much the checker looks at: little in {@code mvn verify}, twenty times as much under {@code -Psoak}. */
    private static final int FACTOR = Boolean.getBoolean("millrace.soak") ? 20 : 1;

    /**
     * Lincheck interrupts no access to an object that only one thread can reach, and it does not follow the ways through a {@link Thread}
     * and through lambdas. What is in a static field is everybody's.
     */
    @SuppressWarnings("UnusedVariable") // its being there is its use
    private static volatile @Nullable Race shared;

    /** Makes a fresh race for each interleaving. */
    interface Maker {
        Race make();
    }

    /** What another thread than the first threw. */
    private volatile @Nullable Throwable failure;

    abstract void longer();

    abstract void shorter();

    void afterwards() {}

    /** One with a third thread. */
    abstract static class OfThree extends Race {
        abstract void third();
    }

    static void explore(int interleavings, Maker maker) {
        Lincheck.runConcurrentTest(interleavings * FACTOR, () -> {
            Race race = maker.make();
            shared = race;
            List<Thread> others = new ArrayList<>();
            others.add(new Thread(new Part(race, false)));
            if (race instanceof OfThree) {
                others.add(new Thread(new Part(race, true)));
            }
            for (Thread other : others) {
                other.start();
            }
            race.longer();
            try {
                for (Thread other : others) {
                    other.join();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            if (race.failure != null) {
                throw new AssertionError("on another thread", race.failure);
            }
            race.afterwards();
        });
    }

    static void expect(boolean condition, String otherwise) {
        if (!condition) {
            throw new AssertionError(otherwise);
        }
    }

    private static final class Part implements Runnable {
        private final Race race;
        private final boolean third;

        Part(Race race, boolean third) {
            this.race = race;
            this.third = third;
        }

        @Override
        public void run() {
            try {
                if (third) {
                    ((OfThree) race).third();
                } else {
                    race.shorter();
                }
            } catch (RuntimeException | Error e) {
                race.failure = e;
            }
        }
    }
}
