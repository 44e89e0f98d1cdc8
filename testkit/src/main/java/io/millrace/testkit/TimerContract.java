package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Event;
import io.millrace.poll.Interest;
import io.millrace.poll.ManualClock;
import io.millrace.poll.Readiness;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Timeouts with values, on a clock that the test moves. */
@DisplayName("Timer")
public abstract class TimerContract extends PollContract {
    private static final long TOKEN = 4;
    private static final Duration TICK = Duration.ofMillis(100);

    private final ManualClock clock =
            new ManualClock(Long.MAX_VALUE - Duration.ofHours(1).toNanos());
    private Timer<String> timer;

    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected TimerContract(TestedBackend backend) {
        super(backend);
    }

    @BeforeEach
    void openOnTheManualClock() {
        poll = open(builder().clock(clock));
        timer = closing(Timer.builder().clock(clock).build());
    }

    private void registerTimer(Trigger trigger) {
        poll.register(timer, TOKEN, Interest.READABLE, trigger);
    }

    @Test
    @DisplayName("mio-23: a timeout is never early and at most one tick late")
    void neverEarlyAndAtMostOneTickLate() {
        registerTimer(Trigger.LEVEL);
        for (long millis : new long[] {1, 50, 99, 100, 101, 149, 150, 151, 999, 25_600, 25_601, 3_600_000}) {
            Duration delay = Duration.ofMillis(millis);
            clock.advance(Duration.ofMillis(37)); // off the grid of ticks
            timer.set(delay, "due");

            clock.advance(delay.minusNanos(1));
            assertThat(pollNow()).as("a nanosecond before " + delay).isEmpty();
            assertThat(timer.poll()).isNull();

            clock.advance(TICK.plusNanos(1));
            assertThat(pollNow()).as("one tick after " + delay).containsExactly(new Event(TOKEN, Readiness.READABLE));
            assertThat(timer.poll()).isEqualTo("due");
            assertThat(pollNow()).isEmpty();
        }
    }

    @Test
    @DisplayName("mio-23: a deadline on a tick is kept to the nanosecond")
    void aDeadlineOnATickIsExact() {
        Timer<String> exact =
                closing(Timer.builder().clock(clock).tick(Duration.ofNanos(1)).build());
        poll.register(exact, TOKEN, Interest.READABLE, Trigger.EDGE);
        exact.set(Duration.ofSeconds(1), "due");

        clock.advance(Duration.ofSeconds(1).minusNanos(1));
        assertThat(pollNow()).isEmpty();
        assertThat(exact.poll()).isNull();

        clock.advance(Duration.ofNanos(1));
        assertThat(pollNow()).hasSize(1);
        assertThat(exact.poll()).isEqualTo("due");
    }

