package io.millrace.task;

import java.util.Iterator;
import java.util.stream.Collector;
import org.jspecify.annotations.Nullable;

/**
 * A set of any number of streams that yields their values as they arrive.
 *
 * {@snippet :
 * try (var prices = StreamsUnordered.<Price>create()) {
 *     prices.add(PollableStream.of(publisher));
 *     prices.add(history.iterator());
 *     for (var outcome : prices) {
 *         if (outcome instanceof Item(Price price)) {
 *             show(price);
 *         }
 *     }
 * }
 * }
 *
 * <p><b>What it guarantees.</b> Between a child's wake-up and its poll, no other child is polled more than twice. A
 * stream that has yielded a value is polled again in the next cycle, after all others that were woken: two streams that
 * always have a value alternate strictly. {@link Unordered} explains the cycle and lists all ways to consume a set.
 *
 * <p>A stream that ends is removed silently; {@link IndexedStreamsUnordered} reports the end. A stream that throws
 * yields {@link Failed} and is removed.
 *
 * <p><b>Threads.</b> Any thread may add and remove children. One thread at a time may consume; a second one gets an
 * {@link IllegalStateException}.
 *
 * @param <T> the type of the values
 */
public final class StreamsUnordered<T> extends Unordered<T> {
    private StreamsUnordered(int budget) {
        super(budget);
    }

    /**
     * Creates an empty set.
     *
     * @param <T> the type of the values
     * @return a set, which the caller must close
     */
    public static <T> StreamsUnordered<T> create() {
        return new StreamsUnordered<>(DEFAULT_BUDGET);
    }

    /**
     * Creates an empty set that polls at most {@code budget} children in one call.
     *
     * @param budget at least 1; 1,024 by default
     * @param <T> the type of the values
     * @return a set, which the caller must close
     */
    public static <T> StreamsUnordered<T> withBudget(int budget) {
        return new StreamsUnordered<>(budget);
    }

    /**
     * Creates a set with the given children.
     *
     * @param children added in this order
     * @param <T> the type of the values
     * @return a set, which the caller must close
     */
    public static <T> StreamsUnordered<T> from(Iterable<? extends PollableStream<? extends T>> children) {
        StreamsUnordered<T> set = create();
        children.forEach(set::add);
        return set;
    }

    /**
     * Returns a collector from a Java stream of children to a set.
     *
     * @param <T> the type of the values
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
     * Adds a child, which is polled in the next cycle. Any thread may call this, even while another one consumes the
     * set, and after the set was at its end. For a publisher, add {@link
     * PollableStream#of(java.util.concurrent.Flow.Publisher)}.
     *
     * @param child must not be in any set
     * @return a key to remove it
     * @throws IllegalStateException if the set is closed
     */
    public long add(PollableStream<? extends T> child) {
        return insert(child);
    }

    /**
     * Adds the elements of an iterator.
     *
     * @param iterator called by the consumer
     * @return a key to remove it
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
    @SuppressWarnings("unchecked") // only a PollableStream of T can be added
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
