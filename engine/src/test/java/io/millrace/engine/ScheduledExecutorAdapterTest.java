package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Delayed;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** An event manager as a {@link ScheduledExecutorService}, on a manager that does nothing by itself. */
class ScheduledExecutorAdapterTest {
    private final HandCrankedManager manager = new HandCrankedManager();
    private final ScheduledExecutorService executor = manager.asScheduledExecutor();
    private final List<Object> log = new ArrayList<>();

    private static Duration ms(long millis) {
        return Duration.ofMillis(millis);
    }

    private long nowMs() {
        return TimeUnit.NANOSECONDS.toMillis(manager.clock().nanoTime());
    }

    // ---- At once ----

    @Test
    void whatIsExecutedAndSubmittedRunsInOrderOnTheManager() throws Exception {
        executor.execute(() -> log.add("first"));
        Future<Integer> second = executor.submit(() -> {
            log.add("second");
            return 2;
        });
        ScheduledFuture<Integer> third = executor.schedule(
                () -> {
                    log.add("third");
                    return 3;
                },
                0,
                TimeUnit.SECONDS);
        assertThat(log).as("never inside the call").isEmpty();

        manager.turn();

        assertThat(log).containsExactly("first", "second", "third");
        assertThat(second.get()).isEqualTo(2);
        assertThat(third.get()).isEqualTo(3);
    }

    @Test
    void anInterruptOfACancelledTaskEndsWithTheTask() throws Exception {
        for (boolean scheduled : new boolean[] {false, true}) {
            CountDownLatch entered = new CountDownLatch(1);
            CountDownLatch interrupted = new CountDownLatch(1);
            Callable<Boolean> work = () -> {
                entered.countDown();
                try {
                    new CountDownLatch(1).await();
                } catch (InterruptedException e) {
                    interrupted.countDown();
                    Thread.currentThread().interrupt();
                }
                return true;
            };
            Future<Boolean> task = scheduled ? executor.schedule(work, 0, TimeUnit.SECONDS) : executor.submit(work);
            List<Boolean> left = new ArrayList<>();
            Thread crank = Thread.ofPlatform().daemon().start(() -> {
                manager.turn();
                left.add(Thread.currentThread().isInterrupted());
            });
            entered.await();

            assertThat(task.cancel(true)).isTrue();

            interrupted.await();
            crank.join();
            assertThat(left).as("the loop's thread keeps no interrupt").containsExactly(false);
        }
    }

    // ---- Later ----

    @Test
    void aDelayedTaskRunsOnceAndNeverEarly() throws Exception {
        ScheduledFuture<Long> task = executor.schedule(this::nowMs, 10, TimeUnit.MILLISECONDS);
        manager.advance(ms(10).minusNanos(1));
        assertThat(task.isDone()).isFalse();

        manager.advance(Duration.ofNanos(1));

        assertThat(task.get()).isEqualTo(10);
        assertThat(task.isCancelled()).isFalse();
        assertThat(manager.pending()).isZero();
    }

    @Test
    void whatADelayedTaskThrowsIsInItsFuture() {
        ScheduledFuture<?> task = executor.schedule(
                () -> {
                    throw new IllegalStateException("boom");
                },
                1,
                TimeUnit.MILLISECONDS);

        manager.advance(ms(1));

        assertThatThrownBy(task::get).isInstanceOf(ExecutionException.class).hasRootCauseMessage("boom");
    }

    @Test
    void aDelayOfCenturiesIsFarInTheFutureAndANegativeOneIsNow() {
        ScheduledFuture<?> never = executor.schedule(() -> log.add("never"), Long.MAX_VALUE, TimeUnit.DAYS);
        ScheduledFuture<?> now = executor.schedule(() -> log.add("now"), Long.MIN_VALUE, TimeUnit.DAYS);

        manager.turn();

        assertThat(log).containsExactly("now");
        assertThat(never.getDelay(TimeUnit.DAYS)).isGreaterThan(365 * 70);
        assertThat(now.compareTo(never)).isNegative();
    }

