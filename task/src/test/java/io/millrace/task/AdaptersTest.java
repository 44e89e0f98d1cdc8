package io.millrace.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.FutureTask;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** uni-3: what the JDK knows, as children, and back. */
class AdaptersTest {
    private final RuntimeException no = new RuntimeException("no");

    @Test
    @DisplayName("uni-3: stages: done, to come, failed, of Void, and those that hide their future")
    void stages() throws InterruptedException {
        try (FuturesUnordered<Object> set = FuturesUnordered.create()) {
            CompletableFuture<String> later = new CompletableFuture<>();
            set.add(CompletableFuture.completedFuture("done"));
            set.add(later);
            set.add(CompletableFuture.failedStage(no));
            set.add(CompletableFuture.failedFuture(no).thenApply(value -> value));
            set.add(CompletableFuture.runAsync(() -> {}));
            set.add(CompletableFuture.completedStage("minimal"));
            Thread.ofVirtual().start(() -> later.complete("later"));
            Collected<Object> all = set.collectAll();
            assertThat(all.items()).containsExactlyInAnyOrder("done", "later", null, "minimal");
            assertThat(all.failures()).containsExactly(no, no);
        }
    }

    @Test
    @DisplayName("uni-3: removing a stage cancels its future; one that can't be cancelled is let go")
    void cancelledStage() {
        FuturesUnordered<Object> set = FuturesUnordered.create();
        CompletableFuture<String> future = new CompletableFuture<>();
        CompletionStage<String> minimal = new CompletableFuture<String>().minimalCompletionStage();
        long key = set.add(future);
        set.add(minimal);
        set.poll(Waker.none());
        set.remove(key);
        assertThat(future).isCancelled();
        set.close();
        assertThat(set.isEmpty()).isTrue();
    }

    @Test
    @DisplayName("uni-3: calls on virtual threads: added ones start at once, Pollable.call with its first poll")
    void calls() throws Exception {
        try (FuturesUnordered<String> set = FuturesUnordered.create()) {
            CountDownLatch ran = new CountDownLatch(1);
            set.add(() -> {
                ran.countDown();
                return Thread.currentThread().isVirtual() ? "virtual" : "platform";
            });
            ran.await();
            AtomicBoolean started = new AtomicBoolean();
            set.add(Pollable.<String>call(() -> {
                started.set(true);
                throw no;
            }));
            assertThat(started).isFalse();
            Collected<String> all = set.collectAll();
            assertThat(all.items()).containsExactly("virtual");
            assertThat(all.failures()).containsExactly(no);
        }
    }

