package io.millrace.server.connection;

import io.millrace.lincheck.Race;
import org.junit.jupiter.api.Test;

/** {@link SendGate}: senders against a close, and against each other. */
class SendGateLincheckTest {
    private static final int INTERLEAVINGS = 120;
    private static final int LIMIT = 10;

    /** A connection whose loop is a lock: what runs on the loop runs here on the thread that would hand it over. */
    private abstract static class GateRace extends Race {
        final SendGate gate = new SendGate() {
            @Override
            void lookAgain() {
                look();
            }

            @Override
            void charge(long bytes) {}
        };
        private final Object loop = new Object();
        private boolean over;
        private int arrived;

        /** Returns whether it was taken. */
        SendGate.Admission send(int bytes) {
            SendGate.Admission admission = gate.announce(bytes, LIMIT);
            if (admission == SendGate.Admission.TAKEN) {
                arrive();
            }
            return admission;
        }

        void arrive() {
            synchronized (loop) {
                expect(!over, "a send that was taken is dropped");
                gate.countArrival();
                arrived++;
            }
            look();
        }

        void close() {
            gate.end();
            look();
        }

        void look() {
            synchronized (loop) {
                if (gate.refuses() && gate.isQuiet()) {
                    over = true;
                }
            }
        }

        int arrivals() {
            synchronized (loop) {
                return arrived;
            }
        }

        void expectOver() {
            synchronized (loop) {
                expect(over, "closed, and nobody ends it");
            }
        }
    }

    @Test
    void whatIsTakenArrivesBeforeTheEndAndTheEndComes_srv3() {
        Race.explore(INTERLEAVINGS, () -> new GateRace() {
            private volatile boolean taken;

            @Override
            protected void longer() {
                taken = send(1) == SendGate.Admission.TAKEN;
            }

            @Override
            protected void shorter() {
                close();
            }

            @Override
            protected void afterwards() {
                expectOver();
                expect(arrivals() == (taken ? 1 : 0), "taken: " + taken + ", arrived: " + arrivals());
                expect(gate.waitingBytes() == arrivals(), "counted: " + gate.waitingBytes());
            }
        });
    }

    @Test
    void whatWaitsIsNeverMoreThanTheLimitAndOneMessage_srv1() {
        Race.explore(INTERLEAVINGS, () -> new GateRace() {
            /** Announces as much as is taken, and leaves it there. */
            private void flood() {
                while (gate.announce(6, LIMIT) == SendGate.Admission.TAKEN) {
                    expect(gate.waitingBytes() <= 3 * 6, "too much waits: " + gate.waitingBytes());
                }
            }

            @Override
            protected void longer() {
                flood();
            }

            @Override
            protected void shorter() {
                flood();
            }

            @Override
            protected void afterwards() {
                // 6 + the cost of a send is above the limit: exactly one was admitted.
                expect(gate.waitingBytes() == 6, "waiting: " + gate.waitingBytes());
            }
        });
    }
}
