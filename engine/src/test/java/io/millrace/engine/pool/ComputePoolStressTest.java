package io.millrace.engine.pool;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Priority;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** mill-5: submitters, cancellers, failing tasks and a full queue at once; the books add up in every snapshot and agree with what happened. */
class ComputePoolStressTest {
    private static final int SUBMITTERS = 3;
    private static final int TASKS = Boolean.getBoolean("millrace.soak") ? 2_000_000 : 60_000;

    private final LongAdder ran = new LongAdder();
    private final LongAdder threw = new LongAdder();
    private final LongAdder refused = new LongAdder();

    @Test
    void everySnapshotAddsUpAndTheSumIsWhatHappened_mill5() throws Exception {
        long seed = System.nanoTime();
        ComputePool pool = ComputePool.builder()
                .threads(3)
                .queueCapacity(64)
                .ageing(Duration.ofNanos(500))
                .daemon(true)
                .open();
        AtomicBoolean over = new AtomicBoolean();
        FutureTask<Long> audit = new FutureTask<>(() -> audit(pool, over));
        Thread.ofPlatform().daemon().start(audit);
        List<FutureTask<Boolean>> submitters = new ArrayList<>();
        for (int i = 0; i < SUBMITTERS; i++) {
            Random random = new Random(seed + i);
            FutureTask<Boolean> submitter = new FutureTask<>(() -> submit(pool, random), true);
            submitters.add(submitter);
            Thread.ofPlatform().daemon().start(submitter);
        }
        for (FutureTask<Boolean> submitter : submitters) {
            assertThat(submitter.get()).isTrue();
        }
        pool.close();
        over.set(true);

        assertThat(audit.get()).as("snapshots looked at; seed %d", seed).isPositive();
        ComputePoolMetrics end = pool.metrics();
        addsUp(end);
        assertThat(end.depth() + end.active()).isZero();
        assertThat(end.completed()).as("seed %d", seed).isEqualTo(ran.sum());
        assertThat(end.failed()).as("seed %d", seed).isEqualTo(threw.sum());
        assertThat(end.rejected()).as("seed %d", seed).isEqualTo(refused.sum());
        assertThat(end.submitted() + end.rejected()).isEqualTo((long) SUBMITTERS * TASKS);
        assertThat(end.cancelled()).as("some were cancelled in time").isPositive();
    }

    private static long audit(ComputePool pool, AtomicBoolean over) {
        long snapshots = 0;
        ComputePoolMetrics last = pool.metrics();
        while (!over.get()) {
            ComputePoolMetrics now = pool.metrics();
            addsUp(now);
            if (now.submitted() < last.submitted() || now.completed() < last.completed()) {
                throw new AssertionError(last + " and then " + now);
            }
            if (now.active() > 3 || now.depth() > 64) {
                throw new AssertionError("too many: " + now);
            }
            last = now;
            snapshots++;
        }
        return snapshots;
    }

    private static void addsUp(ComputePoolMetrics now) {
        if (now.submitted() != now.completed() + now.failed() + now.cancelled() + now.active() + now.depth()) {
            throw new AssertionError("does not add up: " + now);
        }
    }

    private void submit(ComputePool pool, Random random) {
        Priority[] priorities = Priority.values();
        for (int i = 0; i < TASKS; i++) {
            boolean fails = random.nextInt(8) == 0;
            Priority priority = priorities[random.nextInt(priorities.length)];
            try {
                CompletableFuture<Void> future = pool.submit(
                        () -> {
                            if (fails) {
                                threw.increment();
                                throw new IllegalStateException("boom");
                            }
                            ran.increment();
                        },
                        priority);
                switch (random.nextInt(4)) {
                    case 0 -> future.cancel(false);
                    case 1 -> future.complete(null);
                    case 2 -> addsUp(pool.metrics());
                    default -> {}
                }
            } catch (RejectedExecutionException e) {
                refused.increment();
                Thread.onSpinWait();
            }
        }
    }
}
