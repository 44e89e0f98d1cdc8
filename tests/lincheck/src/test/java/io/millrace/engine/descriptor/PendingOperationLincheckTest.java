package io.millrace.engine.descriptor;

import io.millrace.lincheck.Race;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PendingOperationLincheckTest {
    private static final int INTERLEAVINGS = 80;

    @Test
    void anOperationDuringCloseIsToldOrRefused_grpc12() {
        Race.explore(INTERLEAVINGS, () -> new SlotRace() {
            @Override
            protected void longer() {
                close();
            }

            @Override
            protected void shorter() {
                put();
            }

            @Override
            protected void afterwards() {
                expect(told.get() + refused == 1, told + " times told, " + refused + " times refused");
            }
        });
    }

    @Test
    void afterACompletionTheNextIsToldToo_grpc12() {
        Race.explore(INTERLEAVINGS, () -> new SlotRace() {
            {
                put();
            }

            @Override
            protected void longer() {
                take();
                take();
            }

            @Override
            protected void shorter() {
                close();
            }

            @Override
            protected void afterwards() {
                expect(told.get() == 1, told + " times told");
                expect(slot.get() == null, "something stays in it for ever");
            }
        });
    }

    private abstract static class SlotRace extends Race {
        final PendingOperation<Object> slot = new PendingOperation<>();
        final AtomicInteger told = new AtomicInteger();
        int refused;

        void put() {
            try {
                slot.put(this, "read", "a test");
            } catch (IllegalStateException e) {
                refused = 1;
            }
        }

        void take() {
            Object pending = slot.get();
            if (pending != null && slot.take(pending)) {
                told.incrementAndGet();
            }
        }

        void close() {
            if (slot.close() != null) {
                told.incrementAndGet();
            }
        }
    }
}
