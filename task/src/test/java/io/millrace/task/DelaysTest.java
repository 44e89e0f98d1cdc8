package io.millrace.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Delays of a timer")
class DelaysTest {
    private static final Duration FIVE = Duration.ofSeconds(5);

    /** The futures that the timer was asked for; the test is the timer. */
    private final List<CompletableFuture<Void>> asked = new ArrayList<>();

    private final ManualDelays others = new ManualDelays();
    private final AtomicLong nanos = new AtomicLong();
    private final AtomicInteger calls = new AtomicInteger();
    private final Delays delays = new TimerDelays(
            delay -> {
                CompletableFuture<Void> future = new CompletableFuture<>();
                asked.add(future);
                return future;
            },
            others,
            nanos::get);

    @Test
    @DisplayName(
            "mr-8: a set built with a timer takes its timeouts from it, one by one, and gives back those it does not need")
    void aSetUsesTheTimer() {
        try (FuturesUnordered<Integer> set =
                FuturesUnordered.<Integer>builder().timeout(FIVE).alarms(delays).build()) {
            Promise<Integer> quick = new Promise<>();
            set.add(new Promise<>());
            set.add(quick);
            CountingWaker parent = new CountingWaker();
            assertThat(set.poll(parent)).isEqualTo(Step.pending());
            assertThat(asked).hasSize(2);
            quick.complete(1);
            assertThat(set.poll(parent)).isEqualTo(Step.item(1));
            assertThat(asked.get(1))
                    .as("the timer need not wait for it any more")
                    .isCancelled();
            assertThat(asked.get(0)).isNotDone();

            asked.get(0).complete(null);
            assertThat(set.poll(parent))
                    .isInstanceOfSatisfying(
                            Failed.class, failed -> assertThat(failed.cause()).isInstanceOf(TimeoutException.class));
            assertThat(others.set()).as("nobody else was asked").isZero();
        }
    }

    @Test
    @DisplayName("mr-8: a timer that ends first loses no delay: others keep the rest of it, never early")
    void theTimerEndsFirst() {
        Runnable cancel = delays.after(FIVE, calls::incrementAndGet);
        nanos.addAndGet(Duration.ofSeconds(2).toNanos());
        asked.getFirst().completeExceptionally(new CancellationException("the loop has ended first"));
        others.advance(Duration.ofNanos(2_999_999_999L));
        assertThat(calls).hasValue(0);
        others.advance(Duration.ofNanos(1));
        assertThat(calls).hasValue(1);
        cancel.run();
        assertThat(calls).hasValue(1);
    }

    @Test
    @DisplayName("mr-8: a timer that has ended and refuses loses no delay either")
    void theTimerRefuses() {
        Delays ended = new TimerDelays(
                delay -> {
                    throw new RejectedExecutionException("closed");
                },
                others,
                nanos::get);
        ended.after(FIVE, calls::incrementAndGet);
        Runnable cancel = ended.after(FIVE, () -> calls.addAndGet(100));
        cancel.run();
        others.advance(FIVE);
        assertThat(calls).hasValue(1);
    }

    @Test
    @DisplayName("mr-8: a cancelled delay is over, whoever keeps it, and is not handed on")
    void cancelled() {
        Runnable kept = delays.after(FIVE, calls::incrementAndGet);
        kept.run();
        kept.run();
        assertThat(asked.get(0)).isCancelled();
        assertThat(others.set()).isZero();

        Runnable handedOn = delays.after(FIVE, calls::incrementAndGet);
        asked.get(1).cancel(false);
        assertThat(others.set()).isOne();
        handedOn.run();
        assertThat(others.set()).isZero();
        others.advance(FIVE);
        assertThat(calls).hasValue(0);
    }
}
