package io.millrace.task;

import java.time.Duration;
import java.util.Iterator;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Collector;
import org.jspecify.annotations.Nullable;

/**
 * A set of any number of futures that yields their results as they complete.
 *
 * {@snippet :
 * try (var downloads = FuturesUnordered.<Page>create()) {
 *     urls.forEach(url -> downloads.add(client.fetch(url)));
 *     for (var outcome : downloads) {
 *         switch (outcome) {
 *             case Item(Page page) -> index(page);
 *             case Failed(var cause, var child) -> log(child, cause);
 *         }
 *     }
 * }
 * }
 *
 * <p><b>What it guarantees.</b> Between a child's wake-up and its poll, no other child is polled more than twice.
 * Results that became ready within one cycle are yielded in the order of their indices. {@link Unordered} explains the
 * cycle and lists all ways to consume a set.
 *
 * <p>A child is removed when it has yielded its outcome, and its index is reused by the next child that is added. Its
 * waker is not: a late call of the old waker does not affect the new child.
 *
 * <p><b>Threads.</b> Any thread may add and remove children. One thread at a time may consume; a second one gets an
 * {@link IllegalStateException}.
 *
 * @param <T> the type of the values
 */
public final class FuturesUnordered<T> extends Unordered<T> {
    private final int limit;
    private final @Nullable Duration timeout;
    private final Delays alarms;
    private final FailurePolicy policy;
    /** Children that wait for room. The consumer iterates over them; any thread may drop them. */
    private volatile @Nullable Iterator<? extends Pollable<? extends T>> feed;

    private FuturesUnordered(Builder<T> builder, @Nullable Iterator<? extends Pollable<? extends T>> feed) {
        super(builder.budget);
        this.limit = builder.limit;
        this.timeout = builder.timeout;
        this.alarms = builder.alarms;
        this.policy = builder.policy;
        this.feed = feed;
    }

    /**
     * Creates an empty set.
     *
     * @param <T> the type of the values
     * @return a set, which the caller must close
     */
    public static <T> FuturesUnordered<T> create() {
        return new FuturesUnordered<>(new Builder<>(), null);
    }

    /**
     * Creates a set with the given children.
     *
     * @param children added in this order
     * @param <T> the type of the values
     * @return a set, which the caller must close
     */
    public static <T> FuturesUnordered<T> from(Iterable<? extends Pollable<? extends T>> children) {
        FuturesUnordered<T> set = create();
        children.forEach(set::add);
        return set;
    }

    /**
     * Returns a collector from a Java stream of children to a set.
     *
     * @param <T> the type of the values
     * @return for {@code stream.collect}
     */
    public static <T> Collector<Pollable<? extends T>, ?, FuturesUnordered<T>> collector() {
        return Collector.of(
                FuturesUnordered::<T>create,
                FuturesUnordered::add,
                (one, other) -> {
                    throw new UnsupportedOperationException("two sets do not become one: collect into one set");
                },
                // Any thread may add, so a parallel stream collects into one set.
                Collector.Characteristics.CONCURRENT,
                Collector.Characteristics.UNORDERED,
                Collector.Characteristics.IDENTITY_FINISH);
    }

    /**
     * Returns a builder, for settings other than the defaults.
     *
     * @param <T> the type of the values
     * @return a builder with the defaults
     */
    public static <T> Builder<T> builder() {
        return new Builder<>();
    }

    /**
     * Returns a builder for a set that takes its children from an iterator, with at most {@code limit} of them in
     * flight: {@code atMost(8).from(urls, this::fetch)}.
     *
     * @param limit at least 1
     * @param <T> the type of the values
     * @return a builder with this limit
     */
    public static <T> Builder<T> atMost(int limit) {
        return new Builder<T>().limit(limit);
    }

    /**
     * Adds a child, which is polled in the next cycle. Any thread may call this, even while another one consumes the
     * set, and after the set was at its end.
     *
     * @param child must not be in any set
     * @return a key to remove it
     * @throws IllegalStateException if the set is closed
     */
    public long add(Pollable<? extends T> child) {
        return insert(timed(child));
    }

    /**
     * Adds the value of a stage. Removing it cancels the stage's future.
     *
     * @param stage the stage
     * @return a key to remove it
     * @throws IllegalStateException if the set is closed
     */
    public long add(CompletionStage<? extends T> stage) {
        return addStage(stage);
    }

    private <S extends T> long addStage(CompletionStage<S> stage) {
        StagePollable<S> child = new StagePollable<>(stage);
        if (timeout != null) {
            return add(child);
        }
        // Not polled before the stage is done.
        Child added = insertAsleep(child);
        boolean listens = false;
        try {
            child.listen(added);
            listens = true;
        } finally {
            if (!listens) {
                takeBack(added);
            }
        }
        return added.key();
    }

    /**
     * Adds the result of a call, which starts at once on a new virtual thread. Removing it interrupts the call.
     *
     * @param callable what to call
     * @return a key to remove it
     * @throws IllegalStateException if the set is closed
     */
    public long add(Callable<? extends T> callable) {
        Call<T> call = new Call<>(callable);
        if (timeout != null) {
            long key = add(call);
            boolean started = false;
            try {
                call.start();
                started = true;
            } finally {
                if (!started) {
                    remove(key);
                }
            }
            return key;
        }
        Child added = insertAsleep(call);
        boolean started = false;
        try {
            call.start(added);
            started = true;
        } finally {
            if (!started) {
                takeBack(added);
            }
        }
        return added.key();
    }

