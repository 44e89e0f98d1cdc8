package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.millrace.net.Net;
import io.millrace.net.Pipe;
import io.millrace.poll.Channel;
import io.millrace.poll.ClosedPollException;
import io.millrace.poll.Event;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.ManualClock;
import io.millrace.poll.Poll;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Sender;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Wrong input gets a clear exception, and nothing else changes: after each test the poll still works. */
@DisplayName("Bad input")
@SuppressWarnings("NullAway") // nulls are passed on purpose
public abstract class BadInputContract extends PollContract {
    private static final long TOKEN = 1;

    private final Registration source = new Registration();
    private boolean closedOnPurpose;

    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected BadInputContract(TestedBackend backend) {
        super(backend);
    }

    /** Runs before the sources of the test are closed. */
    @AfterEach
    void thePollStillWorks() throws IOException {
        if (closedOnPurpose) {
            return;
        }
        int size = poll.size();
        try (Pipe pipe = net().pipe()) {
            Registration software = new Registration();
            poll.register(software, 1_001, Interest.READABLE, Trigger.EDGE);
            poll.register(pipe.source(), 1_002, Interest.READABLE, Trigger.EDGE);
            software.setReadiness(Readiness.READABLE);
            Bytes.write(pipe.sink(), 1);
            awaitReadiness(1_002, Readiness.READABLE);
            poll.deregister(software);
            poll.deregister(pipe.source());
        }
        assertThat(poll.size()).isEqualTo(size);
    }

    @Test
    @DisplayName("Every method of a closed poll says that it is closed, and what to do")
    void aClosedPollSaysSo() {
        closedOnPurpose = true;
        Pipe pipe = pipe();
        Registration registered = closing(new Registration());
        poll.register(registered, TOKEN, Interest.READABLE, Trigger.LEVEL);
        poll.close();

        Map<String, ThrowingCallable> calls = new LinkedHashMap<>();
        calls.put("poll for ever", () -> poll.poll(events));
        calls.put("poll", () -> poll.poll(events, NOW));
        calls.put("run", () -> poll.run((self, token, kind) -> {}));
        calls.put("runOnce", () -> poll.runOnce((self, token, kind) -> {}, events, NOW));
        calls.put("register", () -> poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE));
        calls.put("register a pipe", () -> poll.register(pipe.source(), TOKEN, Interest.READABLE, Trigger.EDGE));
        calls.put("reregister", () -> poll.reregister(registered, TOKEN, Interest.READABLE, Trigger.EDGE));
        calls.put("deregister", () -> poll.deregister(registered));
        calls.put("update", () -> registered.update(Interest.READABLE, Trigger.EDGE));
        calls.forEach((name, call) -> assertThatExceptionOfType(ClosedPollException.class)
                .as(name)
                .isThrownBy(call)
                .withMessageContaining("the poll is closed")
                .withMessageContaining("Poll.open()"));

