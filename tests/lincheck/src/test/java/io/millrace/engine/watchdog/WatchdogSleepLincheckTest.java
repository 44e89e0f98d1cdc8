package io.millrace.engine.watchdog;

import io.millrace.lincheck.Race;
import org.junit.jupiter.api.Test;

class WatchdogSleepLincheckTest {
    private static final int INTERLEAVINGS = 80;

    @Test
    void aReactorThatWakesIsSeenOrCallsTheWatchdogBack_mr1() {
        Race.explore(INTERLEAVINGS, () -> new VigilRace());
    }

    private static final class VigilRace extends Race implements Runnable {
        private final Heartbeat pulse = new Heartbeat();
        private final WatchdogSleep vigil = new WatchdogSleep(new Heartbeat[] {new Heartbeat(), pulse}, this);
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