    private Pollable<? extends T> timed(Pollable<? extends T> child) {
        Objects.requireNonNull(child, "child");
        return timeout == null ? child : child.within(timeout, alarms);
    }

    @Override
    Step<?> pollTask(Object task, Waker waker) throws Exception {
        return ((Pollable<?>) task).poll(waker);
    }

    @Override
    void cancelTask(Object task) {
        ((Pollable<?>) task).cancel();
    }

    @Override
    @SuppressWarnings("unchecked") // only a Pollable of T can be added
    @Nullable
    Outcome<T> settle(Child child, Step<?> step, boolean thrown) {
        if (step instanceof Step.Pending) {
            pause(child);
            return null;
        }
        if (!leave(child)) {
            return null;
        }
        if (step instanceof Item) {
            return (Item<T>) step;
        }
        if (policy == FailurePolicy.FIRST_FAILURE) {
            clear();
        }
        return step instanceof Failed
                ? (Failed<T>) step
                : new Failed<>(new IllegalStateException("a future ended without an outcome; only streams end"));
    }

    @Override
    void feed() {
        Iterator<? extends Pollable<? extends T>> from = feed;
        while (from != null && size() < limit) {
            Pollable<? extends T> child;
            try {
                if (!from.hasNext()) {
                    feed = null;
                    return;
                }
                child = timed(from.next());
            } catch (Throwable failure) {
                feed = null;
                child = waker -> Step.failed(failure);
            }
            try {
                insertQuietly(child);
            } catch (IllegalStateException closed) {
                child.cancel();
                return;
            }
            from = feed;
        }
    }

    @Override
    boolean isFed() {
        return feed == null;
    }

    @Override
    void stopFeed() {
        feed = null;
    }

    /**
     * Collects the settings of a set.
     *
     * @param <T> the type of the values
     */
    public static final class Builder<T> {
        private int budget = DEFAULT_BUDGET;
        private int limit = Integer.MAX_VALUE;
        private @Nullable Duration timeout;
        private Delays alarms = Delays.system();
        private FailurePolicy policy = FailurePolicy.COLLECT_ALL;

        private Builder() {}

        /**
         * Sets how many children one call may poll before it returns pending, so that the set cannot monopolise its
         * loop.
         *
         * @param budget at least 1; 1,024 by default
         * @return this
         */
        public Builder<T> budget(int budget) {
            this.budget = budget;
            return this;
        }

        /**
         * Limits how many children from an iterator may be in the set at once. Children that are added directly count,
         * too, but are never refused.
         *
         * @param limit at least 1; unlimited by default
         * @return this
         */
        public Builder<T> limit(int limit) {
            if (limit < 1) {
                throw new IllegalArgumentException("at least 1 child must be allowed in flight, not " + limit);
            }
            this.limit = limit;
            return this;
        }

        /**
         * Sets how long each child may take from its first poll: see {@link Pollable#within}.
         *
         * @param timeout none by default
         * @return this
         */
        public Builder<T> timeout(Duration timeout) {
            this.timeout = Objects.requireNonNull(timeout, "timeout");
            return this;
        }

        /**
         * Sets what measures the timeouts. With an event loop or manager, {@code Delays.of(loop::after)} keeps them on
         * its wheel, without another thread: see {@link Delays}.
         *
         * @param alarms the system's delays by default
         * @return this
         */
        public Builder<T> alarms(Delays alarms) {
            this.alarms = Objects.requireNonNull(alarms, "alarms");
            return this;
        }

        /**
         * Sets what a failure means for the other children.
         *
         * @param policy {@link FailurePolicy#COLLECT_ALL} by default
         * @return this
         */
        public Builder<T> onFailure(FailurePolicy policy) {
            this.policy = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /**
         * Creates an empty set.
         *
         * @return a set, which the caller must close
         */
        public FuturesUnordered<T> build() {
            return new FuturesUnordered<>(this, null);
        }

        /**
         * Creates a set that takes its children from an iterator. It takes a child only when there is room and the set
         * is being consumed, never in advance. Only the consumer calls the iterator. If the iterator throws, that is
         * yielded as a failure, and it is not called again.
         *
         * @param children may be endless
         * @return a set, which the caller must close
         */
        public FuturesUnordered<T> from(Iterator<? extends Pollable<? extends T>> children) {
            return new FuturesUnordered<>(this, Objects.requireNonNull(children, "children"));
        }

        /**
         * Like {@link #from(Iterator)}, but creates each child from an input when its turn comes.
         *
         * @param inputs may be endless
         * @param start creates a child
         * @param <I> the type of the inputs
         * @return a set, which the caller must close
         */
        public <I> FuturesUnordered<T> from(
                Iterable<I> inputs, Function<? super I, ? extends Pollable<? extends T>> start) {
            Iterator<I> each = inputs.iterator();
            return from(new Iterator<Pollable<? extends T>>() {
                @Override
                public boolean hasNext() {
                    return each.hasNext();
                }

                @Override
                public Pollable<? extends T> next() {
                    return start.apply(each.next());
                }
            });
        }
    }
}
