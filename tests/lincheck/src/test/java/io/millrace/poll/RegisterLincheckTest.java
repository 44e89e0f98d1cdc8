package io.millrace.poll;

import io.millrace.lincheck.Race;
import java.time.Duration;
import java.util.AbstractQueue;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Registering against everything that may happen to the source at that moment. */
class RegisterLincheckTest {
    private static final int INTERLEAVINGS = 80;

    @Test
    void aMessageSentDuringRegisterIsReported_mio21() {
        Race.explore(INTERLEAVINGS, () -> new RegisterRace() {
            private final Channel<String> channel = Channel.over(new OneMessage());

            @Override
            protected void longer() {
                channel.send("message");
            }

            @Override
            protected void shorter() {
                register(channel);
                look();
            }

            @Override
            protected void afterwards() {
                look();
                expect(seen > 0, "a message waits, and nobody was told");
            }
        });
    }

    @Test
    void whatIsReadyIsReportedThoughThePollLooksDuringRegister_mio8_mio21() {
        Race.explore(INTERLEAVINGS, () -> new RegisterRace() {
            private final Registration registration = new Registration();

            {
                registration.setReadiness(Readiness.READABLE);
            }

            @Override
            protected void longer() {
                register(registration);
            }

            @Override
            protected void shorter() {
                look();
            }

            @Override
            protected void afterwards() {
                look();
                expect(seen == 1, "reported " + seen + " times");
            }
        });
    }

    @Test
    void ofTwoPollsOneGetsTheSource_mio14() {
        Race.explore(INTERLEAVINGS, () -> new RegisterRace() {
            private final Poll other = new ModelKernel().poll();
            private final Registration registration = new Registration();

            @Override
            protected void longer() {
                register(registration);
            }

            @Override
            protected void shorter() {
                try {
                    other.register(registration, 7, Interest.READABLE, Trigger.EDGE);
                } catch (IllegalStateException e) {
                    refused.incrementAndGet();
                }
            }

            @Override
            protected void afterwards() {
                expect(refused.get() == 1 && poll.size() + other.size() == 1, "registered with both, or with neither");
            }
        });
    }

    @Test
    void ofTwoQueuesOneGetsTheNode_mio14() {
        Race.explore(INTERLEAVINGS, () -> new Race() {
            private final SoftNode node = new SoftNode();
            private final ReadinessQueue one = new ReadinessQueue(() -> {});
            private final ReadinessQueue other = new ReadinessQueue(() -> {});
            private boolean longerWon;
            private boolean shorterWon;

            @Override
            protected void longer() {
                longerWon = node.bind(one);
            }

            @Override
            protected void shorter() {
                shorterWon = node.bind(other);
            }

            @Override
            protected void afterwards() {
                expect(longerWon != shorterWon, "bound to both queues, or to neither");
            }
        });
    }

    @Test
    void aSourceClosedDuringRegisterDoesNotStayRegistered_mio11() {
        Race.explore(INTERLEAVINGS, () -> new RegisterRace() {
            private final Registration registration = new Registration();

            {
                registration.setReadiness(Readiness.READABLE);
            }

            @Override
            protected void longer() {
                register(registration);
            }

            @Override
            protected void shorter() {
                registration.close();
            }

            @Override
            protected void afterwards() {
                look();
                expect(poll.size() == 0, "closed, and still registered");
                expect(seen == 0, "an event of a closed source");
            }
        });
    }

    private abstract static class RegisterRace extends Race {
        final Poll poll = new ModelKernel().poll();
        final Events events = Events.withCapacity(1);
        final AtomicInteger refused = new AtomicInteger();
        int seen;

        void register(Source source) {
            try {
                poll.register(source, 7, Interest.READABLE, Trigger.EDGE);
            } catch (IllegalStateException e) {
                refused.incrementAndGet();
            }
        }

        void look() {
            seen += poll.poll(events, Duration.ZERO);
        }
    }

    /** The smallest queue there is, so that the interleavings are those of the channel. */
    private static final class OneMessage extends AbstractQueue<String> {
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
        public Iterator<String> iterator() {
            throw new UnsupportedOperationException("nobody walks through it");
        }

        @Override
        public int size() {
            return message == null ? 0 : 1;
        }
    }
}
