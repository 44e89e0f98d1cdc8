package io.millrace.server.connection;

import io.millrace.lincheck.Race;
import java.util.List;
import org.junit.jupiter.api.Test;

/** {@link Errands}: a thread that gives a connection a task, against the connection's end. A task that was accepted runs exactly once, one that was refused never. */
class ErrandsLincheckTest {
    private static final int INTERLEAVINGS = 200;

    private abstract static class EndRace extends Race {
        private final Errands errands = new Errands();
        private final Errands.Task task = new Errands.Task(() -> {});
        private volatile boolean accepted;
        private volatile boolean handedOver;
        private volatile int runs;

        /** As {@code ConnectionCalls.execute} does it while the loop takes tasks. */
        void give() {
            if (errands.add(task)) {
                accepted = true;
                handedOver = true;
            }
        }

        /** The same when the loop has ended, and refuses the task. */
        void giveToAnEndedLoop() {
            if (errands.add(task)) {
                errands.remove(task);
                accepted = !task.take();
            }
        }

        /** The connection's thread comes to what was handed over. */
        void perform() {
            if (handedOver && task.take()) {
                errands.remove(task);
                runs++;
            }
        }

        void end() {
            List<Errands.Errand> left = errands.close();
            runs += left.size();
        }

        @Override
        protected void afterwards() {
            // The end is followed by the last callback, so what the loop would still come to is too late.
            expect(runs == (accepted ? 1 : 0), "accepted: " + accepted + ", run " + runs + " times");
            expect(!errands.add(new Errands.Task(() -> {})), "accepted after the end");
        }
    }

    @Test
    void anAcceptedTaskRunsOnce_srv6() {
        Race.explore(INTERLEAVINGS, () -> new EndRace() {
            @Override
            protected void longer() {
                give();
            }

            @Override
            protected void shorter() {
                end();
            }
        });
    }

    @Test
    void theLoopMayComeToItBeforeTheEnd_srv6() {
        Race.explore(INTERLEAVINGS, () -> new EndRace() {
            @Override
            protected void longer() {
                give();
            }

            @Override
            protected void shorter() {
                perform();
                end();
            }
        });
    }

    @Test
    void anEndedLoopRefusesItOrTheEndRunsIt_srv6() {
        Race.explore(INTERLEAVINGS, () -> new EndRace() {
            @Override
            protected void longer() {
                giveToAnEndedLoop();
            }

            @Override
            protected void shorter() {
                end();
            }
        });
    }
}
