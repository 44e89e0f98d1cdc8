package io.millrace.engine;

import io.millrace.lincheck.Race;
import org.junit.jupiter.api.Test;

class VigilLincheckTest {
    private static final int INTERLEAVINGS = 80;

    @Test
    void aReactorThatWakesIsSeenOrCallsTheWatchdogBack_mr1() {
        Race.explore(INTERLEAVINGS, () -> new VigilRace());
    }

    private static final class VigilRace extends Race implements Runnable {
        private final Pulse pulse = new Pulse();
        private final Vigil vigil = new Vigil(new Pulse[] {new Pulse(), pulse}, this);
        private volatile boolean called;
        private boolean left;

        VigilRace() {
            pulse.watchedBy(vigil);
        }

        @Override
        protected void longer() {
            left = vigil.suspend();
        }

        @Override
        protected void shorter() {
            pulse.asleep();
            pulse.awake(1);
        }

        @Override
        protected void afterwards() {
            expect(!left || called, "the watchdog has left though a reactor works, and nobody called it back");
        }

        @Override
        public void run() {
            called = true;
        }
    }
}
