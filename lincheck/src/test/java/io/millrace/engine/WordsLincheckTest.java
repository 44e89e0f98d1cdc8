package io.millrace.engine;

import io.millrace.lincheck.Race;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The small words of the engine, each by itself: {@link Flight}, {@link Slot}, {@link Lifecycle}, {@link Vigil}. */
class WordsLincheckTest {
    private static final int INTERLEAVINGS = 80;

    // ---- Flight ----

    @Test
    void oneCallAtATimeAndNoEdgeIsLost_mill3_mill16() {
        Race.explore(120, () -> new FlightRace() {
            @Override
            protected void longer() {
                handle();
            }

            @Override
            protected void shorter() {
                signal(2);
                signal(4);
            }
        });
    }

    private abstract static class FlightRace extends Race {
        final Flight flight = new Flight();
        final AtomicInteger calls = new AtomicInteger();
        final AtomicInteger seen = new AtomicInteger();

        FlightRace() {
            expect(flight.begin(1), "nothing was in flight");
        }

        /** The loop; who dispatches is called on this thread, for any will do. */
        void signal(int bit) {
            if (flight.begin(bit)) {
                handle();
            }
        }

        void handle() {
            do {
                int bits = flight.take();
                expect(calls.incrementAndGet() == 1, "two calls at a time");
                expect((seen.getAndAdd(bits) & bits) == 0, "an edge was told twice");
                calls.decrementAndGet();
            } while (!flight.end());
        }

        @Override
        protected void afterwards() {
            expect(seen.get() == 7, "an edge was lost: " + seen);
            expect(!flight.isOn(), "in flight for ever");
        }
    }

    // ---- Slot ----

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
        final Slot<Object> slot = new Slot<>();
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

    // ---- Lifecycle ----

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

    // ---- Vigil ----

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
