package io.millrace.engine.internal;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.poll.Clock;
import io.millrace.poll.ManualClock;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("The deadline of an ending")
@Timeout(20)
class DeadlineTest {
    private final ManualClock clock = new ManualClock();

    @Test
    @DisplayName("end-3: what is negative is over at once, and not before what is over at once")
    void negative() {
        Deadline negative = Deadline.after(clock, Duration.ofSeconds(-5));
        assertThat(negative.leftNanos()).isZero();
        assertThat(negative.isBefore(Deadline.after(clock, Duration.ZERO))).isFalse();
        assertThat(negative.await(new CompletableFuture<>())).isFalse();
    }

    @Test
    @DisplayName("end-3: centuries are far ahead, and longer than what is shorter")
    void centuries() {
        Deadline far = Deadline.after(clock, Duration.ofSeconds(Long.MAX_VALUE));
        Deadline day = Deadline.after(clock, Duration.ofDays(1));
        assertThat(far.leftNanos()).isGreaterThan(Duration.ofDays(365 * 50).toNanos());
        assertThat(day.isBefore(far)).isTrue();
        assertThat(far.isBefore(day)).isFalse();
        assertThat(far.andALittle().leftNanos()).isGreaterThan(far.leftNanos());
    }

    @Test
    @DisplayName("end-3: a little more is counted from now on when the deadline is over, else from the deadline")
    void aLittle() {
        Deadline second = Deadline.after(clock, Duration.ofSeconds(1));
        assertThat(second.andALittle().leftNanos())
                .isEqualTo(Duration.ofSeconds(1).plus(Deadline.A_LITTLE).toNanos());
        clock.advance(Duration.ofHours(1));
        assertThat(second.andALittle().leftNanos()).isEqualTo(Deadline.A_LITTLE.toNanos());
    }

    @Test
    @DisplayName("end-7: a wait that is over has left its clock")
    void unsubscribes() {
        AtomicInteger subscribed = new AtomicInteger();
        Clock counting = new Clock() {
            @Override
            public long nanoTime() {
                return System.nanoTime();
            }

            @Override
            public Runnable subscribe(Runnable onJump) {
                subscribed.incrementAndGet();
                return subscribed::decrementAndGet;
            }
        };
        assertThat(Deadline.after(counting, Duration.ofMillis(1)).await(new CompletableFuture<>()))
                .isFalse();
        assertThat(subscribed).hasValue(0);
    }

    @Test
    @DisplayName("end-7: an end that is waited for again and again does not remember everyone who has given up")
    void forgetsWhoGaveUp() {
        CompletableFuture<Void> end = new CompletableFuture<>();
        for (int i = 0; i < 1_000; i++) {
            assertThat(Deadline.after(Clock.system(), Duration.ofNanos(1)).await(end))
                    .isFalse();
        }
        assertThat(end.getNumberOfDependents()).isZero();
    }

    @Test
    @DisplayName("end-3: an end that comes in time is noticed at once, whether it succeeds or fails")
    void noticesTheEnd() {
        for (boolean fails : new boolean[] {false, true}) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> {
                if (fails) {
                    end.completeExceptionally(new IllegalStateException("failed"));
                } else {
                    end.complete(null);
                }
            });
            assertThat(Deadline.after(Clock.system(), Duration.ofDays(1)).await(end))
                    .isTrue();
        }
    }
}
