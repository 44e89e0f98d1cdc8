package io.millrace.server.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** {@link SendGate} on one thread; SendGateLincheckTest has several. */
class SendGateTest {
    @Test
    @DisplayName("srv-19: an echo that the system takes at once touches no count that connections share")
    void echoCountsNothing() {
        AtomicInteger charges = new AtomicInteger();
        SendGate gate = new SendGate() {
            @Override
            void lookAgain() {}

            @Override
            void charge(long bytes) {
                charges.incrementAndGet();
            }
        };
        // What other dispatches hand over, and the loop sends on: less than a grain.
        for (int i = 0; i < 1_000; i++) {
            assertThat(gate.announce(64, 1 << 20)).isEqualTo(SendGate.Admission.TAKEN);
            gate.countArrival();
            gate.release(64);
        }
        assertThat(charges).hasValue(0);
        gate.hold(10_000);
        assertThat(charges).hasValue(1);
        gate.release(10_000);
        assertThat(charges).hasValue(2);
    }

    @Test
    @DisplayName("srv-1: sends of other threads have a limit; and messages without a byte do not wait for nothing")
    void theLimitElsewhere() {
        SendGate gate = new SendGate() {
            @Override
            void lookAgain() {}

            @Override
            void charge(long bytes) {}
        };
        gate.hold(1_000);
        assertThat(gate.announce(1, 999)).isEqualTo(SendGate.Admission.FULL);
        assertThat(gate.announce(1, 1_000)).isEqualTo(SendGate.Admission.TAKEN);
        assertThat(gate.announce(1, 1_000)).isEqualTo(SendGate.Admission.FULL);
        int empty = 0;
        while (empty < 1_000 && gate.announce(0, 10_000) == SendGate.Admission.TAKEN) {
            empty++;
        }
        assertThat(empty).isLessThan(100);
    }
}
