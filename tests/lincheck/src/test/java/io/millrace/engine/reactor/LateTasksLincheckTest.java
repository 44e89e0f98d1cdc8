package io.millrace.engine.reactor;

import io.millrace.lincheck.Race;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What is handed over to a reactor in its last turn: {@link LateTasks}. */
class LateTasksLincheckTest {
    private static final int INTERLEAVINGS = 100;

    /** The reactor's end of its last turn, and threads that hand over. */
    private static class LateRace extends Race.OfThree {
        final LateTasks late = new LateTasks();
        final AtomicInteger ran = new AtomicInteger();

        void hand() {
            Runnable task = new Counting(this);
            if (!late.offer(task)) {
                task.run();
            }
        }

        @Override
        protected void longer() {
            for (Runnable next = late.takeOrEnd(); next != null; next = late.takeOrEnd()) {
                next.run();
            }
        }

        @Override
        protected void shorter() {
            hand();
        }

        @Override
        protected void third() {
            hand();
        }

        @Override
        protected void afterwards() {
            expect(ran.get() == 2, ran + " of 2 tasks have run");
        }
    }

    private static final class Counting implements Runnable {
        private final LateRace race;

        Counting(LateRace race) {
            this.race = race;
        }

        @Override
        public void run() {
            race.ran.incrementAndGet();
        }
    }

    @Test
    void whatComesLateRunsOnceHereOrThere_end2_grpc18() {
        // Not LateRace::new: behind that the checker takes what the race has for one thread's own.
        Race.explore(INTERLEAVINGS, () -> new LateRace());
    }
}
