package io.millrace.poll;

import io.millrace.lincheck.Race;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A whole poll over a {@link ModelKernel}, and another thread that does something to it. */
class PollLincheckTest {
    private static final int INTERLEAVINGS = 80;

    @Test
    void aSetWakesASleepingPoll_mio15() {
        Race.explore(INTERLEAVINGS, () -> new PollRace() {
            private final Registration registration = registered(Trigger.EDGE);

            @Override
            protected void longer() {
                expect(poll.poll(events) == 1, "the poll returned without the event");
            }

            @Override
            protected void shorter() {
                registration.setReadiness(Readiness.READABLE);
            }
        });
    }

    @Test
    void aWakeEndsTheWaitOrTheNextOne_mio28_tip5() {
        Race.explore(INTERLEAVINGS, () -> new PollRace() {
            @Override
            protected void longer() {
                expect(poll.poll(events) == 0, "there is no source");
            }

            @Override
            protected void shorter() {
                poll.wake();
            }
        });
    }

    @Test
    void registeringWhatIsReadyEndsTheWait_mio8_mio26() {
        Race.explore(INTERLEAVINGS, () -> new PollRace() {
            private final Registration registration = ready();

            @Override
            protected void longer() {
                expect(poll.poll(events) == 1, "the poll returned without the event");
            }

            @Override
            protected void shorter() {
                poll.register(registration, 7, Interest.READABLE, Trigger.EDGE);
            }
        });
    }

    @Test
    void closingEndsTheWait_mio17_tip14() {
        Race.explore(INTERLEAVINGS, () -> new PollRace() {
            private boolean ended;

            @Override
            protected void longer() {
                try {
                    poll.poll(events);
                } catch (ClosedPollException e) {
                    ended = true;
                }
            }

            @Override
            protected void shorter() {
                poll.close();
            }

            @Override
            protected void afterwards() {
                expect(ended, "the poll returned as if nothing had happened");
            }
        });
    }

    @Test
    void closingAPollThatIsJustLeavingReturns_mio17_tip14() {
        Race.explore(INTERLEAVINGS, () -> new PollRace() {
            @Override
            protected void longer() {
                try {
                    poll.poll(events, Duration.ZERO);
                } catch (ClosedPollException e) {
                    // As it may be.
                }
            }

            @Override
            protected void shorter() {
                poll.close();
            }
        });
    }

    @Test
    void workPublishedBeforeASetIsSeenByADeliveryAfterIt_mio6_mio13() {
        Race.explore(INTERLEAVINGS, () -> new PollRace() {
            private final Registration registration = registered(Trigger.EDGE);
            private final AtomicInteger produced = new AtomicInteger();
            private int consumed;

            {
                // So that the poll has the node in hand when the set comes.
                registration.setReadiness(Readiness.READABLE);
                registration.unsetReadiness(Readiness.READABLE);
            }

            @Override
            protected void longer() {
                if (poll.poll(events, Duration.ZERO) == 1) {
                    consumed = produced.get();
                }
            }

            @Override
            protected void shorter() {
                produced.incrementAndGet();
                registration.setReadiness(Readiness.READABLE);
            }

            @Override
            protected void afterwards() {
                longer();
                expect(consumed == 1, "a set was lost");
            }
        });
    }

    @Test
    void aReregisterDuringADeliveryIsNotLost_mio4_mio8_mio9() {
        Race.explore(INTERLEAVINGS, () -> new PollRace() {
            private final Registration registration = ready();
            private int seen;

            {
                poll.register(registration, 1, Interest.WRITABLE, Trigger.EDGE);
            }

            @Override
            protected void longer() {
                poll.poll(events, Duration.ZERO);
                while (events.advance()) {
                    expect(events.token() == 2, "the old token with what it was not interested in");
                    seen++;
                }
            }

            @Override
            protected void shorter() {
                poll.reregister(registration, 2, Interest.READABLE, Trigger.EDGE);
            }

            @Override
            protected void afterwards() {
                longer();
                expect(seen > 0, "ready when it was reregistered, and never reported");
            }
        });
    }

    @Test
    void theCursorReturnsNothingOfAClosedSource_mio10_mio11() {
        Race.explore(INTERLEAVINGS, () -> new PollRace() {
            private final Registration registration = registered(Trigger.LEVEL);
            private final AtomicBoolean closed = new AtomicBoolean();

            {
                registration.setReadiness(Readiness.READABLE);
            }

            @Override
            protected void longer() {
                poll.poll(events, Duration.ZERO);
                boolean silent = closed.get();
                expect(!events.advance() || !silent, "an event of a closed source");
            }

            @Override
            protected void shorter() {
                registration.close();
                closed.set(true);
                registration.setReadiness(Readiness.READABLE);
            }

            @Override
            protected void afterwards() {
                expect(poll.poll(events, Duration.ZERO) == 0, "an event of a closed source");
                expect(poll.size() == 0, "closed, and still registered");
            }
        });
    }

    private abstract static class PollRace extends Race {
        final Poll poll = new ModelKernel().poll();
        final Events events = Events.withCapacity(1);

        Registration registered(Trigger trigger) {
            Registration registration = new Registration();
            poll.register(registration, 7, Interest.READABLE, trigger);
            return registration;
        }

        static Registration ready() {
            Registration registration = new Registration();
            registration.setReadiness(Readiness.READABLE);
            return registration;
        }
    }
}
