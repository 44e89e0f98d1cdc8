package io.millrace.engine;

import io.millrace.lincheck.Race;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * {@link WaitGate}: a thread that waits for a source, against what answers it, an event, an alarm and a close, and against
 * its own interrupt. A thread that waits for ever is a deadlock, which the checker finds.
 */
@DisplayName("vt-4, vt-5 the handshake between a thread that waits for a source and its loop")
class WaitGateLincheckTest {
    private static final int INTERLEAVINGS = 500;

    /** The part of a wait that the handshake is about. */
    private abstract static class WaitRace extends Race {
        final WaitGate gate = new WaitGate();
        /** Whose registration the source has: 0 for none, 1 for this wait's, 2 for the next one's. */
        private volatile int registered;

        private volatile boolean alarm;
        private volatile int cleaned;
        /** What the thread is told, which is written without further care. */
        private String answer = "";

        private volatile Thread waiter;
        volatile String told = "";
        volatile boolean withdrawn;

        // ---- The loop, or the thread itself ----

        void open() {
            if (gate.open()) {
                registered = 1;
                alarm = true;
                if (!gate.opened()) {
                    alarm = false;
                }
            }
        }

        void answer(String with) {
            if (registered == 1 && gate.tryAnswer()) { // what is not registered has no events
                answer = with;
                cleanUp();
                gate.answered();
                LockSupport.unpark(waiter);
            }
        }

        /** An event that is not the one that is waited for. */
        void watchAgain() {
            if (gate.reopen()) {
                expect(registered == 1, "touches the registration " + registered);
                gate.opened();
            }
        }

        private void cleanUp() {
            registered = 0;
            alarm = false;
            cleaned++;
        }

        // ---- The thread ----

        /** Waits; with an interrupt that has come already, or without one. */
        void await(boolean interrupted) {
            waiter = Thread.currentThread();
            while (!gate.isDone()) {
                if (interrupted) {
                    switch (gate.withdraw()) {
                        case TOO_LATE -> {}
                        case UNREGISTERED -> withdrawn = true;
                        case REGISTERED -> {
                            cleanUp();
                            withdrawn = true;
                        }
                    }
                    if (withdrawn) {
                        registered = 2; // it waits for the source anew
                        return;
                    }
                }
                LockSupport.park();
            }
            told = answer;
        }

        @Override
        protected void afterwards() {
            expect(!alarm, "an alarm is left");
            expect(registered == (withdrawn ? 2 : 0), "registration " + registered);
            expect(withdrawn == told.isEmpty(), "withdrawn " + withdrawn + ", and told '" + told + "'");
            expect(withdrawn || cleaned == 1, "cleaned up " + cleaned + " times");
        }
    }

    @Test
    @DisplayName("vt-4 an event while a thread registers the source wakes it, and leaves no alarm")
    void eventAgainstAWait() {
        Race.explore(INTERLEAVINGS, () -> new WaitRace() {
            @Override
            protected void longer() {
                open();
                if (!gate.isDone()) {
                    answer("at the latest"); // by the alarm: otherwise an event that came too early would never come
                }
                await(false);
            }

            @Override
            protected void shorter() {
                answer("event");
            }
        });
    }

    @Test
    @DisplayName(
            "vt-4 a carrier that registers, and a thread that is interrupted: it withdraws before or after, not between")
    void interruptAgainstRegistering() {
        Race.explore(INTERLEAVINGS, () -> new WaitRace() {
            @Override
            protected void longer() {
                open();
            }

            @Override
            protected void shorter() {
                await(true);
            }
        });
    }

    @Test
    @DisplayName("vt-4 an interrupted thread has withdrawn, or is answered, and not both")
    void interruptAgainstAnEvent() {
        Race.explore(INTERLEAVINGS, () -> new Registered() {
            @Override
            protected void longer() {
                answer("event");
            }

            @Override
            protected void shorter() {
                await(true);
            }
        });
    }

    @Test
    @DisplayName("vt-5 a loop that watches again does not touch what the thread has registered since")
    void interruptAgainstAnotherEvent() {
        Race.explore(INTERLEAVINGS, () -> new Registered() {
            @Override
            protected void longer() {
                watchAgain();
            }

            @Override
            protected void shorter() {
                await(true);
            }
        });
    }

    /** Registered before, so that one switch of threads is enough to come between two steps. */
    private abstract static class Registered extends WaitRace {
        Registered() {
            open();
        }
    }

    @Test
    @DisplayName("vt-4 an event, a close and a thread that waits: one of them answers it, and cleans up")
    void eventAndCloseAgainstAWait() {
        Race.explore(INTERLEAVINGS, () -> new RaceOfThree());
    }

    /** Apart, because a race of three is another class. */
    private static final class RaceOfThree extends Race.OfThree {
        private final WaitRace wait = new Registered() {
            @Override
            protected void longer() {}

            @Override
            protected void shorter() {}
        };

        @Override
        protected void longer() {
            wait.await(false);
        }

        @Override
        protected void shorter() {
            wait.answer("event");
        }

        @Override
        protected void third() {
            wait.answer("close");
        }

        @Override
        protected void afterwards() {
            wait.afterwards();
        }
    }
}