    @Test
    void aFixedRateMakesUpForWhatItMissed() {
        ScheduledFuture<?> series = executor.scheduleAtFixedRate(() -> log.add(nowMs()), 5, 10, TimeUnit.MILLISECONDS);
        manager.advance(ms(5));
        manager.advance(ms(10));
        assertThat(log).containsExactly(5L, 15L);

        manager.advance(ms(35));

        assertThat(log).as("25, 35 and 45 at once").containsExactly(5L, 15L, 50L, 50L, 50L);
        assertThat(series.getDelay(TimeUnit.MILLISECONDS)).isEqualTo(5);
        assertThat(series.isDone()).isFalse();
    }

    @Test
    void aDelayOrAPeriodWithoutEndIsOneRun() {
        int[] runs = {0};
        Runnable once = () -> {
            if (++runs[0] > 2) {
                throw new AssertionError("it runs without end");
            }
        };
        for (TimeUnit unit : TimeUnit.values()) {
            runs[0] = 0;
            ScheduledFuture<?> delayed = executor.scheduleWithFixedDelay(once, 0, Long.MAX_VALUE, unit);
            manager.turn();
            manager.advance(Duration.ofDays(3_650));
            assertThat(runs[0]).as("with a delay, in " + unit).isEqualTo(1);
            assertThat(delayed.isDone()).isFalse();
            delayed.cancel(false);
            ScheduledFuture<?> rated = executor.scheduleAtFixedRate(once, 0, Long.MAX_VALUE, unit);
            manager.turn();
            manager.advance(Duration.ofDays(3_650));
            assertThat(runs[0]).as("at a rate, in " + unit).isEqualTo(2);
            rated.cancel(false);
        }
    }

    @Test
    void aFixedDelayCountsFromTheEndOfARun() {
        ScheduledFuture<?> series = executor.scheduleWithFixedDelay(
                () -> {
                    log.add(nowMs());
                    manager.clock().advance(ms(7));
                },
                0,
                10,
                TimeUnit.MILLISECONDS);
        manager.turn();
        assertThat(series.getDelay(TimeUnit.MILLISECONDS)).isEqualTo(10);

        manager.advance(ms(10));

        assertThat(log).containsExactly(0L, 17L);
    }

    @Test
    void anExceptionEndsTheSeries() {
        ScheduledFuture<?> series = executor.scheduleAtFixedRate(
                () -> {
                    log.add(nowMs());
                    if (log.size() == 2) {
                        throw new AssertionError("enough");
                    }
                },
                1,
                1,
                TimeUnit.MILLISECONDS);

        manager.advance(ms(10));

        assertThat(log).hasSize(2);
        assertThatThrownBy(series::get).isInstanceOf(ExecutionException.class).hasRootCauseMessage("enough");
        assertThat(manager.pending()).isZero();
    }

    @Test
    void aCancelledTaskNeverRunsAndLeavesTheManagerAtOnce() {
        ScheduledFuture<?> once = executor.schedule(() -> log.add("once"), 1, TimeUnit.HOURS);
        ScheduledFuture<?> series = executor.scheduleAtFixedRate(() -> log.add("series"), 1, 1, TimeUnit.HOURS);
        assertThat(manager.pending()).isEqualTo(2);

        assertThat(once.cancel(false)).isTrue();
        assertThat(series.cancel(false)).isTrue();

        assertThat(manager.pending()).isZero();
        manager.advance(Duration.ofHours(3));
        assertThat(log).isEmpty();
        assertThat(once.cancel(false)).as("twice").isFalse();
        assertThatThrownBy(once::get).isInstanceOf(CancellationException.class);
    }

    @Test
    void aSeriesThatCancelsItselfRunsNoMore() {
        List<ScheduledFuture<?>> self = new ArrayList<>();
        self.add(executor.scheduleWithFixedDelay(
                () -> {
                    log.add(nowMs());
                    self.getFirst().cancel(false);
                },
                1,
                1,
                TimeUnit.MILLISECONDS));

        manager.advance(ms(10));

        assertThat(log).hasSize(1);
        assertThat(manager.pending()).isZero();
    }