    @Test
    @DisplayName("mio-23: both bounds hold for any delay, tick and size of the wheel")
    void theBoundsHoldForRandomDelays() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int round = 0; round < 20; round++) {
            long tick = random.nextLong(1, 1_000_000);
            Timer<Long> anyTimer = Timer.builder()
                    .clock(clock)
                    .tick(Duration.ofNanos(tick))
                    .slots(1 << random.nextInt(1, 9))
                    .build();
            List<Long> pending = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                long delay = random.nextLong(tick * 2_000);
                pending.add(clock.nanoTime() + delay);
                anyTimer.set(Duration.ofNanos(delay), clock.nanoTime() + delay);
            }
            while (!pending.isEmpty()) {
                clock.advance(Duration.ofNanos(random.nextLong(tick * 30) + 1));
                long now = clock.nanoTime();
                for (Long due = anyTimer.poll(); due != null; due = anyTimer.poll()) {
                    assertThat(now - due).as("early by, seed " + seed).isNotNegative();
                    pending.remove(due);
                }
                for (long due : pending) {
                    assertThat(now - due).as("late by, seed " + seed).isLessThan(tick);
                }
            }
            anyTimer.close();
        }
    }

    @Test
    @DisplayName("mio-23: the poll waits until exactly the earliest deadline")
    void thePollWaitsForTheEarliestDeadline() {
        registerTimer(Trigger.EDGE);
        timer.set(Duration.ofSeconds(30), "later");
        timer.set(Duration.ofSeconds(10), "sooner");
        Background<List<Event>> sleeper = Background.call(() -> poll(null));
        Await.until("the poll sleeps", () -> poll.waits() > 0);

        long before = poll.waits();
        clock.advance(Duration.ofSeconds(10).minusNanos(1));
        Await.until("it looked, and sleeps again", () -> poll.waits() > before);
        assertThat(sleeper.isDone()).isFalse();
        clock.advance(TICK);

        assertThat(sleeper.result()).containsExactly(new Event(TOKEN, Readiness.READABLE));
        assertThat(timer.poll()).isEqualTo("sooner");
        assertThat(timer.poll()).isNull();
    }

    @Test
    @DisplayName("mio-23: a timer registered while the poll sleeps is waited for")
    void aTimerRegisteredDuringTheWaitIsWaitedFor() {
        timer.set(Duration.ofSeconds(1), "due");
        Background<List<Event>> sleeper = Background.call(() -> poll(null));
        Await.until("the poll sleeps", () -> poll.waits() > 0);
        long before = poll.waits();

        registerTimer(Trigger.EDGE);
        Await.until("the poll knows of the timer", () -> poll.waits() > before);
        clock.advance(Duration.ofSeconds(1).plus(TICK));

        assertThat(sleeper.result()).containsExactly(new Event(TOKEN, Readiness.READABLE));
    }

    @Test
    @DisplayName("mio-23: equal deadlines come in the order they were set, different ones by time")
    void valuesComeInOrder() {
        registerTimer(Trigger.EDGE);
        timer.set(Duration.ofSeconds(2), "d");
        timer.set(Duration.ofSeconds(1), "a");
        timer.set(Duration.ofSeconds(1), "b");
        timer.set(Duration.ofSeconds(1), "c");

        clock.advance(Duration.ofSeconds(3));

        assertThat(pollNow()).as("one event for all").hasSize(1);
        assertThat(drain()).containsExactly("a", "b", "c", "d");
    }

    private List<String> drain() {
        List<String> values = new ArrayList<>();
        for (String value = timer.poll(); value != null; value = timer.poll()) {
            values.add(value);
        }
        return values;
    }

    @Test
    @DisplayName("mio-23: cancel returns the value once, and nothing after the timeout was polled")
    void cancelReturnsTheValue() {
        registerTimer(Trigger.LEVEL);
        long key = timer.set(Duration.ofSeconds(1), "value");
        assertThat(timer.cancel(key)).isEqualTo("value");
        assertThat(timer.cancel(key)).isNull();
        clock.advance(Duration.ofSeconds(2));
        assertThat(pollNow()).isEmpty();

        long due = timer.set(Duration.ofSeconds(1), "due");
        clock.advance(Duration.ofSeconds(2));
        assertThat(pollNow()).hasSize(1);
        assertThat(timer.cancel(due)).as("due, but not polled").isEqualTo("due");
        assertThat(pollNow()).as("nothing is due any more").isEmpty();
        assertThat(timer.size()).isZero();
    }

    @Test
    @DisplayName("mio-23: a key of a timeout that has fired does not hit the slot's next owner")
    void anOldKeyHitsNobody() {
        List<Long> old = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            old.add(timer.set(Duration.ofMillis(1), "old"));
            clock.advance(TICK.multipliedBy(2));
            assertThat(timer.poll()).isEqualTo("old");
        }
        timer.set(Duration.ofSeconds(1), "new");

        for (long key : old) {
            assertThat(timer.cancel(key)).isNull();
            assertThat(timer.reset(key, Duration.ZERO)).isFalse();
        }

        assertThat(timer.size()).isEqualTo(1);
        clock.advance(Duration.ofSeconds(2));
        assertThat(timer.poll()).isEqualTo("new");
    }

    @Test
    @DisplayName("mio-23: a huge delay saturates, and never fires")
    void aHugeDelaySaturates() {
        registerTimer(Trigger.EDGE);
        long key = timer.set(Duration.ofSeconds(Long.MAX_VALUE), "never");
        timer.set(Duration.ofDays(365_000), "never either");

        clock.advance(Duration.ofDays(10_000));

        assertThat(pollNow()).isEmpty();
        assertThat(timer.cancel(key)).isEqualTo("never");
        assertThat(timer.size()).isEqualTo(1);
    }

    @Test
    @DisplayName("mio-23: a full timer refuses and nothing is changed")
    void aFullTimerRefuses() {
        Timer<String> small = closing(Timer.builder().clock(clock).capacity(2).build());
        poll.register(small, TOKEN, Interest.READABLE, Trigger.EDGE);
        small.set(Duration.ofSeconds(1), "a");
        small.set(Duration.ofSeconds(1), "b");

        assertThatIllegalStateException().isThrownBy(() -> small.set(Duration.ofSeconds(1), "c"));

        assertThat(small.size()).isEqualTo(2);
        clock.advance(Duration.ofSeconds(2));
        assertThat(pollNow()).hasSize(1);
        assertThat(small.poll()).isEqualTo("a");
        assertThat(small.set(Duration.ofSeconds(1), "c"))
                .as("there is room again")
                .isNotNegative();
        assertThat(small.poll()).isEqualTo("b");
        assertThat(small.poll()).isNull();
    }

    @Test
    @DisplayName("mio-23: a timeout that is moved fires at its new deadline only")
    void aTimeoutCanBeMoved() {
        registerTimer(Trigger.LEVEL);
        long later = timer.set(Duration.ofSeconds(1), "later");
        long sooner = timer.set(Duration.ofSeconds(60), "sooner");
        assertThat(timer.reset(later, Duration.ofSeconds(20))).isTrue();
        assertThat(timer.reset(sooner, Duration.ofSeconds(5))).isTrue();

        clock.advance(Duration.ofSeconds(5).minusNanos(1));
        assertThat(pollNow()).isEmpty();
        clock.advance(TICK.plusNanos(1));
        assertThat(pollNow()).hasSize(1);
        assertThat(drain()).containsExactly("sooner");
        clock.advance(Duration.ofSeconds(15));
        assertThat(pollNow()).hasSize(1);
        assertThat(drain()).containsExactly("later");
    }

    @Test
    @DisplayName("mio-23, mio-7: a LEVEL timer is readable while a timeout is due")
    void aLevelTimerIsReadableWhileOneIsDue() {
        registerTimer(Trigger.LEVEL);
        timer.set(Duration.ofSeconds(1), "a");
        timer.set(Duration.ofSeconds(1), "b");
        clock.advance(Duration.ofSeconds(2));

        assertThat(pollNow()).hasSize(1);
        assertThat(timer.poll()).isEqualTo("a");
        assertThat(pollNow()).as("one is left").hasSize(1);
        assertThat(timer.poll()).isEqualTo("b");
        assertThat(pollNow()).isEmpty();
    }

    @Test
    @DisplayName("mio-23, mio-8: a timeout that fell due outside of any poll is reported by the next")
    void aTimeoutThatIsDueIsNotForgotten() {
        timer.set(Duration.ofSeconds(1), "a");
        timer.set(Duration.ofSeconds(1), "b");
        timer.set(Duration.ofSeconds(1), "c");
        clock.advance(Duration.ofSeconds(2));
        assertThat(timer.poll()).as("used on its own, before it is registered").isEqualTo("a");

        registerTimer(Trigger.LEVEL);

        assertThat(pollNow()).as("b and c are due").hasSize(1);
        timer.set(Duration.ofSeconds(1), "d");
        timer.set(Duration.ofSeconds(1), "e");
        assertThat(drain()).containsExactly("b", "c");
        assertThat(pollNow()).isEmpty();
        clock.advance(Duration.ofSeconds(2));
        assertThat(timer.poll()).as("asked before the poll saw that it is due").isEqualTo("d");
        assertThat(pollNow()).as("e is due").hasSize(1);
    }

    @Test
    @DisplayName("mio-23, mio-10: a deregistered timer is silent, and keeps its timeouts")
    void aDeregisteredTimerIsSilent() {
        registerTimer(Trigger.LEVEL);
        timer.set(Duration.ofSeconds(1), "kept");
        poll.deregister(timer);
        clock.advance(Duration.ofSeconds(2));
        assertThat(pollNow()).isEmpty();

        registerTimer(Trigger.LEVEL);
        assertThat(pollNow()).hasSize(1);
        assertThat(timer.poll()).isEqualTo("kept");
    }

    @Test
    @DisplayName("mio-11: a closed timer is silent for ever and holds nothing")
    void aClosedTimerIsSilent() {
        registerTimer(Trigger.LEVEL);
        timer.set(Duration.ofSeconds(1), "dropped");
        timer.close();
        clock.advance(Duration.ofSeconds(2));

        assertThat(pollNow()).isEmpty();
        assertThat(timer.size()).isZero();
        assertThat(timer.poll()).isNull();
        assertThatThrownBy(() -> timer.set(Duration.ofSeconds(1), "never"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThat(timer.size()).isZero();
    }

    @Test
    @DisplayName("mio-23: on the system's clock a timeout is not early, and it comes")
    void onTheRealClock() {
        poll = open(builder());
        Timer<Integer> real = closing(Timer.withTick(Duration.ofMillis(10)));
        poll.register(real, TOKEN, Interest.READABLE, Trigger.EDGE);
        for (int millis : new int[] {1, 10, 25, 120}) {
            long start = System.nanoTime();
            real.set(Duration.ofMillis(millis), millis);
            assertThat(pollSoon()).containsExactly(new Event(TOKEN, Readiness.READABLE));
            assertThat(System.nanoTime() - start)
                    .isGreaterThanOrEqualTo(Duration.ofMillis(millis).toNanos());
            assertThat(real.poll()).isEqualTo(millis);
        }
    }

    @Test
    @DisplayName("mio-23: waiting for a timeout is one wait, not a busy loop")
    void waitingForATimeoutDoesNotSpin() {
        poll = open(builder());
        Timer<String> real = closing(Timer.withTick(Duration.ofMillis(10)));
        poll.register(real, TOKEN, Interest.READABLE, Trigger.EDGE);
        pollNow();
        real.set(Duration.ofMillis(150), "due");
        long before = poll.waits();

        pollSoon();

        assertThat(poll.waits() - before).isLessThanOrEqualTo(backend().patience(3));
    }
}
