package io.millrace.engine.descriptor;

import io.millrace.lincheck.Race;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** grpc-9, grpc-10: notify, ready, a timeout, clear and close meet; a callback is handed out once. */
class ReadinessDirectionLincheckTest {
    private static final int INTERLEAVINGS = 80;

    @Test
    void notifyAndReadyMeet_grpc9() {
        Race.explore(INTERLEAVINGS, () -> new DirectionRace() {
            @Override
            protected void longer() {
                ask();
            }

            @Override
            protected void shorter() {
                ready();
            }

            @Override
            protected void afterwards() {
                expectHandedOutOnce();
            }
        });
    }

    @Test
    void readyTimeoutAndCloseMeet_grpc10() {
        Race.explore(120, () -> new DirectionRace() {
            {
                ask();
            }

            @Override
            protected void longer() {
                ready();
            }

            @Override
            protected void shorter() {
                timeout();
            }

            @Override
            protected void third() {
                close();
            }

            @Override
            protected void afterwards() {
                expectHandedOutOnce();
            }
        });
    }

    @Test
    void notifyAndCloseMeet_grpc9() {
        Race.explore(INTERLEAVINGS, () -> new DirectionRace() {
            @Override
            protected void longer() {
                ask();
            }

            @Override
            protected void shorter() {
                close();
            }

            @Override
            protected void afterwards() {
                expect(handedOut.get() + refused == 1, handedOut + " times handed out, " + refused + " times refused");
            }
        });
    }

    @Test
    void aReadinessThatIsClearedOrAskedForIsUsedOnce_grpc9() {
        Race.explore(120, () -> new DirectionRace() {
            {
                ready();
            }

            @Override
            protected void longer() {
                ask();
            }

            @Override
            protected void shorter() {
                direction.clear();
            }

            @Override
            protected void third() {
                ready();
            }

            @Override
            protected void afterwards() {
                // Cleared before it was asked for: it waits, unless the third made it ready again.
                boolean waits = direction.isAwaited();
                expect(handedOut.get() == (waits ? 0 : 1), handedOut + " times handed out, waits: " + waits);
                close();
                expectHandedOutOnce();
            }
        });
    }

    private abstract static class DirectionRace extends Race.OfThree implements Runnable {
        final ReadinessDirection direction = new ReadinessDirection("readable");
        final PendingNotification waiter = waiter(this);
        final AtomicInteger handedOut = new AtomicInteger();
        int refused;

        @SuppressWarnings("NullAway") // it has no descriptor
        private static PendingNotification waiter(Runnable callback) {
            return new PendingNotification(null, callback);
        }

        @Override
        protected void third() {}

        @Override
        public void run() {}

        void ask() {
            try {
                if (direction.notify(waiter)) {
                    handedOut.incrementAndGet();
                }
            } catch (IllegalStateException e) {
                refused = 1;
            }
        }

        void ready() {
            if (direction.ready() != null) {
                handedOut.incrementAndGet();
            }
        }

        void timeout() {
            if (direction.timedOut(waiter)) {
                handedOut.incrementAndGet();
            }
        }

        void close() {
            if (direction.close() != null) {
                handedOut.incrementAndGet();
            }
        }

        void expectHandedOutOnce() {
            expect(handedOut.get() == 1, "handed out " + handedOut + " times");
        }
    }
}