    @Test
    void delaysAreComparedByTimeAndThenByOrder() {
        ScheduledFuture<?> late = executor.schedule(() -> {}, 2, TimeUnit.SECONDS);
        ScheduledFuture<?> early = executor.schedule(() -> {}, 1, TimeUnit.SECONDS);
        ScheduledFuture<?> earlyToo = executor.schedule(() -> {}, 1, TimeUnit.SECONDS);

        assertThat(early.compareTo(late)).isNegative();
        assertThat(late.compareTo(early)).isPositive();
        assertThat(early.compareTo(earlyToo)).isNegative();
        Delayed itself = early;
        assertThat(early.compareTo(itself)).isZero();
        assertThat(early.compareTo(new FixedDelay(1_500))).isNegative();
        assertThat(late.compareTo(new FixedDelay(1_500))).isPositive();
        manager.clock().advance(ms(300));
        assertThat(early.getDelay(TimeUnit.MILLISECONDS)).isEqualTo(700);
        manager.clock().advance(ms(1_000));
        assertThat(early.getDelay(TimeUnit.MILLISECONDS)).as("overdue").isEqualTo(-300);
    }

    private record FixedDelay(long millis) implements Delayed {
        @Override
        public long getDelay(TimeUnit unit) {
            return unit.convert(millis, TimeUnit.MILLISECONDS);
        }

        @Override
        public int compareTo(Delayed other) {
            throw new UnsupportedOperationException();
        }
    }

