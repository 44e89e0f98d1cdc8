package io.millrace.poll;

import static io.millrace.poll.Interleaved.expect;
import static io.millrace.poll.Interleaved.together;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.Lincheck;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Registering against everything that may happen to the source at that moment. */
@Tag("lincheck")
class RegisterLincheckTest {
    private static final int INTERLEAVINGS = Effort.times(200);

    @Test
    void aMessageSentDuringRegisterIsReported_mio21() {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            Poll poll = new ModelKernel().poll();
            Channel<String> channel = Channel.over(new OneMessage());
            AtomicInteger seen = new AtomicInteger();
            Events events = Events.withCapacity(1);
            together(
                    () -> {
                        poll.register(channel, 7, Interest.READABLE, Trigger.EDGE);
                        seen.addAndGet(poll.poll(events, Duration.ZERO));
                    },
                    () -> channel.send("message"));
            seen.addAndGet(poll.poll(events, Duration.ZERO));
            expect(seen.get() > 0, "a message waits, and nobody was told");
        });
    }

    /** The poll looks at the node while it is half registered. */
    @Test
    void whatIsReadyIsReportedThoughThePollLooksDuringRegister_mio8_mio21() {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            Poll poll = new ModelKernel().poll();
            Registration registration = new Registration();
            registration.setReadiness(Readiness.READABLE);
            AtomicInteger seen = new AtomicInteger();
            Events events = Events.withCapacity(1);
            together(
                    () -> poll.register(registration, 7, Interest.READABLE, Trigger.EDGE),
                    () -> seen.addAndGet(poll.poll(events, Duration.ZERO)));
            seen.addAndGet(poll.poll(events, Duration.ZERO));
            expect(seen.get() == 1, "reported " + seen + " times");
        });
    }

    @Test
    void ofTwoPollsOneGetsTheSource_mio14() {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            Poll one = new ModelKernel().poll();
            Poll other = new ModelKernel().poll();
            Registration registration = new Registration();
            AtomicInteger refused = new AtomicInteger();
            together(() -> register(one, registration, refused), () -> register(other, registration, refused));
            expect(refused.get() == 1 && one.size() + other.size() == 1, "registered with both, or with neither");
        });
    }

    @Test
    void aSourceClosedDuringRegisterDoesNotStayRegistered_mio11() {
        Lincheck.runConcurrentTest(INTERLEAVINGS, () -> {
            Poll poll = new ModelKernel().poll();
            Registration registration = new Registration();
            registration.setReadiness(Readiness.READABLE);
            together(() -> register(poll, registration, new AtomicInteger()), registration::close);
            expect(poll.size() == 0, "closed, and still registered");
            expect(poll.poll(Events.withCapacity(1), Duration.ZERO) == 0, "an event of a closed source");
        });
    }

    private static void register(Poll poll, Source source, AtomicInteger refused) {
        try {
            poll.register(source, 7, Interest.READABLE, Trigger.EDGE);
        } catch (IllegalStateException e) {
            refused.incrementAndGet();
        }
    }

    /** The smallest queue there is, so that the interleavings are those of the channel. */
    private static final class OneMessage extends java.util.AbstractQueue<String> {
        private volatile String message;

        @Override
        public boolean offer(String offered) {
            message = offered;
            return true;
        }

        @Override
        public String poll() {
            String taken = message;
            message = null;
            return taken;
        }

        @Override
        public String peek() {
            return message;
        }

        @Override
        public java.util.Iterator<String> iterator() {
            throw new UnsupportedOperationException();
        }

        @Override
        public int size() {
            return message == null ? 0 : 1;
        }
    }
}