        poll.wake();
        poll.stop();
        poll.close();
        assertThat(poll.size()).isZero();
        assertThat(poll.backend()).isEqualTo(backend().name());
        assertThat(poll.report().chosen()).isEqualTo(backend().name());
        assertThat(poll.toString()).contains("closed");
        assertThat(poll.waits()).isNotNegative();
        assertThat(poll.wakes()).isNotNegative();
    }

    @Test
    @DisplayName("A second thread that polls is refused by name of the first, which goes on")
    void twoThreadsCannotPoll() {
        poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE);
        Background<List<Event>> first = Background.call(() -> poll(SOON));
        Await.until("the first one sleeps", () -> poll.waits() > 0);
        Events other = Events.withCapacity(4);

        for (Duration timeout : new Duration[] {NOW, Duration.ofSeconds(1), null}) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> poll.poll(other, timeout))
                    .withMessageContaining("testkit-background")
                    .withMessageContaining("one thread at a time");
        }

        assertThat(first.isDone()).isFalse();
        source.setReadiness(Readiness.READABLE);
        assertThat(first.result()).containsExactly(new Event(TOKEN, Readiness.READABLE));
    }

    @Test
    @DisplayName("A virtual thread may look but not wait, and is told where to wait")
    void aVirtualThreadCannotWait() throws InterruptedException {
        poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE);
        source.setReadiness(Readiness.READABLE);
        Throwable[] thrown = new Throwable[1];
        Thread virtual = Thread.ofVirtual().start(() -> {
            try {
                for (Duration timeout : new Duration[] {null, Duration.ofNanos(1), SOON}) {
                    assertThatIllegalStateException()
                            .isThrownBy(() -> poll.poll(events, timeout))
                            .withMessageContaining("virtual thread")
                            .withMessageContaining("platform thread");
                }
                assertThat(poll.poll(events, NOW)).as("nothing was consumed").isEqualTo(1);
            } catch (Throwable t) {
                thrown[0] = t;
            }
        });
        assertThat(virtual.join(Await.DEADLINE)).isTrue();
        assertThat(thrown[0]).isNull();
    }

    @Test
    @DisplayName("A timeout is not negative")
    void aNegativeTimeout() {
        poll.register(source, TOKEN, Interest.READABLE, Trigger.EDGE);
        source.setReadiness(Readiness.READABLE);
        for (Duration timeout : List.of(Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> poll.poll(events, timeout))
                    .withMessageContaining("not negative")
                    .withMessageContaining("null waits for ever");
        }
        assertThat(pollNow()).as("nothing was consumed").hasSize(1);
    }

    @Test
    @DisplayName("Capacities and ticks are positive and not absurd")
    void capacitiesAndTicks() {
        for (int capacity : new int[] {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Events.withCapacity(capacity))
                    .withMessageContaining("capacity")
                    .withMessageContaining("not " + capacity);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Channel.bounded(capacity))
                    .withMessageContaining("capacity")
                    .withMessageContaining("not " + capacity);
        }
        for (int size : new int[] {0, -1, Integer.MIN_VALUE}) {
            assertThatIllegalArgumentException()
                    .as("capacity")
                    .isThrownBy(() -> Timer.builder().capacity(size).build());
            assertThatIllegalArgumentException()
                    .as("slots")
                    .isThrownBy(() -> Timer.builder().slots(size).build());
        }
        for (Duration tick : List.of(Duration.ZERO, Duration.ofNanos(-1))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Timer.withTick(tick))
                    .withMessageContaining("tick");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> builder().tick(tick))
                    .withMessageContaining("tick");
        }
    }

    @Test
    @DisplayName("Null is refused at once by every parameter but the timeout")
    void nullIsRefused() {
        Registration registered = closing(new Registration());
        poll.register(registered, TOKEN, Interest.READABLE, Trigger.EDGE);
        Channel<String> channel = closing(Channel.unbounded());
        Sender<String> sender = channel.sender();
        Timer<String> timer = closing(Timer.create());
        Map<String, ThrowingCallable> calls = new LinkedHashMap<>();
        calls.put("register source", () -> poll.register(null, 2, Interest.READABLE, Trigger.EDGE));
        calls.put("register handle", () -> poll.register(() -> null, 2, Interest.READABLE, Trigger.EDGE));
        calls.put("register interest", () -> poll.register(source, 2, null, Trigger.EDGE));
        calls.put("register trigger", () -> poll.register(source, 2, Interest.READABLE, null));
        calls.put("reregister source", () -> poll.reregister(null, 2, Interest.READABLE, Trigger.EDGE));
        calls.put("reregister interest", () -> poll.reregister(registered, 2, null, Trigger.EDGE));
        calls.put("reregister trigger", () -> poll.reregister(registered, 2, Interest.READABLE, null));
        calls.put("deregister", () -> poll.deregister(null));
        calls.put("poll", () -> poll.poll(null));
        calls.put("poll with a timeout", () -> poll.poll(null, NOW));
        calls.put("run", () -> poll.run(null));
        calls.put("runOnce handler", () -> poll.runOnce(null, events, NOW));
        calls.put("runOnce events", () -> poll.runOnce((self, token, kind) -> {}, null, NOW));
        calls.put("backend", () -> Poll.builder().backend(null));
        calls.put("clock", () -> Poll.builder().clock(null));
        calls.put("tick", () -> Poll.builder().tick(null));
        calls.put("set", () -> source.setReadiness(null));
        calls.put("unset", () -> source.unsetReadiness(null));
        calls.put("replace", () -> source.replaceReadiness(null));
        calls.put("delay readiness", () -> registered.delayReadiness(null, NOW));
        calls.put("delay", () -> registered.delayReadiness(Readiness.READABLE, null));
        calls.put("update interest", () -> registered.update(null, Trigger.EDGE));
        calls.put("update trigger", () -> registered.update(Interest.READABLE, null));
        calls.put("send", () -> channel.send(null));
        calls.put("sender's send", () -> sender.send(null));
        calls.put("over", () -> Channel.over((Queue<String>) null));
        calls.put("timer's delay", () -> timer.set(null, "value"));
        calls.put("timer's value", () -> timer.set(NOW, null));
        calls.put("timer's reset", () -> timer.reset(timer.set(NOW, "value"), null));
        calls.put("timer's tick", () -> Timer.withTick(null));
        calls.put("timer's clock", () -> Timer.builder().clock(null));
        calls.forEach((name, call) -> assertThatNullPointerException().as(name).isThrownBy(call));

        assertThat(poll.size()).isEqualTo(1);
        registered.setReadiness(Readiness.READABLE);
        assertThat(pollNow()).as("unchanged").containsExactly(new Event(TOKEN, Readiness.READABLE));
        assertThat(pollNow()).isEmpty();
        assertThat(channel.size()).isZero();
    }

    @Test
    @DisplayName("A source of the other family is refused, with the remedy")
    void theOtherFamily() throws IOException {
        Net other = backend().name().equals("nio") ? Net.natively() : Net.nio();
        Pipe foreign = closing(other.pipe());

        assertThatIllegalArgumentException()
                .isThrownBy(() -> poll.register(foreign.source(), TOKEN, Interest.READABLE, Trigger.EDGE))
                .withMessageContaining("the backend " + backend().name() + " takes")
                .withMessageContaining("Net.of(poll)");

        assertThat(poll.size()).isZero();
        Poll home = closing(Poll.builder()
                .backend(backend().name().equals("nio") ? "poll" : "nio")
                .open());
        home.register(foreign.source(), TOKEN, Interest.READABLE, Trigger.EDGE);
        Bytes.write(foreign.sink(), 1);
        assertThat(home.poll(events, SOON)).as("the source is as good as new").isEqualTo(1);
    }

    @Test
    @DisplayName("A timer with another clock is refused, with the remedy")
    void aTimerOfAnotherClock() {
        Timer<String> timer = closing(Timer.builder().clock(new ManualClock()).build());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> poll.register(timer, TOKEN, Interest.READABLE, Trigger.EDGE))
                .withMessageContaining("same clock");
        assertThat(poll.size()).isZero();
    }

    @Test
    @DisplayName("A channel begins with an empty queue")
    void aQueueThatIsNotEmpty() {
        Queue<String> queue = new ArrayDeque<>(List.of("already here"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Channel.over(queue))
                .withMessageContaining("empty queue");
    }

    @Test
    @DisplayName("A clock does not run backwards")
    void aClockDoesNotRunBackwards() {
        ManualClock clock = new ManualClock();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> clock.advance(Duration.ofNanos(-1)))
                .withMessageContaining("backwards");
        assertThat(clock.nanoTime()).isZero();
    }

    @Test
    @DisplayName("An unknown key cancels nothing")
    void unknownKeys() {
        Timer<String> timer = closing(Timer.create());
        long real = timer.set(Duration.ofSeconds(1_000), "stays");
        for (long key :
                new long[] {-1, 0, 1, Long.MAX_VALUE, Long.MIN_VALUE, 12_345_678_901L, ~real, real + (1L << 32)}) {
            if (key != real) {
                assertThat(timer.cancel(key)).as("key " + key).isNull();
                assertThat(timer.reset(key, Duration.ZERO)).as("key " + key).isFalse();
            }
        }
        assertThat(timer.size()).isEqualTo(1);
        assertThat(timer.poll()).isNull();
    }

    @Test
    @DisplayName("An event buffer that no poll has filled is empty")
    void aFreshBufferIsEmpty() {
        Events fresh = Events.withCapacity(3);
        assertThat(fresh.capacity()).isEqualTo(3);
        assertThat(fresh.isEmpty()).isTrue();
        assertThat(fresh.advance()).isFalse();
        assertThat(read(fresh)).isEmpty();
    }
}
