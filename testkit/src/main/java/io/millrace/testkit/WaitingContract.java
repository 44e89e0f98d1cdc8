package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.net.Pipe;
import io.millrace.poll.Channel;
import io.millrace.poll.Event;
import io.millrace.poll.Interest;
import io.millrace.poll.ManualClock;
import io.millrace.poll.Poll;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Trigger;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** How long a poll waits, what ends the wait, and what does not. */
@DisplayName("Waiting and waking")
public abstract class WaitingContract extends PollContract {
    private static final long TOKEN = 5;

    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected WaitingContract(TestedBackend backend) {
        super(backend);
    }

    @Test
    @DisplayName("tip-11: null waits for ever, that is until something comes")
    void nullWaitsForEver() {
        Registration source = closing(new Registration());
        poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE);
        long before = poll.waits();
        Background<Integer> sleeper = Background.call(() -> poll.poll(events, null));
        Await.until("the poll sleeps", () -> poll.waits() > before);
        assertThat(sleeper.isDone()).isFalse();

        source.setReadiness(Readiness.READABLE);

        assertThat(sleeper.result()).isEqualTo(1);
    }

    @Test
    @DisplayName("tip-11: zero does not wait, and still looks at the kernel")
    void zeroDoesNotWait() {
        Pipe pipe = pipe();
        poll.register(pipe.source(), TOKEN, Interest.READABLE, Trigger.LEVEL);
        long before = poll.waits();
        assertThat(poll.poll(events, Duration.ZERO)).isZero();
        assertThat(poll.waits() - before).isEqualTo(1);

        Bytes.write(pipe.sink(), 1);
        assertThat(poll.poll(events, Duration.ZERO)).isEqualTo(1);
    }

    @Test
    @DisplayName("tip-11: a timeout of any length is rounded up: the poll is never back early")
    void aPollIsNeverBackEarly() {
        for (long micros : new long[] {1, 50, 300, 999, 1_000, 1_001, 1_500, 2_999, 20_400}) {
            long start = System.nanoTime();
            assertThat(poll.poll(events, Duration.ofNanos(micros * 1_000))).isZero();
            assertThat(System.nanoTime() - start)
                    .as("a wait of " + micros + " µs")
                    .isGreaterThanOrEqualTo(micros * 1_000);
        }
    }

    @Test
    @DisplayName("tip-11: a wait of a nanosecond is no busy loop")
    void aShortWaitIsOneWait() {
        long before = poll.waits();
        poll.poll(events, Duration.ofNanos(1));
        poll.poll(events, Duration.ofNanos(999_999));
        assertThat(poll.waits() - before).isLessThanOrEqualTo(backend().patience(2));
    }

    @Test
    @DisplayName("tip-11: centuries are for ever, not an overflow")
    void aHugeTimeoutWaits() {
        Background<Integer> sleeper = Background.call(() -> poll.poll(events, Duration.ofSeconds(Long.MAX_VALUE)));
        Await.until("the poll sleeps", () -> poll.waits() > 0);
        assertThat(sleeper.isDone()).isFalse();
        poll.wake();
        assertThat(sleeper.result()).isZero();
    }

    @Test
    @DisplayName("mio-28: a poll clears the buffer first")
    void aPollClearsTheBuffer() {
        Registration source = closing(new Registration());
        poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE);
        source.setReadiness(Readiness.READABLE);
        assertThat(pollNow()).hasSize(1);
        assertThat(events.advance()).isTrue();

        poll.poll(events, NOW);

        assertThat(events.isEmpty()).isTrue();
        assertThat(events.advance()).isFalse();
        source.setReadiness(Readiness.READABLE);
        poll.poll(events, NOW);
        assertThat(events.advance()).as("the cursor is at the beginning again").isTrue();
        assertThat(events.token()).isEqualTo(TOKEN);
    }

    @Test
    @DisplayName("mio-28: what lies outside the interest does not end a wait")
    void aMaskedEdgeDoesNotEndTheWait() {
        SocketPair pair = socketPair();
        Registration software = closing(new Registration());
        poll.register(pair.left(), 1, Interest.NONE, Trigger.EDGE);
        poll.register(software, 2, Interest.READABLE, Trigger.EDGE);
        Duration timeout = Duration.ofMillis(100);
        long start = System.nanoTime();
        Background<Integer> sleeper = Background.call(() -> poll.poll(events, timeout));

        Bytes.write(pair.right(), 1);
        software.setReadiness(Readiness.WRITABLE);
        pair.right().close();

        assertThat(sleeper.result()).isZero();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(timeout.toNanos());
    }

    @Test
    @DisplayName("mio-28: neither does a control call, nor a clock that did not reach the timeout")
    void controlCallsDoNotEndTheWait() {
        ManualClock clock = new ManualClock();
        poll = open(builder().clock(clock));
        SocketPair pair = socketPair();
        Background<Integer> sleeper = Background.call(() -> poll.poll(events, Duration.ofSeconds(1)));
        Await.until("the poll sleeps", () -> poll.waits() > 0);

        poll.register(pair.left(), TOKEN, Interest.READABLE, Trigger.LEVEL);
        poll.reregister(pair.left(), TOKEN, Interest.READABLE, Trigger.EDGE);
        poll.deregister(pair.left());
        long before = poll.waits();
        clock.advance(Duration.ofNanos(999_999_999));
        Await.until("it looked at the clock and sleeps again", () -> poll.waits() > before);
        assertThat(sleeper.isDone()).isFalse();

        clock.advance(Duration.ofNanos(1));
        assertThat(sleeper.result()).isZero();
    }

    @Test
    @DisplayName("mio-29: interest NONE and a peer that closes cost no spinning")
    void aSilentSourceDoesNotSpin() {
        for (Trigger trigger : Trigger.values()) {
            SocketPair closed = socketPair();
            SocketPair reset = socketPair();
            Pipe pipe = pipe();
            poll.register(closed.left(), 1, Interest.NONE, trigger);
            poll.register(reset.left(), 2, Interest.NONE, trigger);
            poll.register(pipe.source(), 3, Interest.NONE, trigger);
            closed.right().close();
            reset.resetRight();
            pipe.sink().close();
            settle(); // three kernel events may come once each

            long before = poll.waits();
            assertThat(poll.poll(events, Duration.ofMillis(200))).isZero();

            assertThat(poll.waits() - before)
                    .as(trigger + ": waits in 200 ms")
                    .isLessThanOrEqualTo(backend().patience(2));
            poll.deregister(closed.left());
            poll.deregister(reset.left());
            poll.deregister(pipe.source());
        }
    }

    @Test
    @DisplayName("mio-29: a masked interest does not spin either, and comes to life by reregister")
    void aMaskedHangUpDoesNotSpin() {
        for (Trigger trigger : Trigger.values()) {
            SocketPair pair = socketPair();
            // Both directions are shut down: a hang-up, which an interest in urgent data does not include.
            pair.shutDownRight();
            shutDown(pair.left());
            poll.register(pair.left(), TOKEN, Interest.PRIORITY, trigger);

            for (int i = 0; i < 4; i++) {
                long before = poll.waits();
                assertThat(poll.poll(events, Duration.ofMillis(50))).isZero();
                assertThat(poll.waits() - before)
                        .as(trigger + ": waits, round " + i)
                        .isLessThanOrEqualTo(backend().patience(3));
                if (i == 1) {
                    // Registered again, the kernel reports it again.
                    poll.reregister(pair.left(), TOKEN, Interest.PRIORITY, trigger);
                }
            }

            poll.reregister(pair.left(), TOKEN, Interest.READABLE, trigger);
            awaitReadiness(TOKEN, Readiness.READABLE);
            poll.deregister(pair.left());
        }
    }

    private static void shutDown(io.millrace.net.TcpStream stream) {
        try {
            stream.shutdownOutput();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    @DisplayName("mio-29: an EDGE socket that nobody drains costs no spinning after its event")
    void anUndrainedEdgeDoesNotSpin() {
        SocketPair pair = socketPair();
        poll.register(pair.left(), TOKEN, Interest.READ_WRITE, Trigger.EDGE);
        Bytes.write(pair.right(), 1);
        pair.right().close();
        awaitReadiness(TOKEN, Readiness.READ_WRITE);
        settle();

        long before = poll.waits();
        assertThat(poll.poll(events, Duration.ofMillis(100))).isZero();
        assertThat(poll.waits() - before).isLessThanOrEqualTo(backend().patience(3));
    }

    @Test
    @DisplayName("An interrupted thread polls as any other, and stays interrupted")
    void anInterruptedThreadWaits() {
        Background<Boolean> interrupted = Background.call(() -> {
            Thread.currentThread().interrupt();
            long start = System.nanoTime();
            assertThat(poll.poll(events, Duration.ofMillis(100))).isZero();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(100_000_000);
            return Thread.currentThread().isInterrupted();
        });
        assertThat(interrupted.result()).isTrue();
        assertThat(poll.waits()).isLessThanOrEqualTo(backend().patience(2));
    }

    @Test
    @DisplayName("An interrupt during the wait does not end it")
    void anInterruptDoesNotEndTheWait() {
        Registration source = closing(new Registration());
        poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE);
        Background<List<Event>> sleeper = Background.call(() -> poll(SOON));
        Await.until("the poll sleeps", () -> poll.waits() > 0);
        sleeper.thread().interrupt();

        source.setReadiness(Readiness.READABLE);

        assertThat(sleeper.result()).hasSize(1);
        assertThat(poll.waits()).isLessThanOrEqualTo(backend().patience(4));
    }

    // ---- Waking ----

    @Test
    @DisplayName("tip-5: wake ends the poll under way, which returns empty")
    void wakeEndsThePoll() {
        Background<Integer> sleeper = Background.call(() -> poll.poll(events));
        Await.until("the poll sleeps", () -> poll.waits() > 0);

        poll.wake();

        assertThat(sleeper.result()).isZero();
    }

    @Test
    @DisplayName("tip-5: wakes before a poll count as one, and the poll after it waits again")
    void wakesCoalesce() {
        for (int i = 0; i < 100; i++) {
            poll.wake();
        }
        assertThat(poll.poll(events)).as("a poll for ever").isZero();
        assertThat(poll.wakes()).as("nobody slept, so nobody was woken").isZero();

        long start = System.nanoTime();
        assertThat(poll.poll(events, Duration.ofMillis(30))).isZero();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(30_000_000);
    }

    @Test
    @DisplayName("tip-5: wakes of a sleeping poll coalesce into at most one system call a wait")
    void wakesOfASleeperCoalesce() {
        for (int round = 1; round <= 50; round++) {
            long waits = poll.waits();
            Background<Integer> sleeper = Background.call(() -> poll.poll(events));
            Await.until("the poll sleeps", () -> poll.waits() > waits);
            for (int i = 0; i < 100; i++) {
                poll.wake();
            }
            assertThat(sleeper.result()).isZero();
            // A wake that came after the poll was back counts for the next one.
            poll.poll(events, NOW);
            assertThat(poll.wakes()).isLessThanOrEqualTo(round);
        }
    }

    @Test
    @DisplayName("tip-5: a wake-up wakes its target and nobody else")
    void wakeWakesOnlyItsTarget() {
        Poll other = open(builder());
        io.millrace.poll.Events others = io.millrace.poll.Events.withCapacity(1);
        Background<Integer> sleeper = Background.call(() -> poll.poll(events));
        Background<Integer> bystander = Background.call(() -> other.poll(others));
        Await.until("both sleep", () -> poll.waits() > 0 && other.waits() > 0);

        poll.wake();
        assertThat(sleeper.result()).isZero();

        assertThat(bystander.isDone()).isFalse();
        assertThat(other.wakes()).isZero();
        other.wake();
        assertThat(bystander.result()).isZero();
        assertThat(other.wakes()).isLessThanOrEqualTo(1);
    }

    @Test
    @DisplayName("mio-15: ten thousand sends to a poll that does not sleep make no system call")
    void aBusyPollIsNotWoken() {
        Channel<Integer> channel = closing(Channel.unbounded());
        poll.register(channel, TOKEN, Interest.READABLE, Trigger.EDGE);

        Background.run(() -> {
                    for (int i = 0; i < 10_000; i++) {
                        channel.send(i);
                    }
                })
                .result();

        assertThat(poll.wakes()).isZero();
        assertThat(tokens(pollNow())).containsExactly(TOKEN);
    }

    @Test
    @DisplayName("mio-15: ten thousand sends to a sleeping poll are at most one wake-up")
    void aBurstIsOneWakeUp() throws Exception {
        Channel<Integer> channel = closing(Channel.unbounded());
        Registration source = closing(new Registration());
        poll.register(channel, TOKEN, Interest.READABLE, Trigger.LEVEL);
        poll.register(source, TOKEN + 1, Interest.READABLE, Trigger.LEVEL);
        CountDownLatch sent = new CountDownLatch(1);
        Background<Boolean> handler = Background.run(() -> {
            poll.poll(events);
            sent.await(); // busy with the first event
        });
        Await.until("the poll sleeps", () -> poll.waits() > 0);

        for (int i = 0; i < 10_000; i++) {
            channel.send(i);
            source.setReadiness(Readiness.READABLE);
        }
        sent.countDown();
        handler.result();

        assertThat(poll.wakes()).isLessThanOrEqualTo(1);
    }

    @Test
    @DisplayName("mio-15: a poll that has slept and is awake again is not woken")
    void aPollThatHasSleptIsNotWoken() {
        Registration source = new Registration();
        poll.register(source, 1, Interest.READABLE, Trigger.LEVEL);
        assertThat(poll(Duration.ofMillis(1)))
                .as("it slept, and nobody woke it")
                .isEmpty();
        assertThat(poll.wakes()).isZero();

        Background.run(() -> source.setReadiness(Readiness.READABLE)).result();

        assertThat(poll.wakes()).isZero();
        assertThat(pollNow()).hasSize(1);
    }

    @Test
    @DisplayName("mio-15: a set by another thread always wakes a poll that sleeps or is about to")
    void noWakeUpIsLost() {
        Registration source = closing(new Registration());
        poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE);
        int rounds = 10_000;
        long seed = System.nanoTime();
        AtomicInteger seen = new AtomicInteger();
        Background<Boolean> setter = Background.run(() -> {
            Random random = new Random(seed);
            for (int i = 0; i < rounds; i++) {
                source.setReadiness(Readiness.READABLE);
                int round = i;
                Await.spinUntil("the poll has seen it", () -> seen.get() > round);
                // At any moment of the next poll: before it checks, between its check and its sleep, while it sleeps.
                Await.spin(random.nextInt(i % 4 == 0 ? 200 : 10));
            }
        });
        for (int i = 0; i < rounds; i++) {
            assertThat(pollSoon(events)).as("round " + i + ", seed " + seed).isEqualTo(1);
            seen.incrementAndGet();
        }
        setter.result();
        assertThat(poll.wakes()).isBetween(1L, (long) rounds);
    }

    @Test
    @DisplayName("mio-15: pending software events make the kernel's wait a look, not a wait")
    void pendingSoftwareDoesNotWaitForTheKernel() {
        Registration source = closing(new Registration());
        Pipe pipe = pipe();
        poll.register(source, TOKEN, Interest.READABLE, Trigger.LEVEL);
        poll.register(pipe.source(), TOKEN + 1, Interest.READABLE, Trigger.LEVEL);
        source.setReadiness(Readiness.READABLE);
        Bytes.write(pipe.sink(), 1);

        assertThat(poll(null)).extracting(Event::token).contains(TOKEN);
        assertThat(poll.wakes()).isZero();
        awaitReadiness(TOKEN + 1, Readiness.READABLE);
    }
}
