package io.millrace.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** uni-4: every way to consume. */
class ConsumeTest {
    private final FuturesUnordered<Integer> set = FuturesUnordered.create();
    private final Promise<Integer> promise = new Promise<>();

    ConsumeTest() {
        set.add(promise);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("uni-4, uni-13: next() parks without a timeout, on a virtual thread and on a platform one, and costs"
            + " nothing meanwhile")
    void blocking(boolean virtual) throws Exception {
        FutureTask<Outcome<Integer>> consumer = new FutureTask<>(set::next);
        Thread thread = virtual
                ? Thread.ofVirtual().start(consumer)
                : Thread.ofPlatform().start(consumer);
        Waits.untilParked(thread);
        assertThat(promise.polls).hasValue(1);
        promise.wake(); // spurious: polled, and parked again
        await().until(() -> promise.polls.get() == 2);
        Waits.untilParked(thread);
        assertThat(consumer.isDone()).isFalse();
        promise.complete(1);
        assertThat(consumer.get()).isEqualTo(Step.item(1));
        assertThat(promise.polls).hasValue(3);
    }

    @Test
    @DisplayName(
            "uni-4: an interrupt ends next() with nothing lost, and a loop with a CancellationException and the flag"
                    + " set")
    void interrupts() throws Exception {
        FutureTask<Outcome<Integer>> consumer = new FutureTask<>(set::next);
        Thread thread = Thread.ofVirtual().start(consumer);
        Waits.untilParked(thread);
        thread.interrupt();
        assertThatThrownBy(consumer::get).hasCauseInstanceOf(InterruptedException.class);

        FutureTask<Boolean> loop = new FutureTask<>(() -> {
            assertThatThrownBy(() -> set.iterator().hasNext()).isInstanceOf(CancellationException.class);
            return Thread.currentThread().isInterrupted();
        });
        Thread looping = Thread.ofVirtual().start(loop);
        Waits.untilParked(looping);
        looping.interrupt();
        assertThat(loop.get()).isTrue();
        promise.complete(1);
        assertThat(set.next()).isEqualTo(Step.item(1));
    }

    @Test
    @DisplayName("uni-9: closing ends a consumer that waits")
    void closeWhileWaiting() throws Exception {
        FutureTask<Outcome<Integer>> consumer = new FutureTask<>(set::next);
        Waits.untilParked(Thread.ofVirtual().start(consumer));
        set.close();
        assertThat(consumer.get()).isNull();
    }

    @Test
    @DisplayName("uni-4: a for loop, and a Java stream, until the set is empty")
    void loops() {
        set.add(() -> 2);
        promise.settle(Step.failed(new IllegalArgumentException("no")));
        List<String> log = new ArrayList<>();
        for (var outcome : set) {
            switch (outcome) {
                case Item(Integer value) -> log.add("item " + value);
                case Failed<?> failed -> log.add("failed " + failed.cause().getMessage());
            }
        }
        assertThat(log).containsExactlyInAnyOrder("item 2", "failed no");
        for (int i = 0; i < 10; i++) {
            int value = i;
            set.add(CompletableFuture.supplyAsync(() -> value));
        }
        assertThat(set.stream().mapToInt(Outcome::orThrow).sum()).isEqualTo(45);
    }

    @Test
    @DisplayName("uni-4: asynchronously, one future per result; dependents may ask for the next")
    void async() throws Exception {
        CompletableFuture<Optional<Outcome<Integer>>> first = set.nextAsync();
        assertThat(first).isNotDone();
        assertThatThrownBy(set::nextAsync).isInstanceOf(IllegalStateException.class);
        CompletableFuture<Optional<Outcome<Integer>>> second = first.thenCompose(ignored -> set.nextAsync());
        Thread.ofVirtual().start(() -> promise.complete(1));
        assertThat(first.get()).contains(Step.item(1));
        assertThat(second.get()).isEmpty();
    }

    @Test
    @DisplayName("uni-4: a future that was cancelled takes no result with it and lets the next consumer in")
    void cancelledAsync() throws Exception {
        CompletableFuture<Optional<Outcome<Integer>>> first = set.nextAsync();
        assertThat(first.cancel(true)).isTrue();
        await().ignoreException(IllegalStateException.class)
                .until(() -> set.poll(Waker.none()) instanceof Step.Pending);
        promise.complete(1);
        assertThat(set.nextAsync().get()).contains(Step.item(1));
    }

    @Test
    @DisplayName("uni-4: whoever completes the future, it is complete once, and the next consumer is let in")
    void completedBySomebodyElse() throws Exception {
        List<Function<CompletableFuture<Optional<Outcome<Integer>>>, Boolean>> ways = List.of(
                future -> future.cancel(true),
                future -> future.complete(Optional.empty()),
                future -> future.completeExceptionally(new TimeoutException("as by orTimeout")));
        for (Function<CompletableFuture<Optional<Outcome<Integer>>>, Boolean> way : ways) {
            CompletableFuture<Optional<Outcome<Integer>>> future = set.nextAsync(Runnable::run);
            assertThat(way.apply(future)).isTrue();
            assertThat(ways).noneMatch(again -> again.apply(future));
            assertThat(set.poll(Waker.none())).isEqualTo(Step.pending());
        }
        CompletableFuture<Optional<Outcome<Integer>>> last = set.nextAsync(Runnable::run);
        promise.complete(1);
        assertThat(ways).noneMatch(way -> way.apply(last));
        assertThat(last.get()).contains(Step.item(1));
    }

    @Test
    @DisplayName("uni-4: a result found by a run whose future was cancelled meanwhile is the next consumer's")
    void unread() throws Exception {
        Tasks tasks = new Tasks();
        FuturesUnordered<Integer> fresh = FuturesUnordered.create();
        List<CompletableFuture<?>> futures = new ArrayList<>();
        Promise<Integer> late = new Promise<>();
        fresh.add(late);
        CompletableFuture<Optional<Outcome<Integer>>> future = fresh.nextAsync(tasks);
        futures.add(future);
        fresh.clear();
        fresh.add(waker -> {
            futures.getFirst().cancel(false); // after the run looked, before it has the result
            return Step.item(5);
        });
        tasks.runAll();
        assertThat(future).isCancelled();
        assertThat(fresh.next()).isEqualTo(Step.item(5));
        assertThat(fresh.next()).isNull();
    }

    @Test
    @DisplayName("uni-4: an executor that refuses is a failure of the future, and the set is free again")
    void refused() {
        Executor refuses = task -> {
            throw new RejectedExecutionException("closed");
        };
        CompletableFuture<Optional<Outcome<Integer>>> future = set.nextAsync(refuses);
        promise.wake();
        assertThat(future)
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(RejectedExecutionException.class);
        assertThat(set.poll(Waker.none())).isEqualTo(Step.pending());
    }

    @Test
    @DisplayName("uni-4: as a publisher; a failure is its error and closes the set, as outcomes it goes on")
    void publisher() {
        Received<Integer> items = new Received<>();
        set.toPublisher().subscribe(items);
        Promise<Integer> fails = new Promise<>();
        set.add(fails);
        promise.complete(1);
        await().until(() -> items.signals.get() == 1);
        fails.settle(Step.failed(new IllegalArgumentException("no")));
        await().until(() -> items.end != null);
        assertThat(items.end).isEqualTo("error no");
        assertThat(items.elements).containsExactly(1);
        assertThatThrownBy(() -> set.add(promise)).isInstanceOf(IllegalStateException.class);

        FuturesUnordered<Integer> other = FuturesUnordered.create();
        other.add(CompletableFuture.failedFuture(new IllegalArgumentException("no")));
        other.add(() -> 2);
        Received<Outcome<Integer>> outcomes = new Received<>();
        other.outcomes()
                .toPublisher(Executors.newVirtualThreadPerTaskExecutor())
                .subscribe(outcomes);
        await().until(() -> outcomes.end != null);
        assertThat(outcomes.end).isEqualTo("complete");
        assertThat(outcomes.elements).hasSize(2).contains(Step.item(2));
    }

    @Test
    @DisplayName("uni-4: cancelling the subscription cancels the children")
    void cancelledPublisher() {
        Received<Integer> received = new Received<>();
        set.toPublisher().subscribe(received);
        await().until(() -> promise.polls.get() == 1);
        received.subscription.cancel();
        await().until(() -> promise.cancels.get() == 1);
        assertThat(received.end).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"LEVEL", "EDGE"})
    @DisplayName(
            "uni-4: as a source on a Poll: readable while polling is worth while, silent when idle, revived by an add")
    void source(Trigger trigger) {
        try (Poll poll = Poll.open();
                StreamSource<Integer> source = set.toSource()) {
            Events events = Events.withCapacity(4);
            poll.register(source, 7, Interest.READABLE, trigger);
            assertThat(poll.poll(events, Duration.ZERO))
                    .as("nobody has looked yet")
                    .isOne();
            assertThat(source.poll()).isEqualTo(Step.pending());
            assertThat(poll.poll(events, Duration.ZERO)).as("idle").isZero();
            Thread.ofVirtual().start(() -> promise.complete(1));
            assertThat(poll.poll(events, Duration.ofSeconds(30))).isOne();
            assertThat(events.advance()).isTrue();
            assertThat(events.token()).isEqualTo(7);
            assertThat(source.poll()).isEqualTo(Step.item(1));
            assertThat(source.poll()).isEqualTo(Step.ended());
            assertThat(poll.poll(events, Duration.ZERO)).as("at its end").isZero();
            set.add(CompletableFuture.completedFuture(2));
            assertThat(poll.poll(events, Duration.ofSeconds(30))).isOne();
            assertThat(source.poll()).isEqualTo(Step.item(2));
        }
    }