    @Test
    void badArgumentsAreRefusedAndChangeNothing() {
        assertThatThrownBy(() -> executor.execute(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> executor.schedule((Runnable) null, 1, TimeUnit.SECONDS))
                .isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> executor.schedule(() -> {}, 1, null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> executor.scheduleAtFixedRate(() -> {}, 1, 0, TimeUnit.SECONDS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("period");
        assertThatThrownBy(() -> executor.scheduleWithFixedDelay(() -> {}, 1, -1, TimeUnit.SECONDS))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("delay");

        assertThat(manager.pending()).isZero();
    }

    // ---- Ending ----

    @Test
    void shutdownRunsWhatIsQueuedAndCancelsWhatIsDelayed() {
        Future<?> queued = executor.submit(() -> log.add("queued"));
        Future<?> atOnce = executor.schedule(() -> log.add("at once"), 0, TimeUnit.SECONDS);
        ScheduledFuture<?> delayed = executor.schedule(() -> log.add("delayed"), 1, TimeUnit.SECONDS);
        ScheduledFuture<?> series = executor.scheduleAtFixedRate(() -> log.add("series"), 0, 1, TimeUnit.SECONDS);

        executor.shutdown();

        assertThat(executor.isShutdown()).isTrue();
        assertThat(executor.isTerminated()).isFalse();
        assertThat(delayed.isCancelled()).isTrue();
        assertThat(series.isCancelled()).isTrue();
        assertThatThrownBy(() -> executor.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(() -> executor.schedule(() -> {}, 1, TimeUnit.SECONDS))
                .isInstanceOf(RejectedExecutionException.class);
        manager.advance(Duration.ofSeconds(5));
        assertThat(log).containsExactly("queued", "at once");
        assertThat(queued.isDone()).isTrue();
        assertThat(atOnce.isDone()).isTrue();
        assertThat(executor.isTerminated()).isTrue();
        executor.shutdown();
    }

    @Test
    void shutdownRefusesAlthoughAReferenceKeepsTheManagerOpen() {
        manager.shutdownRef();
        ScheduledFuture<?> delayed = executor.schedule(() -> log.add("delayed"), 1, TimeUnit.SECONDS);

        executor.shutdown();

        assertThat(delayed.isCancelled()).isTrue();
        assertThatThrownBy(() -> executor.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        manager.advance(Duration.ofSeconds(2));
        assertThat(executor.isTerminated()).isFalse();
        manager.shutdownUnref();
        manager.turn();
        assertThat(executor.isTerminated()).isTrue();
        assertThat(log).isEmpty();
    }

    @Test
    void shutdownNowReturnsWhatDidNotRun() throws Exception {
        Runnable executed = () -> log.add("executed");
        executor.execute(executed);
        Future<?> submitted = executor.submit(() -> log.add("submitted"));
        ScheduledFuture<?> late = executor.schedule(() -> log.add("late"), 2, TimeUnit.SECONDS);
        ScheduledFuture<?> early = executor.scheduleAtFixedRate(() -> log.add("early"), 1, 1, TimeUnit.SECONDS);
        ScheduledFuture<?> cancelled = executor.schedule(() -> log.add("cancelled"), 1, TimeUnit.SECONDS);
        cancelled.cancel(false);

        List<Runnable> neverRun = executor.shutdownNow();

        assertThat(neverRun).containsExactly(executed, (Runnable) submitted, (Runnable) early, (Runnable) late);
        assertThat(((RunnableScheduledFuture<?>) early).isPeriodic()).isTrue();
        manager.advance(Duration.ofSeconds(5));
        assertThat(log).isEmpty();
        assertThat(executor.awaitTermination(0, TimeUnit.SECONDS)).isTrue();
        assertThat(late.isCancelled())
                .as("as in the JDK: who got it may still run it")
                .isFalse();
        neverRun.forEach(Runnable::run);
        assertThat(log).containsExactly("executed", "submitted", "early", "late");
        assertThat(executor.shutdownNow()).isEmpty();
    }

    @Test
    void aSeriesThatRunsDuringShutdownIsCancelledWhenItHasRun() {
        for (boolean now : new boolean[] {false, true}) {
            HandCrankedManager own = new HandCrankedManager();
            ScheduledExecutorService ownExecutor = own.asScheduledExecutor();
            List<Runnable> neverRun = new ArrayList<>();
            ScheduledFuture<?> series = ownExecutor.scheduleAtFixedRate(
                    () -> {
                        if (now) {
                            neverRun.addAll(ownExecutor.shutdownNow());
                        } else {
                            ownExecutor.shutdown();
                        }
                    },
                    1,
                    1,
                    TimeUnit.SECONDS);

            own.advance(Duration.ofSeconds(10));

            assertThat(series.isCancelled()).isTrue();
            assertThat(neverRun).isEmpty();
            assertThat(ownExecutor.isTerminated()).isTrue();
        }
    }

    @Test
    void theManagersEndCancelsWhatIsDelayed() {
        ScheduledFuture<?> delayed = executor.schedule(() -> log.add("delayed"), 1, TimeUnit.SECONDS);

        manager.shutdown();
        manager.turn();

        assertThat(delayed.isCancelled()).isTrue();
        assertThat(executor.isShutdown()).isTrue();
        assertThatThrownBy(() -> executor.schedule(() -> {}, 1, TimeUnit.SECONDS))
                .isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(() -> executor.submit(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(executor.shutdownNow())
                .as("what was refused is not left behind")
                .isEmpty();
    }

    @Test
    void closeInsideATaskDoesNotWaitForItself() {
        executor.execute(() -> {
            executor.close();
            log.add("closed");
        });

        manager.turn();

        assertThat(log).containsExactly("closed");
        assertThat(executor.isTerminated()).isTrue();
        executor.close();
    }

    @Test
    void invokeAllWorksThroughAnotherThread() throws Exception {
        Thread crank = Thread.ofPlatform().daemon().start(() -> {
            while (!manager.isTerminated()) {
                manager.turn();
                Thread.onSpinWait();
            }
        });

        List<Future<Integer>> results = executor.invokeAll(List.of(() -> 1, () -> 2));
        int any = executor.invokeAny(List.of(() -> 7, () -> 7));

        assertThat(results).extracting(Future::get).containsExactly(1, 2);
        assertThat(any).isEqualTo(7);
        executor.close();
        crank.join();
    }

    @Test
    void toStringTellsWhatIsLeftToDo() {
        executor.execute(() -> {});
        var _ = executor.schedule(() -> {}, 1, TimeUnit.SECONDS);

        assertThat(executor).hasToString("scheduled executor over hand-cranked manager, 1 tasks queued, 1 scheduled");
    }
}
