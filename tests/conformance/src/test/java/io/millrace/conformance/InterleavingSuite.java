package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventLoop;
import io.millrace.engine.Priority;
import io.millrace.net.Pipe;
import io.millrace.poll.Event;
import io.millrace.poll.Interest;
import io.millrace.poll.ManualClock;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Trigger;
import io.millrace.testkit.Await;
import io.millrace.testkit.Background;
import io.millrace.testkit.Bytes;
import io.millrace.testkit.PollContract;
import io.millrace.testkit.SocketPair;
import io.millrace.testkit.TestedBackend;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What another thread does between the kernel's answer and the poll's look at it, or between the decision to sleep and the sleep. */
abstract class InterleavingSuite extends PollContract {
    private static final long OLD = 1;
    private static final long NEW = 2;

    InterleavingSuite(String backend) {
        super(TestedBackend.named(HookedProvider.nameFor(backend)));
    }

    /** A socket with a byte to read, registered for it by LEVEL. */
    private SocketPair readable() {
        SocketPair pair = socketPair();
        poll.register(pair.left(), OLD, Interest.READABLE, Trigger.LEVEL);
        Bytes.write(pair.right(), 1);
        awaitReadiness(OLD, Readiness.READABLE);
        return pair;
    }

    @Test
    @DisplayName("mio-4, mio-7: a LEVEL socket whose interest changes under an event stays LEVEL")
    void aStaleEventDoesNotChangeTheTrigger() {
        SocketPair pair = readable();
        HookedProvider.afterEvents(() -> poll.reregister(pair.left(), NEW, Interest.WRITABLE, Trigger.LEVEL));

        for (int i = 0; i < 5; i++) {
            assertThat(poll(Duration.ofSeconds(1))).as("poll " + i).containsExactly(new Event(NEW, Readiness.WRITABLE));
        }
    }

