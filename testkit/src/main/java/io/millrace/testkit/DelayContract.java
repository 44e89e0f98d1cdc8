package io.millrace.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.millrace.poll.Event;
import io.millrace.poll.Interest;
import io.millrace.poll.ManualClock;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Readiness that is set after a delay, on a clock that the test moves. */
@DisplayName("Delayed readiness")
public abstract class DelayContract extends PollContract {
    private static final long TOKEN = 6;
    private static final Duration TICK = Duration.ofMillis(100);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock(-1);
    private final Registration source = new Registration();

    /**
     * Creates a suite for one backend.
     *
     * @param backend the backend to test
     */
    protected DelayContract(TestedBackend backend) {
        super(backend);
    }

    @BeforeEach
    void openOnTheManualClock() {
        poll = open(builder().clock(clock));
        poll.register(source, TOKEN, Interest.READ_WRITE, Trigger.EDGE);
    }

    @Test
    @DisplayName("mio-18: never early, and no later than the delay and one tick of 100 ms")
    void bothBounds() {
        for (long millis : new long[] {1, 99, 100, 101, 250, 1_000, 60_001}) {
            Duration delay = Duration.ofMillis(millis);
            clock.advance(Duration.ofMillis(33)); // off the grid of ticks
            source.delayReadiness(Readiness.READABLE, delay);

            clock.advance(delay.minusNanos(1));
            assertThat(pollNow()).as("a nanosecond before " + delay).isEmpty();
            assertThat(source.readiness()).isEqualTo(Readiness.NONE);

            clock.advance(TICK.plusNanos(1));
            assertThat(pollNow()).as("one tick after " + delay).containsExactly(new Event(TOKEN, Readiness.READABLE));
            source.unsetReadiness(Readiness.READABLE);
        }
    }

    @Test
    @DisplayName("mio-18: a sleeping poll wakes for a delay by itself, also if it has timers that are later or empty")
    void aSleepingPollWakesByItself() {
        poll = open(builder().tick(Duration.ofMillis(1)));
        Registration delayed = closing(new Registration());
        poll.register(delayed, TOKEN, Interest.READABLE, Trigger.EDGE);
        for (int timers = 0; timers < 3; timers++) {
            delayed.delayReadiness(Readiness.READABLE, Duration.ofMillis(20));

            assertThat(Background.call(() -> poll(null)).result())
                    .as(timers + " timers")
                    .containsExactly(new Event(TOKEN, Readiness.READABLE));
            delayed.unsetReadiness(Readiness.READABLE);
            Timer<String> timer = closing(Timer.withTick(Duration.ofMillis(1)));
            if (timers == 1) {
                timer.set(Duration.ofDays(1), "later");
            }
            poll.register(timer, TOKEN + 1 + timers, Interest.READABLE, Trigger.EDGE);
        }
    }

    @Test
    @DisplayName("mio-18: the bounds hold for a poll that saw the delay and slept")
    void theBoundsHoldForASleepingPoll() {
        source.delayReadiness(Readiness.READABLE, SECOND);
        Background<List<Event>> sleeper = Background.call(() -> poll(null));
        Await.until("the poll sleeps", () -> poll.waits() > 1);
        long before = poll.waits();
        clock.advance(SECOND.minusNanos(1));
        Await.until("it looked, and sleeps again", () -> poll.waits() > before);
        assertThat(sleeper.isDone()).isFalse();

        clock.advance(TICK.plusNanos(1));

        assertThat(sleeper.result()).containsExactly(new Event(TOKEN, Readiness.READABLE));
    }

    @Test
    @DisplayName("mio-18: a delay set by another thread reaches a poll that sleeps for longer")
    void aDelayReachesASleepingPoll() {
        Background<List<Event>> sleeper = Background.call(() -> poll(null));
        Await.until("the poll sleeps", () -> poll.waits() > 0);
        long before = poll.waits();

        source.delayReadiness(Readiness.WRITABLE, SECOND);
        Await.until("the poll knows of the delay", () -> poll.waits() > before);
        clock.advance(SECOND.plus(TICK));

        assertThat(sleeper.result()).containsExactly(new Event(TOKEN, Readiness.WRITABLE));
    }

    @Test
    @DisplayName("mio-18: the tick can be chosen")
    void theTickCanBeChosen() {
        Duration fine = Duration.ofNanos(1_000);
        poll = open(builder().clock(clock).tick(fine));
        Registration other = closing(new Registration());
        poll.register(other, TOKEN, Interest.READABLE, Trigger.EDGE);
        other.delayReadiness(Readiness.READABLE, Duration.ofMillis(5));

        clock.advance(Duration.ofMillis(5).minusNanos(1));
        assertThat(pollNow()).isEmpty();
        clock.advance(fine.plusNanos(1));
        assertThat(pollNow()).hasSize(1);
    }

