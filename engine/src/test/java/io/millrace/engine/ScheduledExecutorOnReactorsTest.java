package io.millrace.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The scheduled executor over the manager that Millrace brings, with its threads and the system's clock. */
class ScheduledExecutorOnReactorsTest {
    private static Reactors reactors(int count) {
        return Reactors.builder().reactors(count).daemon(true).open();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void tasksDelaysAndSeriesRun(int count) throws Exception {
        try (ScheduledExecutorService executor = reactors(count).asScheduledExecutor()) {
            long start = System.nanoTime();
            ScheduledFuture<Long> delayed =
                    executor.schedule(() -> System.nanoTime() - start, 20, TimeUnit.MILLISECONDS);
            CountDownLatch rounds = new CountDownLatch(5);
            ScheduledFuture<?> series = executor.scheduleAtFixedRate(rounds::countDown, 0, 200, TimeUnit.MICROSECONDS);

            assertThat(executor.invokeAll(List.of(() -> 1, () -> 2)))
                    .extracting(Future::get)
                    .containsExactly(1, 2);
            assertThat(delayed.get()).as("never early").isGreaterThanOrEqualTo(20_000_000);
            assertThat(rounds.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(series.cancel(false)).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void theRunsOfASeriesNeverOverlapAndEndWithCancel(int count) throws Exception {
        try (ScheduledExecutorService executor = reactors(count).asScheduledExecutor()) {
            for (int round = 0; round < 50; round++) {
                AtomicInteger inside = new AtomicInteger();
                AtomicInteger overlaps = new AtomicInteger();
                CountDownLatch some = new CountDownLatch(3);
                ScheduledFuture<?> series = executor.scheduleAtFixedRate(
                        () -> {
                            if (inside.incrementAndGet() != 1) {
                                overlaps.incrementAndGet();
                            }
                            some.countDown();
                            inside.decrementAndGet();
                        },
                        0,
                        1,
                        TimeUnit.NANOSECONDS);
                assertThat(some.await(10, TimeUnit.SECONDS)).isTrue();

                assertThat(series.cancel(false)).isTrue();

                assertThat(overlaps).hasValue(0);
            }
            // Each left the manager, although nobody knows where in a run its cancel came.
            assertThat(executor.toString()).contains(" 0 scheduled");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void whateverWasAcceptedRunsOnceOrIsReturnedByShutdownNow(int count) throws Exception {
        long seed = System.nanoTime();
        for (int round = 0; round < 50; round++) {
            ScheduledExecutorService executor = reactors(count).asScheduledExecutor();
            AtomicInteger ran = new AtomicInteger();
            AtomicInteger accepted = new AtomicInteger();
            CountDownLatch begun = new CountDownLatch(200);
            List<FutureTask<Void>> submitters = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                Random random = new Random(seed + 2L * round + i);
                FutureTask<Void> submitter = new FutureTask<>(() -> {
                    submitUntilRefused(executor, random, ran, accepted, begun);
                    return null;
                });
                submitters.add(submitter);
                Thread.ofPlatform().daemon().start(submitter);
            }
            assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();

            List<Runnable> neverRun = executor.shutdownNow();

            for (FutureTask<Void> submitter : submitters) {
                submitter.get();
            }
            assertThat(executor.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
            int ranThere = ran.get();
            neverRun.forEach(Runnable::run);
            assertThat(ran.get() - ranThere).as("not twice; seed %d", seed).isEqualTo(neverRun.size());
            assertThat(ran.get()).as("seed %d, round %d", seed, round).isEqualTo(accepted.get());
        }
    }

    private static void submitUntilRefused(
            ScheduledExecutorService executor,
            Random random,
            AtomicInteger ran,
            AtomicInteger accepted,
            CountDownLatch begun) {
        try {
            for (; ; ) {
                switch (random.nextInt(3)) {
                    case 0 -> executor.execute(ran::incrementAndGet);
                    case 1 -> {
                        var _ = executor.submit(() -> ran.incrementAndGet());
                    }
                    default -> {
                        var _ = executor.schedule(
                                ran::incrementAndGet, random.nextInt(100) - 50, TimeUnit.MICROSECONDS);
                    }
                }
                accepted.incrementAndGet();
                begun.countDown();
            }
        } catch (RejectedExecutionException e) {
            assertThatThrownBy(() -> executor.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        }
    }
}
