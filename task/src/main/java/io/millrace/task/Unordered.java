package io.millrace.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * A set of children that are polled when they ask for it, and that yields their results as they arrive. {@link
 * FuturesUnordered}, {@link StreamsUnordered} and {@link IndexedStreamsUnordered} have this in common.
 *
 * <h2>The guarantee</h2>
 * Between the return of a child's {@link Waker#wake} and the child's poll, no other child is polled more than twice: at
 * most once in the rest of the current cycle, and at most once in the cycle that polls the child. This holds for every
 * child, no matter which wakers the others call, how often, and from which threads. A child that wakes itself in every
 * poll is polled once per cycle like all others.
 *
 * <h2>The cycle</h2>
 * <ol>
 *   <li>A cycle takes all children that were woken since the last one began, and polls each of them once, in index
 *       order.
 *   <li>A result is yielded at once. The next call continues after the child that had it.
 *   <li>A wake-up during a cycle, even by the child itself, counts for the next cycle. But if the child's turn in the
 *       current cycle is still to come, that turn answers it.
 *   <li>After a cycle that has no more results, the call returns {@link Step#pending()}. If a child was woken
 *       meanwhile, the call first calls its own waker, so that the set is polled again after others had their turn.
 *       Otherwise it calls no waker: an idle set costs nothing.
 * </ol>
 *
 * <h2>Consuming</h2>
 * Use {@link #next} or a {@code for} loop, which park; {@link #poll(Waker)}; {@link #nextAsync()}; a {@linkplain
 * #toPublisher() Flow.Publisher}; a Java {@link #stream}; or a {@linkplain #toSource() source} on a {@code Poll}. An
 * empty set is at its end; adding a child revives it.
 *
 * <p><b>Threads.</b> One consumer at a time: a second one, or a child that consumes its own set, gets an {@link
 * IllegalStateException}. Any thread may call everything else, at any time. Children are polled on the consumer's
 * thread, never under a lock.
 *
 * <p><b>Failures.</b> What a child throws is yielded as {@link Failed}; the others go on. What a {@code cancel} throws
 * goes to the thread's uncaught exception handler.
 *
 * <p><b>After close</b> every child is cancelled, consumers are at the end, wakers do nothing, and adding throws an
 * {@link IllegalStateException}.
 *
 * @param <T> the type of the values
 */
public abstract sealed class Unordered<T> implements PollableStream<T>, Iterable<Outcome<T>>, AutoCloseable
        permits FuturesUnordered, StreamsUnordered, IndexedStreamsUnordered {
    /** How many polls a call makes by default. */
    static final int DEFAULT_BUDGET = 1024;

    private static final VarHandle CONSUMED;

    static {
        try {
            CONSUMED = MethodHandles.lookup().findVarHandle(Unordered.class, "consumed", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final WakeSet wakes = new WakeSet();
    private final Parker parker = new Parker();
    private final int budget;

    /** Whether a consumer is using the set. */
    @SuppressWarnings("unused") // accessed through CONSUMED
    private volatile boolean consumed;

    /** An outcome that was taken but not delivered; the next call returns it. Used by the consumer. */
    private @Nullable Outcome<T> unread;

    Unordered(int budget) {
        if (budget < 1) {
            throw new IllegalArgumentException("the poll budget must be at least 1, not " + budget);
        }
        this.budget = budget;
    }

    // ---- What the three sets implement

    /** Polls a child of the subclass's kind. */
    abstract Step<?> pollTask(Object task, Waker waker) throws Exception;

    abstract void cancelTask(Object task);

    /**
     * Handles the result of a poll: calls {@link #pause}, {@link #again} or {@link #leave}, and returns what to yield,
     * or null.
     */
    abstract @Nullable Outcome<T> settle(Child child, Step<?> step, boolean thrown);

    /** Adds children that wait for room. Called by the consumer before each call. */
    void feed() {}

    /** Returns whether no child is waiting for room. */
    boolean isFed() {
        return true;
    }

    /** Drops the children that wait for room. Any thread. */
    void stopFeed() {}

    // ---- Adding and removing

    /** Adds a child, asks for its first poll, and returns its key. */
    final long insert(Object task) {
        Child child = wakes.add(Objects.requireNonNull(task, "child"), Child.WOKEN);
        wakes.flag(child);
        wakes.notifyParent();
        return child.key();
    }

    /** The same by the consumer, which need not be woken. */
    final void insertQuietly(Object task) {
        wakes.flag(wakes.add(Objects.requireNonNull(task, "child"), Child.WOKEN));
    }

    /** Adds a child that is not polled before it is woken. */
    final Child insertAsleep(Object task) {
        return wakes.add(task, 0);
    }

    /**
     * Removes a sleeping child as if it had never been added. It is not cancelled, unless another thread was faster.
     */
    final void takeBack(Child child) {
        int before = child.finish();
        if ((before & Child.DONE) == 0) {
            wakes.countRemoved();
            if ((before & Child.POLLING) == 0) {
                wakes.free(child);
            }
            wakes.notifyParent(); // which may have seen it
        }
    }

    /**
     * Removes a child and cancels it. If it is being polled, it is cancelled after that poll, and the result of that
     * poll is dropped. Any thread may call this.
     *
     * @param key the key that {@code add} returned; the key of an earlier child does not affect others
     * @return false if the child is finished or was removed before
     */
    public final boolean remove(long key) {
        Child child = wakes.find(key);
        boolean removed = child != null && drop(child);
        if (removed) {
            wakes.notifyParent(); // the set may be at its end now, or have room
        }
        return removed;
    }

    private boolean drop(Child child) {
        int before = child.finish();
        if ((before & Child.DONE) != 0) {
            return false;
        }
        wakes.countRemoved();
        if ((before & Child.POLLING) == 0) {
            cancel(child);
        }
        return true;
    }

    /** Removes all current children and cancels them. Any thread may call this; the set remains usable. */
    public final void clear() {
        stopFeed();
        // Children stay in their places meanwhile; one that finishes is not dropped.
        wakes.forEach(this::drop);
        wakes.notifyParent();
    }

    /**
     * Returns how many children it holds.
     *
     * @return a momentary value while other threads add
     */
    public final int size() {
        return wakes.size();
    }

    /**
     * Returns whether it holds no child.
     *
     * @return true if a consumer would be at the end now
     */
    public final boolean isEmpty() {
        return wakes.size() == 0 && isFed();
    }

    /** Cancels every child and ends. Idempotent; any thread may call it. A waiting consumer is at the end. */
    @Override
    public final void close() {
        if (wakes.close()) {
            clear();
        }
    }

    /** The same as {@link #close}: a set that is a child of another set is closed with it. */
    @Override
    public final void cancel() {
        close();
    }

    // ---- Consuming

    /**
     * Performs one step, without waiting: returns a result, {@link Step#pending()}, or {@link Step#ended()} if the set
     * is empty. Polls children until one has a result, the cycle is over, or the budget is used up.
     *
     * @param waker called once when another call is worthwhile, after pending or the end; if several were passed, the
     *     latest counts
     * @return the step
     * @throws IllegalStateException if another consumer is using the set
     */
    @Override
    public final Step<T> poll(Waker waker) {
        claim();
        try {
            return advance(waker);
        } finally {
            release();
        }
    }

    /**
     * Waits for the next result. Parks without a timeout, which is cheap on a virtual thread.
     *
     * @return the result, or null if the set is empty
     * @throws InterruptedException if interrupted while waiting; nothing is lost
     * @throws IllegalStateException if another consumer is using the set
     */
    public final @Nullable Outcome<T> next() throws InterruptedException {
        claim();
        try {
            for (; ; ) {
                Step<T> step = advance(parker);
                if (step instanceof Outcome<T> outcome) {
                    return outcome;
                }
                if (step instanceof Step.Ended) {
                    return null;
                }
                parker.await();
            }
        } finally {
            release();
        }
    }

    /**
     * Returns the next result as a future. Polls at once, and after each wake-up on the common pool.
     *
     * @return completes with a result, or empty if the set is empty; cancelling it loses nothing and cancels no child
     * @throws IllegalStateException if another consumer is using the set; until the future completes, this call is a
     *     consumer
     */
    public final CompletableFuture<Optional<Outcome<T>>> nextAsync() {
        return nextAsync(ForkJoinPool.commonPool());
    }

    /**
     * Returns the next result as a future. Polls at once, and after each wake-up on the executor.
     *
     * @param executor runs the polls
     * @return completes with a result, or empty if the set is empty; cancelling it loses nothing and cancels no child
     * @throws IllegalStateException if another consumer is using the set; until the future completes, this call is a
     *     consumer
     */
    public final CompletableFuture<Optional<Outcome<T>>> nextAsync(Executor executor) {
        claim();
        return NextFuture.start(this, executor);
    }

    /**
     * Returns the results as they arrive, until the set is empty; for a {@code for} loop. Waits like {@link #next}. If
     * its thread is interrupted, it throws a {@link java.util.concurrent.CancellationException} and leaves the
     * interrupt status set.
     *
     * @return a consumer of this set
     */
    @Override
    public final Iterator<Outcome<T>> iterator() {
        return new AwaitingIterator<>(this::next);
    }

    @Override
    public final Iterator<Outcome<T>> toIterator() {
        return iterator();
    }

    /**
     * Returns the results as they arrive, until the set is empty.
     *
     * @return a sequential stream that waits like {@link #iterator}
     */
    public final Stream<Outcome<T>> stream() {
        int traits = Spliterator.NONNULL | Spliterator.ORDERED;
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(iterator(), traits), false);
    }

    /**
     * Waits for all results and all failures, until the set is empty.
     *
     * @return what was yielded, in order
     * @throws InterruptedException if interrupted while waiting; what was yielded so far is lost
     */
    public final Collected<T> collectAll() throws InterruptedException {
        List<T> items = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        for (Outcome<T> outcome = next(); outcome != null; outcome = next()) {
            switch (outcome) {
                case Item<T>(T value) -> items.add(value);
                case Failed<T> failed -> failures.add(failed.cause());
            }
        }
        return new Collected<>(items, failures);
    }

    private void claim() {
        if (!CONSUMED.compareAndSet(this, false, true)) {
            throw new IllegalStateException(
                    "cannot consume the set: somebody else is, or one of its children tries to; one consumer at a"
                            + " time");
        }
    }

    final void release() {
        // Release: the next consumer sees the cursor as we leave it.
        CONSUMED.setRelease(this, false);
    }

    /** Puts back an outcome that could not be delivered. For a consumer that has claimed the set. */
    final void putBack(Outcome<T> outcome) {
        unread = outcome;
    }

    /** Runs the cycle. For a consumer that has claimed the set. */
    final Step<T> advance(Waker waker) {
        wakes.replaceParent(waker);
        Outcome<T> kept = unread;
        if (kept != null) {
            unread = null;
            return kept;
        }
        feed();
        Child child = wakes.next();
        if (child == null) {
            if (!wakes.startCycle()) {
                return rest(waker);
            }
            child = wakes.next();
        }
        int polls = 0;
        for (; child != null; child = wakes.next()) {
            if (!child.begin()) {
                continue; // a stale bit: the child was not woken
            }
            Outcome<T> outcome = turn(child);
            if (outcome != null) {
                return outcome;
            }
            if (++polls == budget) {
                waker.wake();
                return Step.pending();
            }
        }
        return rest(waker);
    }

    /** Polls one child. */
    private @Nullable Outcome<T> turn(Child child) {
        Object task = child.task(); // before settle, which may release it
        long key = child.key();
        Step<?> step;
        boolean thrown = false;
        try {
            step = pollTask(task, child);
            if (step == null) {
                throw new NullPointerException("poll returned null; return Step.pending() if there is nothing yet");
            }
        } catch (Throwable failure) {
            step = new Failed<>(failure);
            thrown = true;
        }
        Outcome<T> outcome = settle(child, step, thrown);
        // If sets are nested, the inner origin stays, because it is closer to what failed.
        return outcome instanceof Failed<T>(Throwable cause, Origin origin) && !origin.isKnown()
                ? new Failed<>(cause, new Origin(key, task))
                : outcome;
    }

    /** Ends the call: the cycle is over, or there was nothing to begin one with. */
    private Step<T> rest(Waker waker) {
        // Registered before the checks: a thread that flags or adds afterwards finds the waker.
        wakes.register(waker);
        if (wakes.anyFlagged()) {
            waker.wake();
            return Step.pending();
        }
        return isEmpty() ? Step.ended() : Step.pending();
    }

    // ---- For settle: exactly one of these after each poll

    /** The child stays, and will be woken. */
    final void pause(Child child) {
        if (!child.pause()) {
            cancel(child);
        }
    }

    /** The child stays and is polled in the next cycle. Returns false if it was removed during its poll. */
    final boolean again(Child child) {
        boolean stays = child.again();
        if (!stays) {
            cancel(child);
        }
        return stays;
    }

    /** The child is finished. Returns false if it was removed during its poll. */
    final boolean leave(Child child) {
        boolean left = (child.finish() & Child.DONE) == 0;
        if (left) {
            wakes.countFinished();
        }
        wakes.free(child);
        return left;
    }

    /**
     * Reports a failure as the JVM does, ignoring what the handler itself throws, because the other children must be
     * cancelled, too.
     */
    private static void tell(Throwable failure) {
        Thread thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
        } catch (Throwable ignored) {
            // There is no other way to report it.
        }
    }

    /** Called by the thread that ended the child, or found it ended after its poll. */
    private void cancel(Child child) {
        Object task = child.task();
        wakes.free(child);
        try {
            cancelTask(task);
        } catch (Throwable failure) {
            tell(failure);
        }
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + ", " + wakes;
    }
}