    @Test
    @DisplayName("uni-4, uni-7: a spinner in a source leaves room for others: one cycle, then the poll is asked again")
    void sourceWithASpinner() {
        set.add(waker -> {
            waker.wake();
            return Step.pending();
        });
        try (Poll poll = Poll.open();
                StreamSource<Integer> source = set.toSource()) {
            Events events = Events.withCapacity(4);
            poll.register(source, 7, Interest.READABLE, Trigger.LEVEL);
            for (int i = 0; i < 5; i++) {
                assertThat(poll.poll(events, Duration.ofSeconds(30))).isOne();
                assertThat(source.poll()).isEqualTo(Step.pending());
            }
            assertThat(source).asString().startsWith("source over FuturesUnordered, 2 children");
        }
    }

    private static final class Tasks implements Executor {
        private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        void runAll() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }
    }

    private static final class Received<T> implements Flow.Subscriber<T> {
        final List<T> elements = new ArrayList<>();
        final AtomicInteger signals = new AtomicInteger();
        volatile Flow.Subscription subscription;
        volatile String end;

        @Override
        public void onSubscribe(Flow.Subscription to) {
            subscription = to;
            to.request(Long.MAX_VALUE);
        }

        @Override
        public void onNext(T element) {
            elements.add(element);
            signals.incrementAndGet();
        }

        @Override
        public void onError(Throwable failure) {
            end = "error " + failure.getMessage();
        }

        @Override
        public void onComplete() {
            end = "complete";
        }
    }
}
