package io.millrace.engine.watchdog;

import io.millrace.lincheck.Race;
import org.junit.jupiter.api.Test;

class WatchdogSleepLincheckTest {
    private static final int INTERLEAVINGS = 80;

    @Test
    void aReactorThatWakesIsSeenOrCallsTheWatchdogBack_mr1() {
        Race.explore(INTERLEAVINGS, () -> new SleepRace());
    }

    private static final class SleepRace extends Race implements Runnable {
        private final Heartbeat heartbeat = new Heartbeat();
        private final WatchdogSleep watchdogSleep =
                new WatchdogSleep(new Heartbeat[] {new Heartbeat(), heartbeat}, this);
        private volatile boolean called;
        private boolean left;

        SleepRace() {
            heartbeat.setWatchdogSleep(watchdogSleep);
        }

        @Override
        protected void longer() {
            left = watchdogSleep.suspend();
        }

        @Override
        protected void shorter() {
            heartbeat.markAsleep();
            heartbeat.markAwake(1);
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
