package io.millrace.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** mr-8: how many at once, for how long, and what a failure means. */
class PoliciesTest {
    private final CountingWaker parent = new CountingWaker();

    @Test
    @DisplayName("mr-8: at most n in flight: the iterator is walked lazily, by the consumer, as room appears")
    void atMost() {
        List<Promise<Integer>> started = new ArrayList<>();
        FuturesUnordered<Integer> set = FuturesUnordered.<Integer>atMost(3).from(List.of(0, 1, 2, 3, 4), input -> {
            Promise<Integer> promise = new Promise<>();
            started.add(promise);
            return promise;
        });
        assertThat(started).as("nothing before it is consumed").isEmpty();
        assertThat(set.isEmpty()).isFalse();
        assertThat(set.poll(parent)).isEqualTo(Step.pending());
        assertThat(started).hasSize(3);
        started.get(1).complete(1);
        assertThat(set.poll(parent)).isEqualTo(Step.item(1));
        assertThat(started).hasSize(3);
        assertThat(set.poll(parent)).isEqualTo(Step.pending());
        assertThat(started).hasSize(4);
        assertThat(set.size()).isEqualTo(3);
        for (int i : new int[] {0, 2, 3}) {
            started.get(i).complete(i);
        }
        List<Step<Integer>> steps = new ArrayList<>();
        Step<Integer> step;
        do {
            step = set.poll(parent);
            steps.add(step);
        } while (step instanceof Outcome);
        assertThat(steps).contains(Step.item(0), Step.item(2), Step.item(3));
        assertThat(started).hasSize(5);
        started.get(4).complete(4);
        assertThat(set.poll(parent)).isEqualTo(Step.item(4));
        assertThat(set.poll(parent)).isEqualTo(Step.ended());
        assertThat(set.isEmpty()).isTrue();
    }

    @Test
    @DisplayName("mr-8: an endless iterator of calls, never more than n running; clearing forgets it")
    void endless() throws InterruptedException {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        Iterator<Integer> numbers = Stream.iterate(0, n -> n + 1).iterator();
        try (FuturesUnordered<Integer> set = FuturesUnordered.<Integer>atMost(4)
                .from(
                        () -> numbers,
                        n -> Pollable.call(() -> {
                            most.accumulateAndGet(running.incrementAndGet(), Math::max);
                            running.decrementAndGet();
                            return n;
                        }))) {
            List<Integer> came = new ArrayList<>();
            for (int i = 0; i < 500; i++) {
                assertThat(set.next()).isInstanceOfSatisfying(Item.class, item -> came.add((Integer) item.value()));
            }
            assertThat(came).doesNotHaveDuplicates();
            assertThat(most.get()).isLessThanOrEqualTo(4);
            set.clear();
            assertThat(set.next()).isNull();
        }
    }

