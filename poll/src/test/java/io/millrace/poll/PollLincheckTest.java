package io.millrace.poll;

import static io.millrace.poll.Interleaved.expect;
import static io.millrace.poll.Interleaved.together;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A whole poll over a {@link ModelKernel}, in the interleavings of two threads: the one that polls and one that does something to
 * it. Whoever sleeps for ever here is found by the model checker as a deadlock.
 */
@Tag("lincheck")
class PollLincheckTest {
    private static final int INTERLEAVINGS = Effort.times(200);

    @Test
    void aSetWakesASleepingPoll_mio15() {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            Poll poll = new ModelKernel().poll();
            Registration registration = registered(poll, Trigger.EDGE);
            int[] events = new int[1];
            together(() -> events[0] = poll.poll(Events.withCapacity(1)), () -> registration.setReadiness(Readiness.READABLE));
            expect(events[0] == 1, "the poll returned without the event");
        });
    }

    @Test
    void aWakeEndsTheWaitOrTheNextOne_mio28_tip5() {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            Poll poll = new ModelKernel().poll();
            together(() -> poll.poll(Events.withCapacity(1)), poll::wake);
        });
    }

    @Test
    void registeringWhatIsReadyEndsTheWait_mio8_mio26() {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            Poll poll = new ModelKernel().poll();
            Registration registration = new Registration();
            registration.setReadiness(Readiness.READABLE);
            int[] events = new int[1];
            together(
                    () -> events[0] = poll.poll(Events.withCapacity(1)),
                    () -> poll.register(registration, 7, Interest.READABLE, Trigger.EDGE));
            expect(events[0] == 1, "the poll returned without the event");
        });
    }

    @Test
    void closingEndsTheWaitAndReturnsAfterThePollLetGo_mio17_tip14() {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            Poll poll = new ModelKernel().poll();
            boolean[] closed = new boolean[1];
            together(
                    () -> {
                        try {
                            poll.poll(Events.withCapacity(1));
                        } catch (ClosedPollException e) {
                            closed[0] = true;
                        }
                    },
                    poll::close);
            expect(closed[0], "the poll returned as if nothing had happened");
        });
    }

    @Test
    void closingAPollThatIsJustLeavingReturns_mio17_tip14() {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            Poll poll = new ModelKernel().poll();
            together(
                    () -> {
                        try {
                            poll.poll(Events.withCapacity(1), Duration.ZERO);
                        } catch (ClosedPollException e) {
                            // As it may be.
                        }
                    },
                    poll::close);
        });
    }

    @Test
    void workPublishedBeforeASetIsSeenByADeliveryAfterIt_mio6_mio13() {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            Poll poll = new ModelKernel().poll();
            Registration registration = registered(poll, Trigger.EDGE);
            AtomicInteger produced = new AtomicInteger();
            AtomicInteger consumed = new AtomicInteger();
            Events events = Events.withCapacity(1);
            Runnable look = () -> {
                if (poll.poll(events, Duration.ZERO) == 1) {
                    consumed.set(produced.get());
                }
            };
            together(look, () -> {
                produced.incrementAndGet();
                registration.setReadiness(Readiness.READABLE);
                produced.incrementAndGet();
                registration.setReadiness(Readiness.READABLE);
            });
            look.run();
            expect(consumed.get() == 2, "a set was lost");
        });
    }

    @Test
    void aReregisterDuringADeliveryIsNotLost_mio4_mio8_mio9() {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            Poll poll = new ModelKernel().poll();
            Registration registration = new Registration();
            poll.register(registration, 1, Interest.WRITABLE, Trigger.EDGE);
            registration.setReadiness(Readiness.READABLE);
            AtomicInteger seen = new AtomicInteger();
            Events events = Events.withCapacity(1);
            Runnable look = () -> {
                poll.poll(events, Duration.ZERO);
                while (events.advance()) {
                    expect(events.token() == 2, "the old token with what it was not interested in");
                    seen.incrementAndGet();
                }
            };
            together(look, () -> poll.reregister(registration, 2, Interest.READABLE, Trigger.EDGE));
            look.run();
            expect(seen.get() > 0, "ready when it was reregistered, and never reported");
        });
    }

    @Test
    void theCursorReturnsNothingOfAClosedSource_mio10_mio11() {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            Poll poll = new ModelKernel().poll();
            Registration registration = registered(poll, Trigger.LEVEL);
            registration.setReadiness(Readiness.READABLE);
            AtomicInteger closed = new AtomicInteger();
            Events events = Events.withCapacity(1);
            together(
                    () -> {
                        poll.poll(events, Duration.ZERO);
                        boolean silent = closed.get() == 1;
                        expect(!events.advance() || !silent, "an event of a closed source");
                    },
                    () -> {
                        registration.close();
                        closed.set(1);
                        registration.setReadiness(Readiness.READABLE);
                    });
            expect(poll.poll(events, Duration.ZERO) == 0, "an event of a closed source");
            expect(poll.size() == 0, "closed, and still registered");
        });
    }

    private static Registration registered(Poll poll, Trigger trigger) {
        Registration registration = new Registration();
        poll.register(registration, 7, Interest.READABLE, trigger);
        return registration;
    }
}
