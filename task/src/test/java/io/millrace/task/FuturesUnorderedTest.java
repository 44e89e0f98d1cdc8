package io.millrace.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class FuturesUnorderedTest {
    private final CountingWaker parent = new CountingWaker();

    @Test
    @DisplayName("uni-1: sleeps of 2, 3 and 1 s come as 1, 2, 3")
    void resultsComeAsTheyComplete() {
        ManualDelays time = new ManualDelays();
        List<Long> came = new ArrayList<>();
        try (FuturesUnordered<Duration> set = FuturesUnordered.create()) {
            for (int seconds : new int[] {2, 3, 1}) {
                set.add(time.sleep(Duration.ofSeconds(seconds)));
            }
            assertThat(set.poll(parent)).isEqualTo(Step.pending());
            for (int i = 0; i < 3; i++) {
                time.advance(Duration.ofSeconds(1));
                came.add(value(set.poll(parent)).toSeconds());
                assertThat(set.poll(parent)).isEqualTo(i < 2 ? Step.pending() : Step.ended());
            }
        }
        assertThat(came).containsExactly(1L, 2L, 3L);
    }

    @Test
    @DisplayName("uni-1: what became ready within one cycle comes in index order, whatever order it was woken in")
    void oneCycleComesInIndexOrder() {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            List<Promise<Integer>> promises = promises(set, 200);
            for (int i = 199; i >= 0; i--) {
                promises.get(i).complete(i);
            }
            List<Integer> came = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                came.add(value(set.poll(parent)));
            }
            assertThat(came).isEqualTo(IntStream.range(0, 200).boxed().toList());
        }
    }

    @Test
    @DisplayName("uni-2: from an Iterable, from a Java stream by collector, in parallel too, and adding while it runs")
    void feeding() throws InterruptedException {
        List<Pollable<Integer>> ready = List.of(now(1), now(2));
        assertThat(FuturesUnordered.from(ready).collectAll().orThrow()).containsExactly(1, 2);
        FuturesUnordered<Integer> collected =
                Stream.of(3, 4, 5).map(FuturesUnorderedTest::now).collect(FuturesUnordered.collector());
        assertThat(collected.collectAll().orThrow()).containsExactly(3, 4, 5);
        FuturesUnordered<Integer> parallel = IntStream.range(0, 10_000)
                .boxed()
                .parallel()
                .map(FuturesUnorderedTest::now)
                .collect(FuturesUnordered.collector());
        assertThat(parallel.collectAll().orThrow()).hasSize(10_000).doesNotHaveDuplicates();

        FuturesUnordered<Integer> growing = FuturesUnordered.create();
        growing.add(waker -> {
            growing.add(now(7));
            return Step.item(6);
        });
        assertThat(growing.collectAll().orThrow()).containsExactly(6, 7);
    }

    @Test
    @DisplayName(
            "uni-2: a removed child is cancelled and yields nothing; its key does not hit the next owner of its index")
    void removing() {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            Promise<Integer> first = new Promise<>();
            long key = set.add(first);
            set.poll(parent);
            first.complete(1);
            assertThat(set.remove(key)).isTrue();
            assertThat(first.cancels).hasValue(1);
            assertThat(set.remove(key)).isFalse();

            Promise<Integer> second = new Promise<>();
            long next = set.add(second);
            assertThat((int) next).as("index").isEqualTo((int) key);
            assertThat(set.remove(key)).isFalse();
            assertThat(set.size()).isOne();
            second.complete(2);
            assertThat(set.poll(parent)).isEqualTo(Step.item(2));
            assertThat(second.cancels).hasValue(0);
            assertThat(set.remove(next)).isFalse();
            assertThat(set.remove(-1)).isFalse();
            assertThat(set.remove(1L << 40 | 4096)).isFalse();
        }
    }

    @Test
    @DisplayName(
            "uni-2, uni-6: whoever waits for a child that is removed is told, and finds the end; a key that hits nobody tells nobody")
    void removingTellsTheConsumer() {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            long key = set.add(new Promise<>());
            assertThat(set.poll(parent)).isEqualTo(Step.pending());
            parent.take();
            assertThat(set.remove(key + (1L << 32))).isFalse();
            assertThat(parent.take()).isZero();
            assertThat(set.remove(key)).isTrue();
            assertThat(parent.take()).isOne();
            assertThat(set.poll(parent)).isEqualTo(Step.ended());
        }
    }

    @Test
    @DisplayName(
            "uni-9: the latest parent is called though an earlier one was told to come back, and has not been called since")
    void theLatestParentAfterAResult() {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            AtomicInteger polls = new AtomicInteger();
            set.add(waker -> {
                if (polls.incrementAndGet() > 1) {
                    return Step.item(1);
                }
                waker.wake(); // at once: the set tells its parent by itself
                return Step.pending();
            });
            Promise<Integer> other = new Promise<>();
            set.add(other);
            CountingWaker earlier = new CountingWaker();
            assertThat(set.poll(earlier)).isEqualTo(Step.pending());
            assertThat(earlier.take()).isOne();
            assertThat(set.poll(parent)).isEqualTo(Step.item(1));
            parent.take();
            other.wake();
            assertThat(parent.take()).isOne();
            assertThat(earlier.take()).isZero();
        }
    }

    @Test
    @DisplayName("uni-11: a budget of one is the least")
    void theLeastBudget() {
        try (FuturesUnordered<Integer> set =
                FuturesUnordered.<Integer>builder().budget(1).build()) {
            List<Promise<Integer>> two = List.of(new Promise<>(), new Promise<>());
            two.forEach(set::add);
            assertThat(set.poll(parent)).isEqualTo(Step.pending());
            assertThat(two.get(0).polls).hasValue(1);
            assertThat(two.get(1).polls).hasValue(0);
            assertThat(set.poll(parent)).isEqualTo(Step.pending());
            assertThat(two.get(1).polls).hasValue(1);
        }
    }

    @Test
    @DisplayName("uni-4: a set is an iterator as any stream is")
    void asAnIterator() {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            set.add(now(1));
            PollableStream<Integer> stream = set;
            assertThat(stream.toIterator()).toIterable().containsExactly(new Item<>(1));
        }
    }

    @Test
    @DisplayName("uni-2: a child removed during its own poll is cancelled after it, and its result is dropped")
    void removingDuringThePoll() {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            List<String> log = new ArrayList<>();
            long[] keys = new long[2];
            for (int i = 0; i < 2; i++) {
                int id = i;
                keys[i] = set.add(new Pollable<>() {
                    @Override
                    public Step<Integer> poll(Waker waker) {
                        assertThat(set.remove(keys[id])).isTrue();
                        log.add("polled " + id);
                        return id == 0 ? Step.pending() : Step.item(1);
                    }

                    @Override
                    public void cancel() {
                        log.add("cancelled " + id);
                    }
                });
            }
            assertThat(set.poll(parent)).isEqualTo(Step.ended());
            assertThat(log).containsExactly("polled 0", "cancelled 0", "polled 1");
        }
    }

    @Test
    @DisplayName("uni-7: a result is yielded at once; the next call goes on behind it, in the same cycle")
    void theCursorSurvives() {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            List<Promise<Integer>> promises = promises(set, 5);
            promises.get(1).complete(1);
            promises.get(3).complete(3);
            promises.get(4).wake();
            assertThat(set.poll(parent)).isEqualTo(Step.item(1));
            assertThat(promises.get(3).polls).hasValue(1); // by promises()
            promises.get(0).complete(0); // behind the cursor: the next cycle
            assertThat(set.poll(parent)).isEqualTo(Step.item(3));
            assertThat(promises.get(4).polls).hasValue(1);
            assertThat(set.poll(parent)).isEqualTo(Step.pending());
            assertThat(promises.get(4).polls).hasValue(2);
            assertThat(set.poll(parent)).isEqualTo(Step.item(0));
        }
    }

    @Test
    @DisplayName("uni-7: after a cycle it yields once, with a self-wake only if somebody is flagged")
    void noSpin() {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            Promise<Integer> quiet = new Promise<>();
            set.add(quiet);
            assertThat(set.poll(parent)).isEqualTo(Step.pending());
            assertThat(parent.take()).as("nobody is flagged").isZero();
            assertThat(set.poll(parent)).isEqualTo(Step.pending());
            assertThat(quiet.polls).hasValue(1);
            set.add(waker -> {
                waker.wake();
                return Step.pending();
            });
            parent.take();
            assertThat(set.poll(parent)).isEqualTo(Step.pending());
            assertThat(parent.take()).as("the spinner is flagged").isOne();
        }
    }

    @Test
    @DisplayName("uni-8: a late waker of a finished child does not wake the slot's next owner")
    void generations() {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            Promise<Integer> first = new Promise<>();
            long key = set.add(first);
            set.poll(parent);
            Waker late = first.waker;
            first.complete(1);
            assertThat(set.poll(parent)).isEqualTo(Step.item(1));

            Promise<Integer> second = new Promise<>();
            assertThat((int) set.add(second)).isEqualTo((int) key);
            set.poll(parent);
            assertThat(second.polls).hasValue(1);
            parent.take();
            late.wake();
            assertThat(parent.calls()).isZero();
            set.poll(parent);
            set.poll(parent);
            assertThat(second.polls).hasValue(1);
            second.complete(2);
            assertThat(set.poll(parent)).isEqualTo(Step.item(2));
        }
    }

    @Test
    @DisplayName("uni-8: a waker that is interrupted between its two steps, while its slot changes hands, wakes nobody"
            + " either")
    void generationsWithinAWake() {
        WakeSet wakes = new WakeSet();
        Child decoy = wakes.add("the lone one", Child.WOKEN);
        wakes.flag(decoy);
        Child first = wakes.add("first", 0);
        first.ask();
        assertThat(wakes.startCycle()).isTrue();
        assertThat(wakes.next()).isSameAs(decoy);
        assertThat(wakes.next()).isSameAs(first);
        assertThat(first.begin()).isTrue();
        first.finish();
        wakes.free(first);
        Child second = wakes.add("second", 0);
        assertThat(second.index()).isEqualTo(first.index());
        // The second step of first.wake(), whose first step came before it was finished: as the lone one, and by its
        // bit.
        wakes.flag(first);
        assertThat(wakes.startCycle()).isTrue();
        assertThat(wakes.next()).isSameAs(first);
        assertThat(first.begin()).as("it is done").isFalse();
        assertThat(wakes.next()).isNull();
        wakes.mark(first.page(), first.index());
        assertThat(wakes.startCycle()).isTrue();
        assertThat(wakes.next()).isSameAs(second);
        assertThat(second.begin()).as("it was not woken").isFalse();
    }

    @Test
    @DisplayName("uni-9: the latest parent waker is the one called")
    void theLatestParent() {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            Promise<Integer> promise = new Promise<>();
            set.add(promise);
            CountingWaker former = new CountingWaker();
            set.poll(former);
            set.poll(parent);
            promise.wake();
            promise.wake();
            assertThat(former.calls()).isZero();
            assertThat(parent.calls()).as("once until the next poll").isOne();
            set.poll(former);
            promise.wake();
            assertThat(former.calls()).isOne();
            assertThat(parent.calls()).isOne();
        }
    }

    @Test
    @DisplayName("uni-9: closing cancels the children, once; wakers are harmless afterwards, adding is refused")
    void closing() {
        FuturesUnordered<Integer> set = FuturesUnordered.create();
        List<Promise<Integer>> promises = promises(set, 100);
        promises.getFirst().complete(0);
        set.poll(parent);
        set.poll(parent);
        set.close();
        set.close();
        assertThat(promises)
                .element(0)
                .satisfies(done -> assertThat(done.cancels).hasValue(0));
        assertThat(promises.subList(1, 100))
                .allSatisfy(child -> assertThat(child.cancels).hasValue(1));
        assertThat(set.size()).isZero();
        assertThat(set.poll(parent)).isEqualTo(Step.ended());
        parent.take();
        promises.forEach(Promise::wake);
        assertThat(parent.calls()).isZero();
        assertThat(set.poll(parent)).isEqualTo(Step.ended());
        assertThat(promises).allSatisfy(child -> assertThat(child.polls.get()).isLessThanOrEqualTo(2));
        assertThatThrownBy(() -> set.add(new Promise<>()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
    }

    @Test
    @DisplayName("uni-12: an empty set is at its end at once, and a child that is added revives it")
    void theEndAndAfter() throws InterruptedException {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            assertThat(set.poll(parent)).isEqualTo(Step.ended());
            assertThat(set.next()).isNull();
            set.poll(parent);
            set.add(now(1));
            assertThat(parent.calls())
                    .as("the waker of the poll that found the end")
                    .isOne();
            assertThat(set.next()).isEqualTo(Step.item(1));
            assertThat(set.next()).isNull();
        }
    }

    @Test
    @DisplayName("uni-13: a second consumer, or a child that consumes its own set, gets an IllegalStateException")
    void oneConsumer() throws Exception {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            Promise<Integer> promise = new Promise<>();
            set.add(promise);
            CountDownLatch done = new CountDownLatch(1);
            Thread consumer = Thread.ofVirtual().start(() -> {
                try {
                    set.next();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                } finally {
                    done.countDown();
                }
            });
            Waits.untilParked(consumer);
            assertThatThrownBy(() -> set.poll(parent)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(set::next).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(set::nextAsync).isInstanceOf(IllegalStateException.class);
            promise.complete(1);
            done.await();
            set.add(waker -> {
                set.poll(Waker.none());
                return Step.item(1);
            });
            assertThat(set.poll(parent))
                    .isInstanceOfSatisfying(
                            Failed.class,
                            failed -> assertThat(failed.cause())
                                    .isInstanceOf(IllegalStateException.class)
                                    .hasMessageContaining("one consumer at a time"));
        }
    }

    @Test
    @DisplayName("uni-13: size, isEmpty and clear")
    void sizes() {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            assertThat(set.isEmpty()).isTrue();
            List<Promise<Integer>> promises = promises(set, 5000);
            assertThat(set.size()).isEqualTo(5000);
            assertThat(set.isEmpty()).isFalse();
            parent.take();
            set.clear();
            assertThat(parent.calls())
                    .as("a consumer that waits learns of the end")
                    .isOne();
            assertThat(set.isEmpty()).isTrue();
            assertThat(promises).allSatisfy(child -> assertThat(child.cancels).hasValue(1));
            assertThat(set.poll(parent)).isEqualTo(Step.ended());
            set.add(now(1));
            assertThat(set.poll(parent)).isEqualTo(Step.item(1));
            assertThat(set).hasToString("FuturesUnordered, 0 children, cycle 1");
        }
    }

    @Test
    @DisplayName(
            "a child that throws yields its failure, and the others go on; so does one that returns null or the end")
    void failures() {
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            Exception checked = new Exception("checked");
            set.add(waker -> {
                throw checked;
            });
            set.add(waker -> {
                throw new StackOverflowError();
            });
            set.add(waker -> null);
            set.add(waker -> Step.ended());
            set.add(now(5));
            assertThat(cause(set.poll(parent))).isSameAs(checked);
            assertThat(cause(set.poll(parent))).isInstanceOf(StackOverflowError.class);
            assertThat(cause(set.poll(parent))).isInstanceOf(NullPointerException.class);
            assertThat(cause(set.poll(parent))).isInstanceOf(IllegalStateException.class);
            assertThat(set.poll(parent)).isEqualTo(Step.item(5));
            assertThat(set.poll(parent)).isEqualTo(Step.ended());
        }
    }

    @Test
    @DisplayName("a cancel that throws goes to the uncaught exception handler, and the others are cancelled")
    void cancelThatThrows() {
        List<Throwable> uncaught = new ArrayList<>();
        Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> uncaught.add(failure));
        FuturesUnordered<Integer> set = FuturesUnordered.create();
        RuntimeException thrown = new RuntimeException("cancel");
        set.add(new Pollable<>() {
            @Override
            public Step<Integer> poll(Waker waker) {
                return Step.pending();
            }

            @Override
            public void cancel() {
                throw thrown;
            }
        });
        Promise<Integer> other = new Promise<>();
        set.add(other);
        set.close();
        assertThat(uncaught).containsExactly(thrown);
        assertThat(other.cancels).hasValue(1);
    }

    @Test
    @DisplayName("uni-11: a call polls at most as many children as the budget allows, and goes on with the next")
    void budget() {
        try (FuturesUnordered<Integer> set =
                FuturesUnordered.<Integer>builder().budget(10).build()) {
            List<Promise<Integer>> promises =
                    Stream.generate(Promise<Integer>::new).limit(25).toList();
            promises.forEach(set::add);
            for (int polled : new int[] {10, 20, 25}) {
                assertThat(set.poll(parent)).isEqualTo(Step.pending());
                assertThat(promises.stream()
                                .mapToInt(child -> child.polls.get())
                                .sum())
                        .isEqualTo(polled);
                assertThat(parent.take()).isEqualTo(polled < 25 ? 1 : 0);
            }
        }
        assertThatThrownBy(() -> FuturesUnordered.builder().budget(0).build())
                .isInstanceOf(IllegalArgumentException.class);
    }

    @SuppressWarnings("unchecked")
    private static <T> T value(Step<T> step) {
        assertThat(step).isInstanceOf(Item.class);
        return ((Item<T>) step).value();
    }

    private static Throwable cause(Step<?> step) {
        assertThat(step).isInstanceOf(Failed.class);
        return ((Failed<?>) step).cause();
    }

    private static <T> Pollable<T> now(T value) {
        return waker -> Step.item(value);
    }

    /** Children that have been polled once. */
    private List<Promise<Integer>> promises(FuturesUnordered<Integer> set, int count) {
        List<Promise<Integer>> promises =
                Stream.generate(Promise<Integer>::new).limit(count).toList();
        promises.forEach(set::add);
        do {
            parent.take();
            assertThat(set.poll(parent)).isEqualTo(Step.pending());
        } while (parent.calls() > 0);
        return promises;
    }

    @Test
    @DisplayName("uni-2: a stage that cannot be listened to is not added, and is not cancelled")
    void aFailedAddChangesNothing() throws Exception {
        CompletableFuture<Integer> deaf = new CompletableFuture<>() {
            @Override
            public CompletableFuture<Integer> whenComplete(BiConsumer<? super Integer, ? super Throwable> action) {
                throw new IllegalStateException("listeners are closed");
            }
        };
        try (FuturesUnordered<Integer> set = FuturesUnordered.create()) {
            assertThatThrownBy(() -> set.add((CompletionStage<Integer>) deaf))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("listeners are closed");
            assertThat(set.size()).isZero();
            assertThat(set.next()).isNull();
            assertThat(deaf.isDone()).isFalse();
            set.add(CompletableFuture.completedFuture(1));
            assertThat(set.next()).isEqualTo(new Item<>(1));
        }
    }

    @Test
    @DisplayName("uni-9: close cancels every child, though each throws and the handler that is told throws, too")
    void closeGoesOnWhateverItsHandlersDo() throws Exception {
        List<Integer> cancelled = new ArrayList<>();
        Thread closer = Thread.ofPlatform().unstarted(() -> {
            FuturesUnordered<Integer> set = FuturesUnordered.create();
            for (int i = 0; i < 5; i++) {
                int number = i;
                set.add(new Pollable<Integer>() {
                    @Override
                    public Step<Integer> poll(Waker waker) {
                        return Step.pending();
                    }

                    @Override
                    public void cancel() {
                        cancelled.add(number);
                        throw new IllegalStateException("not today");
                    }
                });
            }
            set.close();
            cancelled.add(set.size());
        });
        closer.setUncaughtExceptionHandler((thread, failure) -> {
            throw new IllegalStateException("nor here");
        });
        closer.start();
        closer.join();
        assertThat(cancelled).containsExactly(0, 1, 2, 3, 4, 0);
    }
}