    @Test
    @DisplayName("uni-3: removing a call interrupts it; one that has not begun never does")
    void cancelledCall() throws Exception {
        FuturesUnordered<String> set = FuturesUnordered.create();
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<String> interrupted = new CompletableFuture<>();
        set.add(() -> {
            running.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException expected) {
                interrupted.complete("interrupted");
            }
            return "";
        });
        AtomicBoolean started = new AtomicBoolean();
        Call<String> idle = new Call<>(() -> {
            started.set(true);
            return "";
        });
        set.add(idle);
        running.await();
        set.close();
        assertThat(interrupted.get()).isEqualTo("interrupted");
        idle.start();
        assertThat(started).isFalse();
    }

    @Test
    @DisplayName("uni-3: publishers: elements with bounded demand, then the end or the failure; removing cancels the"
            + " subscription")
    void publishers() throws Exception {
        SubmissionPublisher<Integer> thousand = new SubmissionPublisher<>(ForkJoinPool.commonPool(), 8);
        try (StreamsUnordered<Integer> set = StreamsUnordered.create()) {
            set.add(PollableStream.of(thousand, 5));
            assertThat(set.poll(Waker.none())).isEqualTo(Step.pending());
            assertThat(thousand.getNumberOfSubscribers()).isOne();
            Thread.ofVirtual().start(() -> {
                IntStream.range(0, 1000).forEach(thousand::submit);
                thousand.close();
            });
            assertThat(set.collectAll().orThrow())
                    .isEqualTo(IntStream.range(0, 1000).boxed().toList());
        }
        try (SubmissionPublisher<Integer> publisher = new SubmissionPublisher<>();
                StreamsUnordered<Integer> set = StreamsUnordered.create()) {
            long key = set.add(PollableStream.of(publisher));
            set.poll(Waker.none());
            assertThat(set.remove(key)).isTrue();
            await().until(() -> {
                publisher.offer(1, null);
                return publisher.getNumberOfSubscribers() == 0;
            });
            set.add(PollableStream.of(publisher));
            set.poll(Waker.none());
            publisher.closeExceptionally(no);
            assertThat(set.collectAll().failures()).containsExactly(no);
        }
        assertThatThrownBy(() -> PollableStream.of((Flow.Publisher<String>) subscriber -> {}, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("uni-3: back: a pollable as a future, polled after each wake-up; cancelling the future cancels it")
    void toFuture() throws Exception {
        Promise<Integer> promise = new Promise<>();
        CompletableFuture<Integer> future = promise.toFuture();
        assertThat(future).isNotDone();
        promise.complete(1);
        assertThat(future.get()).isEqualTo(1);
        assertThat(promise.cancels).hasValue(0);

        Promise<Integer> never = new Promise<>();
        assertThat(never.toFuture().cancel(true)).isTrue();
        await().until(() -> never.cancels.get() == 1);

        Pollable<Integer> fails = waker -> {
            throw no;
        };
        assertThatThrownBy(() -> fails.toFuture().get())
                .isInstanceOf(ExecutionException.class)
                .hasCause(no);
        Pollable<Integer> ends = waker -> Step.ended();
        assertThatThrownBy(() -> ends.toFuture().get()).hasCauseInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("uni-3: back: a self-waking pollable as a future on an executor that runs inline does not overflow the"
            + " stack")
    void toFutureInline() throws Exception {
        AtomicInteger polls = new AtomicInteger();
        Pollable<Integer> spins = waker -> {
            waker.wake();
            return polls.incrementAndGet() == 100_000 ? Step.item(polls.get()) : Step.pending();
        };
        assertThat(spins.toFuture(Runnable::run).get()).isEqualTo(100_000);
    }

    @Test
    @DisplayName("uni-3: back: a pollable as a call that waits; an interrupt cancels it")
    void toCallable() throws Exception {
        Promise<Integer> promise = new Promise<>();
        FutureTask<Integer> call = new FutureTask<>(promise.toCallable());
        Waits.untilParked(Thread.ofVirtual().start(call));
        promise.complete(1);
        assertThat(call.get()).isEqualTo(1);

        Promise<Integer> never = new Promise<>();
        FutureTask<Integer> waits = new FutureTask<>(never.toCallable());
        Thread thread = Thread.ofVirtual().start(waits);
        Waits.untilParked(thread);
        thread.interrupt();
        assertThatThrownBy(waits::get).hasCauseInstanceOf(InterruptedException.class);
        assertThat(never.cancels).hasValue(1);

        Promise<Integer> failed = new Promise<>();
        failed.settle(Step.failed(no));
        assertThatThrownBy(() -> failed.toCallable().call()).isSameAs(no);
    }

    @Test
    @DisplayName("uni-3: back: a stream as an iterator that waits, failures included")
    void toIterator() {
        List<Step<String>> steps =
                new ArrayList<>(List.of(Step.item("a"), Step.pending(), Step.failed(no), Step.item("b"), Step.ended()));
        PollableStream<String> stream = waker -> {
            Step<String> step = steps.removeFirst();
            if (step instanceof Step.Pending) {
                Thread.ofVirtual().start(waker::wake);
            }
            return step;
        };
        Iterator<Outcome<String>> iterator = stream.toIterator();
        List<Outcome<String>> came = new ArrayList<>();
        iterator.forEachRemaining(came::add);
        assertThat(came).containsExactly(Step.item("a"), Step.failed(no), Step.item("b"));
        assertThat(steps).isEmpty();
    }

    @Test
    @DisplayName("uni-3: back: a stream that throws fails once and is over")
    void throwingStream() {
        PollableStream<String> stream = waker -> {
            throw no;
        };
        Iterator<Outcome<String>> iterator = stream.toIterator();
        assertThat(iterator.next()).isEqualTo(Step.failed(no));
        assertThatThrownBy(iterator::next).isInstanceOf(NoSuchElementException.class);
        PollableStream<Outcome<String>> outcomes = stream.outcomes();
        Iterator<Outcome<Outcome<String>>> values = outcomes.toIterator();
        assertThat(values.next()).isEqualTo(Step.item(Step.failed(no)));
        assertThat(values.hasNext()).isFalse();
    }
}
