package io.millrace.task;

import java.util.Iterator;
import java.util.stream.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Streams in any number, whose values come as they appear. See {@link Unordered} for the cycle, the fairness that is promised, and all
 * the ways to consume.
 *
 * <p>A stream that yielded is polled again in the next cycle, after everybody else who was woken: two streams that always have something
 * alternate strictly. One that ends is removed without a word; see {@link IndexedStreamsUnordered} for a word. One that throws yields
 * {@link Failed} and is removed.
 *
 * @param <T> the values
 */
public final class StreamsUnordered<T> extends Unordered<T> {
    private StreamsUnordered(int budget) {
        super(budget);
    }

    /**
     * An empty set.
     *
     * @param <T> the values
     * @return the caller's to close
     */
    public static <T> StreamsUnordered<T> create() {
        return new StreamsUnordered<>(DEFAULT_BUDGET);
    }

    /**
     * An empty set that polls at most so many children in one call.
     *
     * @param budget at least 1; 1,024 by default
     * @param <T> the values
     * @return the caller's to close
     */
    public static <T> StreamsUnordered<T> withBudget(int budget) {
        return new StreamsUnordered<>(budget);
    }

    /**
     * A set of these children.
     *
     * @param children added in this order
     * @param <T> the values
     * @return the caller's to close
     */
    public static <T> StreamsUnordered<T> from(Iterable<? extends PollableStream<? extends T>> children) {
        StreamsUnordered<T> set = create();
        children.forEach(set::add);
        return set;
    }

    /**
     * Collects a Java stream of children into a set.
     *
     * @param <T> the values
     * @return for {@code stream.collect}
     */
    public static <T> Collector<PollableStream<? extends T>, ?, StreamsUnordered<T>> collector() {
        return Collector.of(
                StreamsUnordered::<T>create,
                StreamsUnordered::add,
                (one, other) -> {
                    throw new UnsupportedOperationException("two sets do not become one: collect into one set");
                },
                // Any thread may add, so a parallel stream collects into one set.
                Collector.Characteristics.CONCURRENT,
                Collector.Characteristics.UNORDERED,
                Collector.Characteristics.IDENTITY_FINISH);
    }

    /**
     * Adds a child, which is polled in the next cycle. From any thread; also while others consume, and after the end. For a publisher, add
     * {@link PollableStream#of(java.util.concurrent.Flow.Publisher)}.
     *
     * @param child not in any set
     * @return a key to remove it with
     * @throws IllegalStateException if the set is closed
     */
    public long add(PollableStream<? extends T> child) {
        return insert(child);
    }

    /**
     * Adds the elements of an iterator.
     *
     * @param iterator walked through by the consumer
     * @return a key to remove it with
     * @throws IllegalStateException if the set is closed
     */
    public long add(Iterator<? extends T> iterator) {
        return insert(PollableStream.of(iterator));
    }

    @Override
    Step<?> pollTask(Object task, Waker waker) throws Exception {
        return ((PollableStream<?>) task).poll(waker);
    }

    @Override
    void cancelTask(Object task) {
        ((PollableStream<?>) task).cancel();
    }

    @Override
    @SuppressWarnings("unchecked") // only a PollableStream of T gets in
    @Nullable
    Outcome<T> settle(Child child, Step<?> step, boolean thrown) {
        if (step instanceof Step.Pending) {
            pause(child);
            return null;
        }
        if (step instanceof Step.Ended) {
            leave(child);
            return null;
        }
        boolean counts = thrown ? leave(child) : again(child);
        return counts ? (Outcome<T>) step : null;
    }
}
