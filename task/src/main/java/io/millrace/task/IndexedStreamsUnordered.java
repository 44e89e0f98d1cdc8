package io.millrace.task;

import java.util.Iterator;
import java.util.Optional;
import java.util.stream.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Like {@link StreamsUnordered}, but says which child each value came from. A stream that ends yields its key once with
 * an empty value, and is removed; its index is then free for the next child that is added. A failure is a {@link
 * StreamFailedException} with the failure as its cause.
 *
 * @param <T> the type of the values
 */
public final class IndexedStreamsUnordered<T> extends Unordered<Indexed<T>> {
    private IndexedStreamsUnordered(int budget) {
        super(budget);
    }

    /**
     * Creates an empty set.
     *
     * @param <T> the type of the values
     * @return a set, which the caller must close
     */
    public static <T> IndexedStreamsUnordered<T> create() {
        return new IndexedStreamsUnordered<>(DEFAULT_BUDGET);
    }

    /**
     * Creates an empty set that polls at most {@code budget} children in one call.
     *
     * @param budget at least 1; 1,024 by default
     * @param <T> the type of the values
     * @return a set, which the caller must close
     */
    public static <T> IndexedStreamsUnordered<T> withBudget(int budget) {
        return new IndexedStreamsUnordered<>(budget);
    }

    /**
     * Creates a set with the given children.
     *
     * @param children added in this order
     * @param <T> the type of the values
     * @return a set, which the caller must close
     */
    public static <T> IndexedStreamsUnordered<T> from(Iterable<? extends PollableStream<? extends T>> children) {
        IndexedStreamsUnordered<T> set = create();
        children.forEach(set::add);
        return set;
    }

    /**
     * Returns a collector from a Java stream of children to a set.
     *
     * @param <T> the type of the values
     * @return for {@code stream.collect}
     */
    public static <T> Collector<PollableStream<? extends T>, ?, IndexedStreamsUnordered<T>> collector() {
        return Collector.of(
                IndexedStreamsUnordered::<T>create,
                IndexedStreamsUnordered::add,
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
     * @return the key that comes with its values, and with which it can be removed
     * @throws IllegalStateException if the set is closed
     */
    public long add(PollableStream<? extends T> child) {
        return insert(child);
    }

    /**
     * Adds the elements of an iterator.
     *
     * @param iterator called by the consumer
     * @return the key that comes with its values, and with which it can be removed
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
    Outcome<Indexed<T>> settle(Child child, Step<?> step, boolean thrown) {
        if (step instanceof Step.Pending) {
            pause(child);
            return null;
        }
        long key = child.key();
        boolean counts = (thrown || step instanceof Step.Ended) ? leave(child) : again(child);
        if (!counts) {
            return null;
        }
        if (step instanceof Failed<?> failed) {
            return Step.failed(new StreamFailedException(key, failed.cause()));
        }
        Optional<T> item = step instanceof Item<?>(Object value) ? Optional.of((T) value) : Optional.empty();
        return Step.item(new Indexed<>(key, item));
    }
}
