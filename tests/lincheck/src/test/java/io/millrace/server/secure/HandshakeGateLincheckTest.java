package io.millrace.server.secure;

import io.millrace.lincheck.Race;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** {@link HandshakeGate}: a handshake that comes while the last one ends. It is computed exactly once, alone, or refused. */
@DisplayName("tls-3: a gate for handshakes loses none, and computes no more at a time than it may")
class HandshakeGateLincheckTest {
    private static final int INTERLEAVINGS = 100;

    private abstract static class GateRace extends Race {
        private final AtomicReference<Runnable> started = new AtomicReference<>();
        private final HandshakeGate gate = new HandshakeGate(1, 1, started::set);
        private volatile int accepted;
        private volatile int computed;
        private volatile boolean computing;

        private void compute() {
            expect(!computing, "two are computed at a time");
            computing = true;
            computed++;
            computing = false;
        }

        /** What was started runs on the thread that has started it. */
        final void come() {
            if (gate.submit(this::compute)) {
                synchronized (this) {
                    accepted++;
                }
            }
            Runnable thread = started.getAndSet(null);
            if (thread != null) {
                thread.run();
            }
        }

        @Override
        protected void afterwards() {
            expect(computed == accepted, accepted + " were accepted, and " + computed + " computed");
            expect(gate.submit(() -> {}) && started.get() != null, "its place is not free again: " + gate);
        }
    }

    @Test
    void noneIsLost_tls3() {
        Race.explore(INTERLEAVINGS, () -> new GateRace() {
            @Override
            protected void longer() {
                come();
                come();
            }

            @Override
            protected void shorter() {
                come();
            }
        });
    }
}
