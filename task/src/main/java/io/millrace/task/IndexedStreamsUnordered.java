package io.millrace.task;

import java.util.Iterator;
import java.util.Optional;
import java.util.stream.Collector;
import org.jspecify.annotations.Nullable;

/**
 * Like {@link StreamsUnordered}, and tells which child each value came from. A stream that ends yields its key with an empty value, once, and is
 * removed; its index is then free for the next that is added. A failure is a {@link StreamFailedException} around the cause.
 *
 * @param <T> the values
 */
public final class IndexedStreamsUnordered<T> extends Unordered<Indexed<T>> {
    private IndexedStreamsUnordered(int budget) {
        super(budget);
    }

    /**
     * An empty set.
     *
     * @param <T> the values
     * @return the caller's to close
     */
    public static <T> IndexedStreamsUnordered<T> create() {
        return new IndexedStreamsUnordered<>(DEFAULT_BUDGET);
    }

    /**
     * An empty set that polls at most so many children in one call.
     *
     * @param budget at least 1; 1,024 by default
     * @param <T> the values
     * @return the caller's to close
     */
    public static <T> IndexedStreamsUnordered<T> withBudget(int budget) {
        return new IndexedStreamsUnordered<>(budget);
    }

    /**
     * A set of these children.
     *
     * @param children added in this order
     * @param <T> the values
     * @return the caller's to close
     */
    public static <T> IndexedStreamsUnordered<T> from(Iterable<? extends PollableStream<? extends T>> children) {
        IndexedStreamsUnordered<T> set = create();
        children.forEach(set::add);
        return set;
    }

    /**
     * Collects a Java stream of children into a set.
     *
     * @param <T> the values
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
     * Adds a child, which is polled in the next cycle. From any thread; also while others consume, and after the end. For a publisher, add
     * {@link PollableStream#of(java.util.concurrent.Flow.Publisher)}.
     *
     * @param child not in any set
     * @return the key that comes with its values, and to remove it with
     * @throws IllegalStateException if the set is closed
     */
    public long add(PollableStream<? extends T> child) {
        return insert(child);
    }

    /**
     * Adds the elements of an iterator.
     *
     * @param iterator walked through by the consumer
     * @return the key that comes with its values, and to remove it with
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