    @Test
    @DisplayName("mio-18: of two delays the shorter counts, whichever came first")
    void theShorterDelayWins() {
        source.delayReadiness(Readiness.READABLE, SECOND.multipliedBy(10));
        pollNow();
        source.delayReadiness(Readiness.READABLE, SECOND);
        source.delayReadiness(Readiness.READABLE, SECOND.multipliedBy(20));
        clock.advance(SECOND.minusNanos(1));
        assertThat(pollNow()).isEmpty();

        clock.advance(TICK.plusNanos(1));
        assertThat(pollNow()).hasSize(1);

        source.unsetReadiness(Readiness.READABLE);
        clock.advance(SECOND.multipliedBy(30));
        assertThat(pollNow()).as("the longer one is gone").isEmpty();
    }

    @Test
    @DisplayName("mio-18: an immediate set cancels the delay")
    void anImmediateSetCancelsTheDelay() {
        source.delayReadiness(Readiness.READABLE, SECOND);
        pollNow();
        source.setReadiness(Readiness.READABLE);
        assertThat(pollNow()).hasSize(1);
        source.unsetReadiness(Readiness.READABLE);

        clock.advance(SECOND.multipliedBy(2));

        assertThat(pollNow()).isEmpty();
        assertThat(source.readiness()).isEqualTo(Readiness.NONE);
    }

    @Test
    @DisplayName("mio-18: each bit has a delay of its own")
    void eachBitHasItsOwnDelay() {
        source.delayReadiness(Readiness.READABLE, SECOND);
        source.delayReadiness(Readiness.WRITABLE, SECOND.multipliedBy(3));
        clock.advance(SECOND.plus(TICK));
        assertThat(pollNow()).containsExactly(new Event(TOKEN, Readiness.READABLE));
        source.unsetReadiness(Readiness.READABLE);
        assertThat(pollNow()).isEmpty();

        clock.advance(SECOND.multipliedBy(2));
        assertThat(pollNow()).containsExactly(new Event(TOKEN, Readiness.WRITABLE));
    }

    @Test
    @DisplayName("mio-18: no delay, or a negative one, is now; centuries are never")
    void extremeDelays() {
        source.delayReadiness(Readiness.READABLE, Duration.ZERO);
        assertThat(pollNow()).hasSize(1);
        source.delayReadiness(Readiness.READABLE, Duration.ofSeconds(-1));
        assertThat(pollNow()).hasSize(1);

        source.unsetReadiness(Readiness.READABLE);
        source.delayReadiness(Readiness.WRITABLE, Duration.ofSeconds(Long.MAX_VALUE));
        clock.advance(Duration.ofDays(10_000));
        assertThat(pollNow()).isEmpty();
    }

    @Test
    @DisplayName("mio-18, mio-10: deregister and close cancel delays")
    void deregisterCancelsTheDelay() {
        source.delayReadiness(Readiness.READABLE, SECOND);
        pollNow();
        poll.deregister(source);
        poll.register(source, TOKEN, Interest.READ_WRITE, Trigger.EDGE);
        clock.advance(SECOND.multipliedBy(2));
        assertThat(pollNow()).isEmpty();

        source.delayReadiness(Readiness.READABLE, SECOND);
        pollNow();
        source.close();
        clock.advance(SECOND.multipliedBy(2));
        assertThat(pollNow()).isEmpty();
        assertThat(source.readiness()).isEqualTo(Readiness.NONE);
    }

    @Test
    @DisplayName("mio-18: a registration of no poll has no clock, and says so")
    void onlyAPollHasAClock() {
        Registration loose = closing(new Registration());
        assertThatIllegalStateException()
                .isThrownBy(() -> loose.delayReadiness(Readiness.READABLE, SECOND))
                .withMessageContaining("call Poll.register first");
    }

    @Test
    @DisplayName("mio-18: delays start no thread")
    void delaysStartNoThread() {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        for (int i = 0; i < 1_000; i++) {
            Registration one = closing(new Registration());
            poll.register(one, i, Interest.READABLE, Trigger.EDGE);
            one.delayReadiness(Readiness.READABLE, SECOND);
        }
        pollNow();
        assertThat(Thread.getAllStackTraces().keySet()).isSubsetOf(before);
        clock.advance(SECOND.plus(TICK));
        int fired = 0;
        while (fired < 1_000) {
            fired += pollSoon().size();
        }
        assertThat(fired).isEqualTo(1_000);
    }

    @Test
    @DisplayName("mio-18: on the system's clock a delay is not early, it comes, and it does not spin")
    void onTheRealClock() {
        poll = open(builder().tick(Duration.ofMillis(10)));
        Registration real = closing(new Registration());
        poll.register(real, TOKEN, Interest.READABLE, Trigger.EDGE);
        pollNow();
        long before = poll.waits();
        long start = System.nanoTime();
        real.delayReadiness(Readiness.READABLE, Duration.ofMillis(120));

        assertThat(pollSoon()).containsExactly(new Event(TOKEN, Readiness.READABLE));

        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(120_000_000);
        assertThat(poll.waits() - before).isLessThanOrEqualTo(backend().patience(4));
    }
}
