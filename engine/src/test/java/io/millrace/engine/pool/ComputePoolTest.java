package io.millrace.engine.pool;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Priority;
import io.millrace.poll.ManualClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** mill-5: threads for work that would hold up a loop. */
class ComputePoolTest {
    private final ManualClock clock = new ManualClock();
    private final List<Object> log = Collections.synchronizedList(new ArrayList<>());
    private final List<ComputePool> pools = new ArrayList<>();
    private final CountDownLatch gate = new CountDownLatch(1);

    @AfterEach
    void close() {
        gate.countDown();
        pools.forEach(ComputePool::close);
    }

    private ComputePool open(ComputePool.Builder builder) {
        ComputePool pool = builder.clock(clock).daemon(true).open();
        pools.add(pool);
        return pool;
    }

    /** A pool whose only thread is held up until {@link #gate} opens, so that all else queues up. */
    private ComputePool heldUp(ComputePool.Builder builder) {
        ComputePool pool = open(builder.threads(1));
        pool.execute(this::passGate);
        await().until(() -> pool.metrics().active() == 1);
        return pool;
    }

    private static ConditionFactory await() {
        return Awaitility.await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(1));
    }

    private void passGate() {
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private CompletableFuture<Void> note(ComputePool pool, Object what, Priority priority) {
        return pool.submit(() -> void_(log.add(what)), priority);
    }

    private static Void void_(boolean ignored) {
        return null;
    }

    private void openGateAndDrain(ComputePool pool) {
        gate.countDown();
        pool.close();
    }

    // ---- Order ----

    @Test
    void theMostUrgentRunsFirstAndWithinOnePriorityTheFirstSubmitted_mill5() {
        ComputePool pool = heldUp(ComputePool.builder());
        for (int round = 1; round <= 3; round++) {
            for (Priority priority : Priority.values()) {
                var _ = note(pool, priority + " " + round, priority);
            }
        }

        openGateAndDrain(pool);

        List<String> expected = new ArrayList<>();
        for (Priority priority :
                List.of(Priority.SYSTEM, Priority.IMMEDIATE, Priority.HIGH, Priority.NORMAL, Priority.LOW)) {
            for (int round = 1; round <= 3; round++) {
                expected.add(priority + " " + round);
            }
        }
        assertThat(log).containsExactlyElementsOf(expected);
    }

    @Test
    void withoutAgeingWaitingChangesNothing_mill5() {
        ComputePool pool = heldUp(ComputePool.builder());
        var low = note(pool, "low", Priority.LOW);
        clock.advance(Duration.ofDays(1));
        var high = note(pool, "high", Priority.HIGH);

        openGateAndDrain(pool);

        assertThat(log).containsExactly("high", "low");
        assertThat(low).isCompleted();
        assertThat(high).isCompleted();
    }

    @Test
    void aTaskThatWaitedTheBoundIsOvertakenByNothingYounger_mill5() {
        for (Priority priority : Priority.values()) {
            Duration bound = Duration.ofMillis(10).multipliedBy(Priority.MAX.level() - priority.level());
            assertThat(orderAfterWaiting(priority, bound, Priority.SYSTEM))
                    .as("%s after %s", priority, bound)
                    .containsExactly(priority, "younger");
        }
    }

    @Test
    void aNanosecondBeforeTheBoundWhatIsMoreUrgentStillOvertakes_mill5() {
        for (Priority priority : List.of(Priority.LOW, Priority.NORMAL, Priority.HIGH, Priority.IMMEDIATE)) {
            Duration almost = Duration.ofMillis(10)
                    .multipliedBy(Priority.MAX.level() - priority.level())
                    .minusNanos(1);
            assertThat(orderAfterWaiting(priority, almost, Priority.SYSTEM))
                    .as("%s after %s", priority, almost)
                    .containsExactly("younger", priority);
        }
    }

    @Test
    void eachStepMovesAWaitingTaskUpOneClass_mill5() {
        assertThat(orderAfterWaiting(Priority.LOW, Duration.ofMillis(9), Priority.NORMAL))
                .containsExactly("younger", Priority.LOW);
        assertThat(orderAfterWaiting(Priority.LOW, Duration.ofMillis(10), Priority.NORMAL))
                .containsExactly(Priority.LOW, "younger");
        assertThat(orderAfterWaiting(Priority.LOW, Duration.ofMillis(10), Priority.HIGH))
                .containsExactly("younger", Priority.LOW);
        assertThat(orderAfterWaiting(Priority.LOW, Duration.ofMillis(20), Priority.HIGH))
                .containsExactly(Priority.LOW, "younger");
    }

    private List<Object> orderAfterWaiting(Priority priority, Duration waited, Priority youngers) {
        log.clear();
        CountDownLatch own = new CountDownLatch(1);
        ComputePool pool = open(ComputePool.builder().threads(1).ageing(Duration.ofMillis(10)));
        pool.execute(() -> {
            try {
                own.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        await().until(() -> pool.metrics().active() == 1);
        var _ = note(pool, priority, priority);
        clock.advance(waited);
        var _ = note(pool, "younger", youngers);
        own.countDown();
        pool.close();
        return List.copyOf(log);
    }

    @Test
    void withAgeingLowWorkRunsAlthoughUrgentWorkNeverEnds_mill5() {
        ComputePool pool = heldUp(ComputePool.builder().ageing(Duration.ofMillis(10)));
        var low = note(pool, "low", Priority.LOW);
        class Flood implements Runnable {
            @Override
            public void run() {
                log.add("urgent");
                clock.advance(Duration.ofMillis(1));
                if (!low.isDone()) {
                    var _ = pool.submit(this, Priority.SYSTEM);
                }
            }
        }
        var _ = pool.submit(new Flood(), Priority.SYSTEM);

        gate.countDown();
        low.join();
        pool.close(); // one that was queued before low ended may still be running

        // Each takes 1 ms: LOW is on a level with SYSTEM after 40, and older than the 41st.
        assertThat(log.subList(0, log.indexOf("low"))).hasSize(40).containsOnly("urgent");
    }

    @Test
    void ageingKeepsTheOrderWithinOnePriority_mill5() {
        ComputePool pool = heldUp(ComputePool.builder().ageing(Duration.ofMillis(10)));
        for (int i = 0; i < 10; i++) {
            var _ = note(pool, i, Priority.LOW);
            clock.advance(Duration.ofMillis(7));
        }

        openGateAndDrain(pool);

        assertThat(log).containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    }

    // ---- Results ----

    @Test
    void theResultComesBackToTheLoop_mill5() {
        ComputePool pool = open(ComputePool.builder().threads(1));
        Queue<Runnable> loop = new ArrayDeque<>();
        CountDownLatch queued = new CountDownLatch(1);
        CompletableFuture<Boolean> future = pool.submit(pool::inPool, Priority.HIGH, task -> {
            loop.add(task);
            queued.countDown();
        });
        CompletableFuture<Boolean> stage = future.thenApply(inPool -> inPool && !pool.inPool());
        await().until(() -> queued.getCount() == 0);
        assertThat(future).as("the task has run, the loop has not").isNotDone();

        loop.remove().run();

        assertThat(stage).isCompletedWithValue(true);
    }

    @Test
    void aLoopThatRefusesTheResultFailsTheFuture_mill5() {
        ComputePool pool = open(ComputePool.builder().threads(1));

        CompletableFuture<Integer> future = pool.submit(() -> 1, Priority.NORMAL, task -> {
            throw new RejectedExecutionException("the loop is gone");
        });
        CompletableFuture<Integer> both = pool.submit(
                () -> {
                    throw new IllegalStateException("boom");
                },
                Priority.NORMAL,
                task -> {
                    throw new RejectedExecutionException("the loop is gone");
                });

        assertThatThrownBy(future::join).hasRootCauseMessage("the loop is gone");
        assertThatThrownBy(both::join)
                .hasRootCauseMessage("boom")
                .cause()
                .satisfies(cause -> assertThat(cause.getSuppressed()).hasSize(1));
        assertThat(pool.metrics().completed()).as("the task itself did").isEqualTo(1);
    }

    @Test
    void aFailingTaskIsCountedAndItsWorkerLives_mill5() {
        ComputePool pool = open(ComputePool.builder().threads(1));
        Thread worker = pool.submit(Thread::currentThread).join();

        CompletableFuture<Void> exception = pool.submit(() -> {
            throw new IllegalStateException("boom");
        });
        CompletableFuture<Void> error = pool.submit(() -> {
            throw new StackOverflowError("deep");
        });
        CompletableFuture<Void> interrupting =
                pool.submit(() -> Thread.currentThread().interrupt(), Priority.NORMAL);

        assertThatThrownBy(exception::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(IllegalStateException.class);
        assertThatThrownBy(error::join).hasCauseInstanceOf(StackOverflowError.class);
        interrupting.join();
        assertThat(pool.submit(() -> Thread.currentThread().isInterrupted()).join())
                .as("the interrupt of the task before")
                .isFalse();
        assertThat(pool.submit(Thread::currentThread).join()).isSameAs(worker);
        assertThat(pool.metrics().failed()).isEqualTo(2);
        assertThat(pool.metrics().completed()).isEqualTo(4);
    }

    @Test
    void aStageThatThrowsOrReentersHarmsNobody_mill5() {
        ComputePool pool = open(ComputePool.builder().threads(1));
        CompletableFuture<String> reentered = pool.submit(() -> 1)
                .thenCompose(one -> pool.submit(() -> pool.metrics().toString() + pool));
        CompletableFuture<Object> thrown = pool.submit(() -> 1).thenApply(one -> {
            throw new AssertionError("stage");
        });

        assertThat(reentered.join()).contains("compute pool compute");
        assertThatThrownBy(thrown::join).hasRootCauseMessage("stage");
        assertThat(pool.submit(() -> 2).join()).isEqualTo(2);
    }

    // ---- Cancelling ----

    @Test
    void cancellingAQueuedTaskTakesItOutAndIsCounted_mill5() {
        ComputePool pool = heldUp(ComputePool.builder());
        var first = note(pool, "first", Priority.LOW);
        var middle = note(pool, "middle", Priority.LOW);
        var last = note(pool, "last", Priority.LOW);
        List<Long> seenByStage = new ArrayList<>();
        var _ = middle.whenComplete(
                (value, failure) -> seenByStage.add(pool.metrics().cancelled()));

        assertThat(middle.cancel(false)).isTrue();

        assertThat(pool.metrics().depth(Priority.LOW)).isEqualTo(2);
        assertThat(pool.metrics().cancelled()).isEqualTo(1);
        assertThat(seenByStage).as("counted before its stages run").containsExactly(1L);
        assertThatThrownBy(middle::join).isInstanceOf(CancellationException.class);
        assertThat(middle.cancel(false)).as("as a CompletableFuture says").isTrue();
        assertThat(pool.metrics().cancelled()).as("not twice").isEqualTo(1);
        assertThat(last.cancel(true)).isTrue();
        assertThat(first.cancel(true)).isTrue();
        var next = note(pool, "next", Priority.LOW);
        openGateAndDrain(pool);
        assertThat(log).containsExactly("next");
        assertThat(next).isCompleted();
    }

    @Test
    void aTaskThatRunsIsNotCancelledButItsFutureIs_mill5() {
        ComputePool pool = open(ComputePool.builder().threads(1));
        CompletableFuture<Void> running = pool.submit(this::passGate);
        await().until(() -> pool.metrics().active() == 1);

        assertThat(running.cancel(true)).isTrue();

        assertThat(pool.metrics().cancelled()).isZero();
        openGateAndDrain(pool);
        assertThat(pool.metrics().completed()).isEqualTo(1);
        assertThat(running).isCancelled();
    }

    @Test
    void aTaskWhoseFutureIsCompletedOtherwiseLeavesTheQueueToo_mill5() {
        ComputePool pool = heldUp(ComputePool.builder());
        CompletableFuture<String> completed = pool.submit(() -> "late");
        CompletableFuture<String> failed = pool.submit(() -> "late");
        CompletableFuture<String> async = pool.submit(() -> "late");

        assertThat(completed.complete("early")).isTrue();
        assertThat(failed.completeExceptionally(new TimeoutException())).isTrue();
        assertThat(pool.metrics().depth()).isEqualTo(1);
        assertThat(async.completeAsync(() -> "early", Runnable::run)).isCompletedWithValue("early");

        openGateAndDrain(pool);
        assertThat(pool.metrics().cancelled()).isEqualTo(3);
        assertThat(pool.metrics().completed()).as("the one at the gate").isEqualTo(1);
        assertThat(completed).isCompletedWithValue("early");
    }

    // ---- Numbers ----

    @Test
    void theNumbersAreExactAtABarrier_mill5() throws Exception {
        ComputePool pool = open(ComputePool.builder().threads(3));
        CyclicBarrier begun = new CyclicBarrier(4);
        for (int i = 0; i < 3; i++) {
            pool.execute(() -> {
                try {
                    begun.await();
                    begun.await();
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            });
        }
        begun.await();
        List<CompletableFuture<Void>> queued = new ArrayList<>();
        for (Priority priority : Priority.values()) {
            for (int i = 0; i <= priority.level(); i++) {
                queued.add(pool.submit(() -> clock.advance(Duration.ofMillis(2)), priority));
            }
        }
        queued.add(pool.submit(
                () -> {
                    throw new IllegalStateException("boom");
                },
                Priority.LOW));
        CompletableFuture<Void> cancelled = pool.submit(() -> {}, Priority.LOW);
        cancelled.cancel(false);

        ComputePoolMetrics busy = pool.metrics();

        assertThat(busy.submitted()).isEqualTo(3 + 15 + 2);
        assertThat(busy.active()).isEqualTo(3);
        assertThat(busy.depth()).isEqualTo(16);
        assertThat(busy.depth(Priority.LOW)).isEqualTo(2);
        assertThat(busy.depth(Priority.SYSTEM)).isEqualTo(5);
        assertThat(busy.cancelled()).isEqualTo(1);
        assertThat(busy.completed() + busy.failed()).isZero();
        begun.await();
        pool.close();
        assertThat(queued).allMatch(CompletableFuture::isDone);
        ComputePoolMetrics after = pool.metrics();
        assertThat(after.submitted()).isEqualTo(20);
        assertThat(after.completed()).isEqualTo(18);
        assertThat(after.failed()).isEqualTo(1);
        assertThat(after.cancelled()).isEqualTo(1);
        assertThat(after.active() + after.depth()).isZero();
    }

    @Test
    void executionTimeIsWhatTheTasksTookByThePoolsClock_mill5() {
        ComputePool pool = open(ComputePool.builder().threads(1));
        clock.advance(Duration.ofSeconds(7));
        var first = pool.submit(() -> clock.advance(Duration.ofMillis(3)), Priority.LOW);
        var second = pool.submit(
                () -> {
                    clock.advance(Duration.ofMillis(4));
                    throw new IllegalStateException("boom");
                },
                Priority.LOW);

        pool.close();

        assertThat(pool.metrics().executionTime()).isEqualTo(Duration.ofMillis(7));
        assertThat(first).isCompleted();
        assertThat(second).isCompletedExceptionally();
    }

    @Test
    void whoHasSeenAFutureDoneFindsItInTheMetrics_mill5() {
        ComputePool pool = open(ComputePool.builder().threads(2));
        for (int i = 1; i <= 2_000; i++) {
            var _ = pool.submit(() -> 1).join();
            ComputePoolMetrics metrics = pool.metrics();
            assertThat(metrics.completed()).isEqualTo(i);
            assertThat(metrics.active()).isZero();
        }
    }

    @Test
    void aSnapshotDoesNotChange_mill5() {
        ComputePool pool = heldUp(ComputePool.builder());
        ComputePoolMetrics before = pool.metrics();

        var _ = note(pool, "later", Priority.LOW);

        assertThat(before.depth()).isZero();
        assertThatThrownBy(() -> before.depths().put(Priority.LOW, 9))
                .isInstanceOf(UnsupportedOperationException.class);
    }

    // ---- Bounds and the end ----

    @Test
    void aFullQueueRefusesAndLosesNothing_mill5() {
        ComputePool pool = heldUp(ComputePool.builder().queueCapacity(2).name("small"));
        var first = note(pool, 1, Priority.LOW);
        var second = note(pool, 2, Priority.LOW);

        assertThatThrownBy(() -> note(pool, 3, Priority.SYSTEM))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("small")
                .hasMessageContaining("queueCapacity");

        assertThat(pool.metrics().submitted()).isEqualTo(3);
        assertThat(pool.metrics().rejected()).isEqualTo(1);
        first.cancel(false);
        var fourth = note(pool, 4, Priority.LOW);
        openGateAndDrain(pool);
        assertThat(log).as("a cancelled one makes room").containsExactly(2, 4);
        assertThat(second).isCompleted();
        assertThat(fourth).isCompleted();
    }

    @Test
    void closeDrainsAndWaits_mill5() throws Exception {
        ComputePool pool = heldUp(ComputePool.builder());
        for (int i = 0; i < 100; i++) {
            var _ = note(pool, i, Priority.LOW);
        }
        pool.shutdown();
        assertThat(pool.isShutdown()).isTrue();
        assertThat(pool.isTerminated()).isFalse();
        assertThat(pool.awaitTermination(Duration.ZERO)).isFalse();
        Thread closer = Thread.ofPlatform().daemon().start(pool::close);
        await().until(() -> closer.getState() == Thread.State.TIMED_WAITING);

        gate.countDown();

        closer.join();
        assertThat(log).hasSize(100);
        assertThat(pool.isTerminated()).isTrue();
        assertThat(pool.awaitTermination(Duration.ZERO)).isTrue();
        pool.close();
    }

    @Test
    void afterCloseEverythingIsRefused_mill5() {
        ComputePool pool = open(ComputePool.builder().name("late"));
        pool.close();

        assertThatThrownBy(() -> pool.submit(() -> 1, Priority.SYSTEM))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("late");
        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(pool.metrics().submitted()).isZero();
        assertThat(pool.metrics().rejected()).isEqualTo(2);
    }

    @Test
    void closeFromAWorkerDoesNotWaitForItself_mill5() throws Exception {
        ComputePool pool = open(ComputePool.builder().threads(1));

        pool.submit(pool::close).join();

        assertThat(pool.awaitTermination(Duration.ofSeconds(10))).isTrue();
    }

    @Test
    void anInterruptDoesNotCutCloseShort_mill5() throws Exception {
        ComputePool pool = heldUp(ComputePool.builder());
        List<Boolean> seen = Collections.synchronizedList(new ArrayList<>());
        Thread closer = Thread.ofPlatform().daemon().start(() -> {
            Thread.currentThread().interrupt();
            pool.close();
            seen.add(pool.isTerminated());
            seen.add(Thread.currentThread().isInterrupted());
        });
        await().until(() -> closer.getState() == Thread.State.TIMED_WAITING);
        assertThat(seen).isEmpty();

        gate.countDown();

        closer.join();
        assertThat(seen).containsExactly(true, true);
    }

    @Test
    void shutdownNowCancelsWhatWaits_mill5() {
        ComputePool pool = heldUp(ComputePool.builder());
        var low = note(pool, "low", Priority.LOW);
        var high = note(pool, "high", Priority.HIGH);

        assertThat(pool.shutdownNow()).isEqualTo(2);

        assertThat(low).isCancelled();
        assertThat(high).isCancelled();
        assertThat(pool.shutdownNow()).isZero();
        openGateAndDrain(pool);
        assertThat(log).isEmpty();
        assertThat(pool.metrics().cancelled()).isEqualTo(2);
    }

    @Test
    void anIdlePoolParksWithoutATimeout_mill5_mr3() {
        ComputePool pool = open(ComputePool.builder().threads(2).name("idle-" + System.identityHashCode(this)));
        List<Thread> workers = new ArrayList<>();
        CyclicBarrier both = new CyclicBarrier(2);
        List<CompletableFuture<Thread>> futures = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            futures.add(pool.submit(() -> {
                both.await(10, SECONDS);
                return Thread.currentThread();
            }));
        }
        futures.forEach(future -> workers.add(future.join()));

        // WAITING, not TIMED_WAITING: nothing but a task or the end wakes them.
        await().until(() -> workers.stream().allMatch(worker -> worker.getState() == Thread.State.WAITING));

        assertThat(workers).doesNotHaveDuplicates().allMatch(Thread::isDaemon);
        assertThat(workers.getFirst().getName()).startsWith("idle-");
    }

    @Test
    void badSettingsAreRefused_mill5() {
        ComputePool.Builder builder = ComputePool.builder();
        assertThatThrownBy(() -> builder.threads(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.queueCapacity(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> builder.ageing(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
        ComputePool pool = open(builder);
        assertThatThrownBy(() -> pool.submit(() -> 1, null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> pool.execute(null)).isInstanceOf(NullPointerException.class);
        assertThat(pool.threads()).isEqualTo(Runtime.getRuntime().availableProcessors());
        assertThat(pool.metrics().submitted()).isZero();
    }

    @Test
    void toStringIsALineForABugReport_mill5() {
        ComputePool pool = heldUp(ComputePool.builder().name("render").queueCapacity(10));
        var _ = note(pool, 1, Priority.LOW);

        assertThat(pool)
                .hasToString(
                        "compute pool render, 1 of 1 threads active, 1 of 10 queued LOW=1, 2 submitted, 0 completed,"
                                + " 0 failed, 0 cancelled, 0 rejected, 0 ms of work");
    }

    @Test
    @DisplayName("end-1: a failure whose equals throws fails the future too, though the executor refuses it")
    void failureThatCannotBeCompared() {
        RuntimeException odd = new RuntimeException("odd") {
            private static final long serialVersionUID = 1L;

            @Override
            public boolean equals(Object other) {
                throw new IllegalStateException("not to be compared");
            }

            @Override
            public int hashCode() {
                return 1;
            }
        };
        try (ComputePool pool = ComputePool.builder().threads(1).open()) {
            CompletableFuture<Object> future = pool.submit(
                    () -> {
                        throw odd;
                    },
                    Priority.NORMAL,
                    task -> {
                        throw new RejectedExecutionException("refused");
                    });
            assertThatThrownBy(() -> future.get(10, SECONDS)).cause().isSameAs(odd);
        }
    }
}
