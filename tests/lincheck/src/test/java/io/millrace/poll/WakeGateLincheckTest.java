package io.millrace.poll;

import io.millrace.lincheck.Race;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The handshake by itself: work is a number, the kernel a monitor. */
class WakeGateLincheckTest {
    @Test
    void theSleeperFindsTheWorkOrTheWakerFindsTheSleeper_mio15() {
        Race.explore(200, () -> new GateRace() {
            @Override
            protected void longer() {
                for (int done = work.get(); done < 2; done = work.get()) {
                    sleep(done);
                }
            }

            @Override
            protected void shorter() {
                publishAndWake();
                publishAndWake();
            }
        });
    }

    @Test
    void ofTwoWakersOneMakesTheSystemCall_mio15_tip5() {
        Race.explore(150, () -> new GateRace() {
            {
                gate.fallAsleep();
            }

            @Override
            protected void longer() {
                publishAndWake();
            }

            @Override
            protected void shorter() {
                publishAndWake();
            }

            @Override
            protected void afterwards() {
                expect(kernel.wakes() == 1, kernel.wakes() + " system calls for one sleeper");
            }
        });
    }

    private abstract static class GateRace extends Race {
        final WakeGate gate = new WakeGate();
        final ModelKernel kernel = new ModelKernel();
        final AtomicInteger work = new AtomicInteger();

        void sleep(int done) {
            gate.fallAsleep();
            kernel.await(work.get() == done ? -1 : 0, 1);
            gate.markAwake();
        }

        void publishAndWake() {
            work.incrementAndGet();
            if (gate.claimWake()) {
                kernel.wake();
            }
        }
    }
}