    @Test
    @DisplayName("mr-8: an iterator that throws is a failure among the results; those it gave before go on")
    void failingFeed() throws InterruptedException {
        RuntimeException no = new RuntimeException("no");
        FuturesUnordered<Integer> set = FuturesUnordered.<Integer>atMost(10).from(List.of(1, 2, 3), n -> {
            if (n == 2) {
                throw no;
            }
            return waker -> Step.item(n);
        });
        Collected<Integer> all = set.collectAll();
        assertThat(all.items()).containsExactly(1);
        assertThat(all.failures()).containsExactly(no);
        assertThatThrownBy(() -> FuturesUnordered.atMost(0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("mr-8: a child that takes too long is cancelled and fails with a TimeoutException; the others go on")
    void timeouts() {
        ManualDelays time = new ManualDelays();
        try (FuturesUnordered<Integer> set = FuturesUnordered.<Integer>builder()
                .timeout(Duration.ofSeconds(5))
                .alarms(time)
                .build()) {
            Promise<Integer> slow = new Promise<>();
            Promise<Integer> quick = new Promise<>();
            set.add(slow);
            set.add(quick);
            assertThat(set.poll(parent)).isEqualTo(Step.pending());
            assertThat(time.set()).isEqualTo(2);
            quick.complete(1);
            assertThat(set.poll(parent)).isEqualTo(Step.item(1));
            assertThat(time.set()).as("its alarm is off").isOne();
            time.advance(Duration.ofNanos(4_999_999_999L));
            assertThat(set.poll(parent)).isEqualTo(Step.pending());
            time.advance(Duration.ofNanos(1));
            assertThat(set.poll(parent))
                    .isInstanceOfSatisfying(
                            Failed.class,
                            failed -> assertThat(failed.cause())
                                    .isInstanceOf(TimeoutException.class)
                                    .hasMessageStartingWith("no value within PT5S"));
            assertThat(slow.cancels).hasValue(1);
            assertThat(set.poll(parent)).isEqualTo(Step.ended());

            Promise<Integer> tight = new Promise<>();
            long key = set.add(tight);
            set.poll(parent);
            tight.complete(2);
            time.advance(Duration.ofSeconds(5));
            assertThat(set.poll(parent)).as("a value that is there counts").isEqualTo(Step.item(2));
            assertThat(set.remove(key)).isFalse();

            Promise<Integer> removed = new Promise<>();
            long other = set.add(removed);
            set.poll(parent);
            set.remove(other);
            assertThat(time.set()).isZero();
            assertThat(removed.cancels).hasValue(1);
        }
    }

    @Test
    @DisplayName("mr-8: the system's alarms ring, and not early")
    void systemAlarms() throws InterruptedException {
        long begin = System.nanoTime();
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            set.add(new Promise<Integer>().within(Duration.ofMillis(30)));
            assertThat(set.next()).isInstanceOf(Failed.class);
        }
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(30));
    }

    @Test
    @DisplayName("mr-8: first failure: it is yielded, and everybody else is cancelled, also those that wait for room")
    void firstFailure() throws InterruptedException {
        RuntimeException no = new RuntimeException("no");
        List<Promise<Integer>> started = new ArrayList<>();
        FuturesUnordered<Integer> set = FuturesUnordered.<Integer>atMost(10)
                .onFailure(FailurePolicy.FIRST_FAILURE)
                .from(IntStream.range(0, 20).boxed().toList(), n -> {
                    Promise<Integer> promise = new Promise<>();
                    started.add(promise);
                    return promise;
                });
        set.poll(parent);
        started.get(5).settle(Step.failed(no));
        assertThat(((Failed<?>) set.poll(parent)).cause()).isSameAs(no);
        assertThat(set.next()).isNull();
        assertThat(started).hasSize(10);
        for (int i = 0; i < 10; i++) {
            assertThat(started.get(i).cancels).as("child %d", i).hasValue(i == 5 ? 0 : 1);
        }
    }

    @Test
    @DisplayName("mr-8: collect all: every result and every failure; orThrow has the first, the others suppressed")
    void collectAll() throws InterruptedException {
        FuturesUnordered<Integer> set = FuturesUnordered.create();
        for (int i = 0; i < 6; i++) {
            int n = i;
            set.add(waker -> n % 2 == 0 ? Step.item(n) : Step.failed(new RuntimeException("no " + n)));
        }
        Collected<Integer> all = set.collectAll();
        assertThat(all.items()).containsExactly(0, 2, 4);
        assertThat(all.failures()).extracting(Throwable::getMessage).containsExactly("no 1", "no 3", "no 5");
        assertThatThrownBy(all::orThrow)
                .isInstanceOf(CompletionException.class)
                .cause()
                .hasMessage("no 1");
        assertThatThrownBy(all::orThrow)
                .satisfies(thrown -> assertThat(thrown.getSuppressed()).hasSize(2));
        assertThatThrownBy(() -> Step.failed(new RuntimeException()).orThrow()).isInstanceOf(CompletionException.class);
    }

    @Test
    @DisplayName("mr-8, uni-3: a timeout holds for stages and calls as for others; their keys remove them")
    void timeoutsOfEveryKind() throws Exception {
        ManualDelays time = new ManualDelays();
        try (FuturesUnordered<Integer> set = FuturesUnordered.<Integer>builder()
                .timeout(Duration.ofSeconds(5))
                .alarms(time)
                .build()) {
            CompletableFuture<Integer> stage = new CompletableFuture<>();
            long stageKey = set.add(stage);
            CountDownLatch never = new CountDownLatch(1);
            CountDownLatch begun = new CountDownLatch(1);
            Callable<Integer> stuck = () -> {
                begun.countDown();
                never.await();
                return 1;
            };
            long callKey = set.add(stuck);
            assertThat(begun.await(30, TimeUnit.SECONDS))
                    .as("it begins before anybody polls")
                    .isTrue();
            Callable<Integer> quick = () -> 2;
            set.add(quick);
            assertThat(set.next()).isEqualTo(new Item<>(2));
            assertThat(time.set()).as("alarms of the two that wait").isEqualTo(2);
            assertThat(set.remove(stageKey)).isTrue();
            assertThat(stage).isCancelled();
            assertThat(set.remove(callKey)).isTrue();
            assertThat(set.isEmpty()).isTrue();
            assertThat(time.set()).isZero();
        }
    }

    @Test
    @DisplayName("mr-8: a child that its iterator hands out while the set is being closed is cancelled")
    void closedWhileItIsFed() {
        Promise<Integer> late = new Promise<>();
        List<FuturesUnordered<Integer>> sets = new ArrayList<>();
        sets.add(FuturesUnordered.<Integer>atMost(3).from(List.of(1), input -> {
            sets.getFirst().close();
            return late;
        }));
        assertThat(sets.getFirst().poll(parent)).isEqualTo(Step.ended());
        assertThat(late.cancels).hasValue(1);
        assertThat(late.polls).hasValue(0);
    }
}
