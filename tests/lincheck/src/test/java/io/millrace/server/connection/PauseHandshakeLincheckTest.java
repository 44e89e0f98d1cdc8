package io.millrace.server.connection;

import io.millrace.lincheck.Race;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** {@link PauseHandshake}: one side of a relay that finds the other full, against the other one's loop, which sends what waits. */
class PauseHandshakeLincheckTest {
    private static final int INTERLEAVINGS = 200;

    /** The other connection as {@link StreamConnection#isWritable} has it: full if anything waits. */
    private abstract static class RelayRace extends Race {
        private volatile int waits;
        private final AtomicBoolean owes = new AtomicBoolean();
        private volatile boolean paused;

        final PauseHandshake side = new PauseHandshake() {
            @Override
            void setPaused(boolean now) {
                paused = now;
            }

            @Override
            boolean isOtherWritable() {
                if (!owes.get() && waits == 0) {
                    return true;
                }
                owes.set(true);
                return waits == 0 && owes.compareAndSet(true, false);
            }
        };

        void send() {
            waits = 1;
            owes.set(true);
            side.pauseUntilWritable();
        }

        /** The other loop has sent what waits, and its handler is told. */
        void drain() {
            waits = 0;
            if (owes.compareAndSet(true, false)) {
                side.resume();
            }
        }

        @Override
        protected void afterwards() {
            if (waits > 0) {
                drain();
            }
            expect(!paused, "all is sent, and nobody resumes");
        }
    }

    @Test
    void noResumeIsLost_srv8() {
        Race.explore(INTERLEAVINGS, () -> new RelayRace() {
            @Override
            protected void longer() {
                send();
            }

            @Override
            protected void shorter() {
                drain();
            }
        });
    }

    @Test
    void noResumeIsLostIfTheOtherFillsUpTwice_srv8() {
        Race.explore(INTERLEAVINGS, () -> new RelayRace() {
            @Override
            protected void longer() {
                send();
                send();
            }

            @Override
            protected void shorter() {
                drain();
                drain();
            }
        });
    }
}
