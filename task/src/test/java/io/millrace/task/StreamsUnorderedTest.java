package io.millrace.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class StreamsUnorderedTest {
    private final CountingWaker parent = new CountingWaker();

    @Test
    @DisplayName("uni-12: two streams of 4 alternate strictly; ended ones leave without a word")
    void alternating() throws InterruptedException {
        try (StreamsUnordered<String> set = StreamsUnordered.create()) {
            set.add(Stream.of("a1", "a2", "a3", "a4").iterator());
            set.add(Stream.of("b1", "b2", "b3", "b4").iterator());
            assertThat(set.collectAll().orThrow()).containsExactly("a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4");
            assertThat(set.isEmpty()).isTrue();
            set.add(List.of("c").iterator());
            assertThat(set.collectAll().orThrow()).containsExactly("c");
        }
    }

    @Test
    @DisplayName(
            "uni-12: many streams of different lengths: in every round each that still has something comes once, in"
                    + " index order")
    void rounds() throws InterruptedException {
        StreamsUnordered<Integer> set = IntStream.range(0, 100)
                .mapToObj(i ->
                        PollableStream.of(Stream.generate(() -> i).limit(i % 7).iterator()))
                .collect(StreamsUnordered.collector());
        List<Integer> expected = new ArrayList<>();
        for (int round = 0; round < 7; round++) {
            int at = round;
            IntStream.range(0, 100).filter(i -> i % 7 > at).forEach(expected::add);
        }
        assertThat(set.collectAll().orThrow()).isEqualTo(expected);
    }

    @Test
    @DisplayName(
            "uni-10: an ended stream yields its index with nothing, once, and is removed; its index is free for the"
                    + " next")
    void indexed() throws InterruptedException {
        try (IndexedStreamsUnordered<String> set = IndexedStreamsUnordered.create()) {
            long a = set.add(List.of("a").iterator());
            long b = set.add(List.of("b1", "b2").iterator());
            assertThat(set.collectAll().orThrow())
                    .containsExactly(
                            new Indexed<>(a, Optional.of("a")),
                            new Indexed<>(b, Optional.of("b1")),
                            new Indexed<>(a, Optional.empty()),
                            new Indexed<>(b, Optional.of("b2")),
                            new Indexed<>(b, Optional.empty()));
            long c = set.add(List.<String>of().iterator());
            assertThat(c).isNotEqualTo(a);
            assertThat(new Indexed<>(c, Optional.empty()).index()).isEqualTo((int) b);
            assertThat(set.next()).isEqualTo(Step.item(new Indexed<>(c, Optional.empty())));
            assertThat(set.next()).isNull();
        }
    }

    @Test
    @DisplayName("uni-10: a failure tells which stream it was; thrown it ends the stream, returned it does not")
    void indexedFailures() throws InterruptedException {
        RuntimeException thrown = new RuntimeException("thrown");
        try (IndexedStreamsUnordered<String> set = IndexedStreamsUnordered.create()) {
            Iterator<Step<String>> steps = List.of(Step.<String>failed(thrown), Step.item("on"), Step.<String>ended())
                    .iterator();
            long soft = set.add(waker -> steps.next());
            long hard = set.add(waker -> {
                throw thrown;
            });
            assertThat(failure(set.next()).key()).isEqualTo(soft);
            assertThat(failure(set.next()).key()).isEqualTo(hard);
            assertThat(set.size()).isOne();
            assertThat(set.next()).isEqualTo(Step.item(new Indexed<>(soft, Optional.of("on"))));
            assertThat(set.next()).isEqualTo(Step.item(new Indexed<>(soft, Optional.empty())));
            assertThat(set.next()).isNull();
        }
    }

    private static StreamFailedException failure(Outcome<?> outcome) {
        assertThat(outcome).isInstanceOf(Failed.class);
        return (StreamFailedException) ((Failed<?>) outcome).cause();
    }

    @Test
    @DisplayName("uni-12: a stream removed while it has a value is cancelled once and yields no more")
    void removedStream() {
        try (StreamsUnordered<Integer> set = StreamsUnordered.create()) {
            List<String> log = new ArrayList<>();
            long[] key = new long[1];
            key[0] = set.add(new PollableStream<>() {
                @Override
                public Step<Integer> poll(Waker waker) {
                    if (log.size() == 2) {
                        set.remove(key[0]);
                    }
                    log.add("polled");
                    return Step.item(log.size());
                }

                @Override
                public void cancel() {
                    log.add("cancelled");
                }
            });
            assertThat(set.poll(parent)).isEqualTo(Step.item(1));
            assertThat(set.poll(parent)).isEqualTo(Step.item(2));
            assertThat(set.poll(parent)).isEqualTo(Step.ended());
            assertThat(log).containsExactly("polled", "polled", "polled", "cancelled");
        }
    }

    @Test
    @DisplayName("a set is a stream: sets nest, and closing the outer one closes the inner one")
    void nesting() throws InterruptedException {
        FuturesUnordered<Integer> inner = FuturesUnordered.create();
        Promise<Integer> promise = new Promise<>();
        Promise<Integer> never = new Promise<>();
        inner.add(promise);
        inner.add(never);
        StreamsUnordered<Integer> outer = StreamsUnordered.from(
                List.of(inner, PollableStream.of(List.of(7).iterator())));
        assertThat(outer.next()).isEqualTo(Step.item(7));
        assertThat(outer.poll(parent)).isEqualTo(Step.pending());
        parent.take();
        promise.complete(8);
        assertThat(parent.calls()).isOne();
        assertThat(outer.poll(parent)).isEqualTo(Step.item(8));
        outer.close();
        assertThat(never.cancels).hasValue(1);
        assertThat(inner.isEmpty()).isTrue();
    }
}
