package io.millrace.engine.reactor;

import io.millrace.engine.CancelResult;
import io.millrace.lincheck.Race;
import org.junit.jupiter.api.Test;

/** grpc-6, grpc-7: run, cancel and cancelAndWait meet; the callback gets one of true and false, once, and nobody waits for ever. */
class CancellableLincheckTest {
    @Test
    void runAndCancelGiveOneAnswer_grpc6() {
        Race.explore(80, () -> new CancelRace() {
            @Override
            protected void longer() {
                work.run();
            }

            @Override
            protected void shorter() {
                CancelResult result = work.cancel();
                expect(
                        (result == CancelResult.CANCELLED) == (work.withFalse == 1),
                        result + ", and told false " + work.withFalse + " times");
            }

            @Override
            protected void afterwards() {
                work.expectOneAnswer();
            }
        });
    }

    @Test
    void whoWaitsReturnsAfterTheRun_grpc7() {
        Race.explore(100, () -> new CancelRace() {
            @Override
            protected void longer() {
                work.cancelAndWait();
                expect(work.returned, "the callback is still running");
            }

            @Override
            protected void shorter() {
                work.run();
            }

            @Override
            protected void afterwards() {
                work.expectOneAnswer();
            }
        });
    }

    @Test
    void whoWaitsForAnotherCancellerReturnsAfterItsCallback_grpc7() {
        Race.explore(120, () -> new CancelRaceOfThree() {
            @Override
            protected void longer() {
                work.cancelAndWait();
                expect(work.returned, "the callback is still running");
            }

            @Override
            protected void shorter() {
                work.cancelAndWait();
                expect(work.returned, "the callback is still running");
            }

            @Override
            protected void third() {
                work.run();
            }

            @Override
            protected void afterwards() {
                work.expectOneAnswer();
            }
        });
    }

    @Test
    void aPeriodicOneThatIsCancelledDoesNotRunAgain_grpc6() {
        Race.explore(100, () -> new CancelRace() {
            @Override
            protected void longer() {
                work.runOnce();
                work.runOnce();
            }

            @Override
            protected void shorter() {
                work.cancelAndWait();
                int soFar = work.withTrue;
                work.cancelled = true;
                expect(work.withFalse <= 1 && soFar <= 2, "run too often");
            }

            @Override
            protected void afterwards() {
                expect(!work.ranAfterwards, "it ran after its cancel had returned");
                expect(!work.begin(), "cancelled, and it waits for its next run");
            }
        });
    }

    private abstract static class CancelRace extends Race {
        final Work work = new Work();
    }

    private abstract static class CancelRaceOfThree extends Race.OfThree {
        final Work work = new Work();
    }

    /** What an alarm does, without a reactor. */
    private static final class Work extends Cancellable {
        volatile int withTrue;
        volatile int withFalse;
        volatile boolean returned;
        volatile boolean cancelled;
        volatile boolean ranAfterwards;

        @SuppressWarnings("NullAway") // it has none
        Work() {
            super(null);
        }

        @Override
        public void run() {
            if (begin()) {
                called(true);
                end();
            }
        }

        /** As a periodic one. */
        void runOnce() {
            boolean late = cancelled;
            if (begin()) {
                ranAfterwards |= late;
                called(true);
                endRun();
            }
        }

        CancelResult cancel() {
            CancelResult result = tryCancel();
            if (result == CancelResult.CANCELLED) {
                called(false);
                end();
            }
            return result;
        }

        void cancelAndWait() {
            if (cancel() == CancelResult.RUNNING) {
                try {
                    awaitEnd();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
        }

        @SuppressWarnings("NonAtomicVolatileUpdate") // whoever began it is alone, which is to be shown
        private void called(boolean fired) {
            if (fired) {
                withTrue++;
            } else {
                withFalse++;
            }
            returned = true;
        }

        void expectOneAnswer() {
            Race.expect(withTrue + withFalse == 1, withTrue + " times true, " + withFalse + " times false");
        }
    }
}
