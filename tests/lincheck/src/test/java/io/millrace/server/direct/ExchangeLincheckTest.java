package io.millrace.server.direct;

import io.millrace.lincheck.Race;
import java.io.IOException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * {@link Exchange}: a thread that waits, against its loop, which has bytes for it, a close by another thread, and a
 * timeout. The loop does one thing at a time, so what runs there holds a lock; a thread that waits for ever is a deadlock,
 * which the checker finds.
 */
@DisplayName("vt-4 the handshake between a thread that waits and its loop")
class ExchangeLincheckTest {
    private static final int INTERLEAVINGS = 500;

    /** The part of a link that the handshake is about. */
    private abstract static class LinkRace extends Race {
        final Exchange exchange = new Exchange(LockSupport::unpark);
        private final Object loop = new Object();
        private volatile boolean closed;
        /** On the loop: how many bytes nobody has waited for. */
        private int kept;
        /** How many the thread has got; negative if it was told that it is closed. */
        volatile int got;

        volatile boolean withdrawn;

        // ---- The thread ----

        void read(boolean interrupted) {
            if (exchange.open(null, null, false, 0) || closed) {
                serve();
            }
            while (!exchange.isDone()) {
                if (interrupted && exchange.withdraw()) {
                    withdrawn = true;
                    return;
                }
                LockSupport.park();
            }
            try {
                int count = exchange.take(new Exchange.Answer());
                got = count < 0 ? count : got + count;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }

        // ---- The loop ----

        void arrive() {
            synchronized (loop) {
                if (kept == 0 && exchange.begin()) {
                    exchange.complete(1, null, null);
                } else {
                    kept++;
                    if (exchange.announce()) {
                        serve();
                    }
                }
            }
        }

        void serve() {
            synchronized (loop) {
                if (!exchange.isWaiting()) {
                    return;
                }
                if (kept > 0) {
                    if (exchange.begin()) {
                        int all = kept;
                        kept = 0;
                        exchange.complete(all, null, null);
                    }
                } else if (closed) {
                    if (exchange.begin()) {
                        exchange.complete(-1, null, null);
                    }
                } else {
                    exchange.retract();
                }
            }
        }

        /** A time limit that has passed for what was opened before, and not for what is open now. */
        void expireAnother() {
            synchronized (loop) {
                if (exchange.begin()) {
                    exchange.putBack();
                }
            }
        }

        // ---- Another thread ----

        void close() {
            closed = true;
            if (exchange.announce()) {
                serve();
            }
        }
    }

    @Test
    @DisplayName("vt-4 bytes that arrive while a thread is about to wait wake it")
    void bytesAgainstAWait() {
        Race.explore(INTERLEAVINGS, () -> new LinkRace() {
            @Override
            protected void longer() {
                read(false);
            }

            @Override
            protected void shorter() {
                arrive();
            }

            @Override
            protected void afterwards() {
                expect(got == 1, "got " + got);
            }
        });
    }

    @Test
    @DisplayName("vt-4 no byte is lost or doubled between two waits")
    void bytesAgainstTwoWaits() {
        Race.explore(INTERLEAVINGS, () -> new LinkRace() {
            @Override
            protected void longer() {
                do {
                    read(false);
                } while (got < 2);
            }

            @Override
            protected void shorter() {
                arrive();
                arrive();
            }

            @Override
            protected void afterwards() {
                expect(got == 2, "got " + got);
            }
        });
    }

    @Test
    @DisplayName("vt-4 an interrupted thread has withdrawn, and its bytes are kept; or it gets them")
    void interruptAgainstBytes() {
        Race.explore(INTERLEAVINGS, () -> new LinkRace() {
            @Override
            protected void longer() {
                read(true);
                if (withdrawn) {
                    read(false);
                }
            }

            @Override
            protected void shorter() {
                arrive();
            }

            @Override
            protected void afterwards() {
                expect(got == 1, "got " + got);
            }
        });
    }

    @Test
    @DisplayName("vt-4 a thread that waits withdraws, or is answered, and not both")
    void bytesAgainstInterrupt() {
        Race.explore(INTERLEAVINGS, () -> new Withdrawal());
    }

    /** Opened before, so that one switch of threads is enough to come between the two steps of the loop. */
    private static final class Withdrawal extends LinkRace {
        Withdrawal() {
            exchange.open(null, null, false, 0);
        }

        @Override
        protected void longer() {
            arrive();
        }

        @Override
        protected void shorter() {
            withdrawn = exchange.withdraw();
        }

        @Override
        protected void afterwards() {
            if (withdrawn) {
                read(false); // opens it again, and gets what was kept
                expect(got == 1, "got " + got);
            } else {
                expect(exchange.isDone(), "neither withdrawn nor answered");
            }
        }
    }

    @Test
    @DisplayName("vt-4 a close while a thread is about to wait wakes it")
    void closeAgainstAWait() {
        Race.explore(INTERLEAVINGS, () -> new LinkRace() {
            @Override
            protected void longer() {
                read(false);
            }

            @Override
            protected void shorter() {
                close();
            }

            @Override
            protected void afterwards() {
                expect(got == -1, "got " + got);
            }
        });
    }

    @Test
    @DisplayName("vt-4 a timeout that comes too late for one call does not disturb an interrupt of the next")
    void timeoutAgainstInterrupt() {
        Race.explore(INTERLEAVINGS, () -> new LinkRace() {
            @Override
            protected void longer() {
                read(true);
            }

            @Override
            protected void shorter() {
                expireAnother();
            }

            @Override
            protected void afterwards() {
                expect(withdrawn, "an interrupted thread still waits");
            }
        });
    }

    @Test
    @DisplayName(
            "vt-4 bytes, a close and a thread that is about to wait: it gets the bytes before it is told of the close")
    void bytesAndCloseAgainstAWait() {
        Race.explore(INTERLEAVINGS, () -> new RaceOfThree());
    }

    /** Apart, because a race of three is another class. */
    private static final class RaceOfThree extends Race.OfThree {
        private final LinkRace link = new LinkRace() {
            @Override
            protected void longer() {}

            @Override
            protected void shorter() {}
        };

        @Override
        protected void longer() {
            link.read(false);
        }

        @Override
        protected void shorter() {
            link.arrive();
        }

        @Override
        protected void third() {
            link.close();
        }

        @Override
        protected void afterwards() {
            expect(link.got == 1 || link.got == -1, "got " + link.got);
        }
    }
}