    @Test
    @DisplayName("mio-9: an event of the old interest is not reported under the new one")
    void aStaleEventIsMasked() {
        SocketPair pair = readable();
        Bytes.fill(pair.left());
        HookedProvider.afterEvents(() -> poll.reregister(pair.left(), NEW, Interest.WRITABLE, Trigger.LEVEL));

        assertThat(pollNow()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = Trigger.class,
            names = {"EDGE", "ONESHOT"})
    @DisplayName("mio-8, mio-26: an event that comes before reregister has returned is reported, under the new terms")
    void anEventInTheMidstOfReregister(Trigger trigger) {
        SocketPair pair = socketPair();
        poll.register(pair.left(), OLD, Interest.NONE, trigger);
        List<Event> seen = new ArrayList<>();
        HookedProvider.afterModify(() -> seen.addAll(poll(Duration.ofSeconds(1))));

        poll.reregister(pair.left(), NEW, Interest.WRITABLE, trigger);

        assertThat(seen).containsExactly(new Event(NEW, Readiness.WRITABLE));
    }

    @Test
    @DisplayName("mio-10: a source deregistered after the kernel reported it is not reported")
    void deregisteredUnderAnEvent() {
        SocketPair pair = readable();
        HookedProvider.afterEvents(() -> poll.deregister(pair.left()));

        assertThat(pollNow()).isEmpty();
    }

    @Test
    @DisplayName("mio-11: a source closed after the kernel reported it is not reported, nor is the slot's next owner")
    void closedUnderAnEvent() {
        SocketPair pair = readable();
        SocketPair other = socketPair();
        HookedProvider.afterEvents(() -> {
            pair.left().close();
            poll.register(other.left(), NEW, Interest.READABLE, Trigger.LEVEL);
        });

        assertThat(pollNow()).isEmpty();
        Bytes.write(other.right(), 1);
        awaitReadiness(NEW, Readiness.READABLE);
    }

    @Test
    @DisplayName("mio-10: a pipe's number that is used again after the kernel reported it gets no stale event")
    void reusedUnderAnEvent() {
        Pipe first = pipe();
        Bytes.write(first.sink(), 1);
        poll.register(first.source(), OLD, Interest.READABLE, Trigger.EDGE);
        HookedProvider.afterEvents(() -> {
            first.source().close();
            poll.register(pipe().source(), NEW, Interest.READABLE, Trigger.EDGE);
        });

        assertThat(pollNow()).isEmpty();
    }

    @Test
    @DisplayName("mio-15: readiness that is set when the poll has decided to sleep wakes it")
    void setBeforeTheSleep() {
        Registration source = new Registration();
        poll.register(source, OLD, Interest.READABLE, Trigger.EDGE);
        HookedProvider.beforeSleep(() -> source.setReadiness(Readiness.READABLE));

        assertThat(pollOnAnotherThread()).containsExactly(new Event(OLD, Readiness.READABLE));
        assertThat(poll.wakes()).isEqualTo(1);
    }

    @Test
    @DisplayName("mio-26: a control call when the poll has decided to sleep reaches it")
    void registeredBeforeTheSleep() {
        Registration source = new Registration();
        source.setReadiness(Readiness.READABLE);
        HookedProvider.beforeSleep(() -> poll.register(source, OLD, Interest.READABLE, Trigger.EDGE));

        assertThat(pollOnAnotherThread()).containsExactly(new Event(OLD, Readiness.READABLE));
    }

    @Test
    @DisplayName("tip-5: a wake when the poll has decided to sleep ends it")
    void wokenBeforeTheSleep() {
        HookedProvider.beforeSleep(() -> poll.wake());

        assertThat(pollOnAnotherThread()).isEmpty();
    }

    @Test
    @DisplayName("mio-28: a wake-up for nothing does not end the poll")
    void wokenForNothing() {
        Registration source = new Registration();
        poll.register(source, OLD, Interest.READABLE, Trigger.EDGE);
        long start = System.nanoTime();
        HookedProvider.beforeSleep(() -> source.setReadiness(Readiness.WRITABLE));

        assertThat(poll(Duration.ofMillis(50))).isEmpty();
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(50_000_000);
    }

    @Test
    @DisplayName("tip-11, mio-28: after a wake-up for nothing the rest of the timeout is waited for, and no more")
    void theRestOfTheTimeout() {
        ManualClock clock = new ManualClock();
        poll = open(builder().clock(clock));
        List<Long> asked = new ArrayList<>();
        HookedProvider.beforeSleep(() -> {
            asked.add(HookedProvider.timeoutNanos());
            HookedProvider.beforeSleep(() -> {
                asked.add(HookedProvider.timeoutNanos());
                clock.advance(Duration.ofSeconds(40));
            });
            clock.advance(Duration.ofSeconds(60));
        });

        assertThat(Background.call(() -> poll(Duration.ofSeconds(100))).result())
                .isEmpty();
        assertThat(asked).containsExactly(100_000_000_000L, 40_000_000_000L);
    }

    @ParameterizedTest
    @EnumSource(Trigger.class)
    @DisplayName("mio-27: a reregister that the system refuses changes nothing")
    void aRefusedReregister(Trigger trigger) {
        SocketPair pair = socketPair();
        poll.register(pair.left(), OLD, Interest.READABLE, trigger);
        HookedProvider.refuseModify();

        assertThatThrownBy(() -> poll.reregister(pair.left(), NEW, Interest.WRITABLE, trigger))
                .isInstanceOf(UncheckedIOException.class);

        Bytes.write(pair.right(), 1);
        assertThat(poll(Duration.ofSeconds(10))).containsExactly(new Event(OLD, Readiness.READABLE));
        poll.reregister(pair.left(), NEW, Interest.WRITABLE, trigger);
        assertThat(poll(Duration.ofSeconds(10))).containsExactly(new Event(NEW, Readiness.WRITABLE));
    }

    @Test
    @DisplayName("mio-27, mill-1: nor does it in an event loop, whose handler is called by the old interest")
    void aRefusedReregisterInALoop() {
        try (EventLoop loop = EventLoop.builder()
                .backend(backend().name())
                .dispatch(Dispatch.LOOP)
                .workers(1)
                .withoutWatchdog()
                .open()) {
            SocketPair pair = socketPair();
            List<Readiness> seen = new ArrayList<>();
            loop.register(
                    pair.left(),
                    OLD,
                    Interest.READABLE,
                    Trigger.LEVEL,
                    Priority.NORMAL,
                    (l, token, ready) -> seen.add(ready));
            HookedProvider.refuseModify();
            assertThatThrownBy(() -> loop.reregister(OLD, Interest.WRITABLE, Trigger.LEVEL))
                    .isInstanceOf(UncheckedIOException.class);

            Bytes.write(pair.right(), 1);
            Await.until("the handler is called", () -> {
                loop.runOnce(Duration.ofMillis(10));
                return !seen.isEmpty();
            });
            assertThat(seen.getFirst()).isEqualTo(Readiness.READABLE);
        }
    }

    /** A lost wake-up would hang the test's own thread. */
    private List<Event> pollOnAnotherThread() {
        return Background.call(() -> poll(null)).result();
    }
}
