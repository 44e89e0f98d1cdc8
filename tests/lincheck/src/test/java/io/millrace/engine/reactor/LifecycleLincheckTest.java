package io.millrace.engine.reactor;

import io.millrace.lincheck.Race;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LifecycleLincheckTest {
    private static final int INTERLEAVINGS = 80;

    @Test
    void ofShutdownAndTheLastUnrefOneEndsIt_grpc8() {
        Race.explore(INTERLEAVINGS, () -> new LifecycleRace() {
            {
                lifecycle.ref();
            }

            @Override
            protected void longer() {
                ends(lifecycle.shutdown());
            }

            @Override
            protected void shorter() {
                ends(lifecycle.unref());
            }

            @Override
            protected void third() {
                ends(lifecycle.shutdown());
            }

            @Override
            protected void afterwards() {
                expect(ended.get() == 1, "ended " + ended + " times");
            }
        });
    }

    @Test
    void noReferenceIsTakenAfterTheEnd_grpc8() {
        Race.explore(INTERLEAVINGS, () -> new LifecycleRace() {
            private boolean refused;

            @Override
            protected void longer() {
                try {
                    lifecycle.ref();
                    expect(ended.get() == 0, "it ended in spite of a reference");
                    ends(lifecycle.unref());
                } catch (IllegalStateException e) {
                    refused = true;
                }
            }

            @Override
            protected void shorter() {
                ends(lifecycle.shutdown());
            }

            @Override
            protected void third() {}

            @Override
            protected void afterwards() {
                expect(ended.get() == 1, "ended " + ended + " times; refused: " + refused);
            }
        });
    }

    @Test
    void aForcedEndAndTheLastUnrefEndItOnce_grpc8() {
        Race.explore(INTERLEAVINGS, () -> new LifecycleRace() {
            {
                lifecycle.ref();
                ends(lifecycle.shutdown());
            }

            @Override
            protected void longer() {
                ends(lifecycle.unref());
            }

            @Override
            protected void shorter() {
                ends(lifecycle.force());
            }

            @Override
            protected void third() {}

            @Override
            protected void afterwards() {
                expect(ended.get() == 1, "ended " + ended + " times");
            }
        });
    }

    private abstract static class LifecycleRace extends Race.OfThree {
        final Lifecycle lifecycle = new Lifecycle("a test");
        final AtomicInteger ended = new AtomicInteger();

        void ends(boolean caller) {
            if (caller) {
                ended.incrementAndGet();
            }
        }
    }
}
