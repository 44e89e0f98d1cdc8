package io.millrace.lincheck;

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
public abstract class Race {
    /**
     * Lincheck interrupts no access to an object that only one thread can reach, and it does not follow the ways through a {@link Thread}
     * and through lambdas. What is in a static field is everybody's.
     */
    @SuppressWarnings("UnusedVariable") // its being there is its use
    private static volatile @Nullable Race shared;

    /** Makes a fresh race for each interleaving. */
    public interface Maker {
        Race make();
    }

    /** What another thread than the first threw. */
    private volatile @Nullable Throwable failure;

    protected abstract void longer();

    protected abstract void shorter();

    protected void afterwards() {}

    /** One with a third thread. */
    public abstract static class OfThree extends Race {
        protected abstract void third();
    }

    public static void explore(int interleavings, Maker maker) {
        Lincheck.runConcurrentTest(Effort.times(interleavings), () -> {
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

    public static void expect(boolean condition, String otherwise) {
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
