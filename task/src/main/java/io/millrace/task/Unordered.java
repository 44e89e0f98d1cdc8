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
    /** Polls per call unless told otherwise. */
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

    /** Whether somebody consumes the set at this moment. */
    @SuppressWarnings("unused") // by CONSUMED
    private volatile boolean consumed;

    /** An outcome that was taken and not delivered; the next call has it. The consumer's. */
    private @Nullable Outcome<T> unread;

    Unordered(int budget) {
        if (budget < 1) {
            throw new IllegalArgumentException("the poll budget must be at least 1, not " + budget);
        }
        this.budget = budget;
    }

    // ---- What the three differ in.

    /** Polls a child of the subclass's kind. */
    abstract Step<?> pollTask(Object task, Waker waker) throws Exception;

    abstract void cancelTask(Object task);

    /** What follows from a poll: carries out {@link #pause}, {@link #again} or {@link #leave}, and answers what to yield, if anything. */
    abstract @Nullable Outcome<T> settle(Child child, Step<?> step, boolean thrown);

    /** Adds children that wait for room; the consumer, before each call. */
    void feed() {}

    /** Whether no child waits for room. */
    boolean isFed() {
        return true;
    }

    /** Forgets the children that wait for room. Any thread. */
    void stopFeed() {}

    // ---- Adding and removing.

    /** Adds a child, asks for its first poll, and answers its key. */
    final long insert(Object task) {
        Child child = wakes.add(Objects.requireNonNull(task, "child"), Child.WOKEN);
        wakes.flag(child);
        wakes.notifyParent();
        return child.key();
    }

    /** The same by the consumer, who need not be told. */
    final void insertQuietly(Object task) {
        wakes.flag(wakes.add(Objects.requireNonNull(task, "child"), Child.WOKEN));
    }

    /** Adds a child that is not polled before it is woken. */
    final Child insertAsleep(Object task) {
        return wakes.add(task, 0);
    }

    /** As if a child had never been added, which sleeps. It is not cancelled, unless somebody else was faster. */
    final void takeBack(Child child) {
        int before = child.finish();
        if ((before & Child.DONE) == 0) {
            wakes.removed();
            if ((before & Child.POLLING) == 0) {
                wakes.free(child);
            }
            wakes.notifyParent(); // which may have seen it
        }
    }

    /**
     * Takes a child out and cancels it. If it is being polled at this moment, it is cancelled after that poll, and what that poll had is
     * dropped. From any thread.
     *
     * @param key as returned by {@code add}; the key of a child that is gone hits nobody else
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
        wakes.removed();
        if ((before & Child.POLLING) == 0) {
            cancel(child);
        }
        return true;
    }

    /** Takes every child out that is in the set now, and cancels them. From any thread; the set can be used further. */
    public final void clear() {
        stopFeed();
        // Children stay where they are while we walk; one that finishes meanwhile is not dropped.
        wakes.forEach(this::drop);
        wakes.notifyParent();
    }

    /**
     * How many children it holds.
     *
     * @return a moment's count while others add
     */
    public final int size() {
        return wakes.size();
    }

    /**
     * Whether it holds no child.
     *
     * @return true if a consumer would be at the end now
     */
    public final boolean isEmpty() {
        return wakes.size() == 0 && isFed();
    }

    /** Cancels every child and ends. Idempotent, from any thread; a consumer that waits is at the end. */
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

    // ---- Consuming.

    /**
     * One step, without waiting: a result, or {@link Step#pending()}, or {@link Step#ended()} if the set is empty. Polls children until one has
     * a result, the cycle is over, or the budget is used up.
     *
     * @param waker called once when another call is worth while, after pending or the end; the latest that was passed counts
     * @return the step
     * @throws IllegalStateException if somebody else is consuming the set
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
     * The next result; waits for it. Parks without a timeout, which is cheap on a virtual thread.
     *
     * @return the result, or null if the set is empty
     * @throws InterruptedException if interrupted while waiting; nothing is lost
     * @throws IllegalStateException if somebody else is consuming the set
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
     * The next result, as a future. Polls at once, and after each wake-up on the common pool.
     *
     * @return completes with a result, or with nothing if the set is empty; cancelling it loses nothing and cancels no child
     * @throws IllegalStateException if somebody else is consuming the set; until the future completes, that is this call
     */
    public final CompletableFuture<Optional<Outcome<T>>> nextAsync() {
        return nextAsync(ForkJoinPool.commonPool());
    }

    /**
     * The next result, as a future. Polls at once, and after each wake-up by the executor.
     *
     * @param executor runs the polls
     * @return completes with a result, or with nothing if the set is empty; cancelling it loses nothing and cancels no child
     * @throws IllegalStateException if somebody else is consuming the set; until the future completes, that is this call
     */
    public final CompletableFuture<Optional<Outcome<T>>> nextAsync(Executor executor) {
        claim();
        return NextFuture.start(this, executor);
    }

    /**
     * The results as they come, until the set is empty; for a {@code for} loop. Waits like {@link #next}. If its thread is interrupted, it
     * throws a {@link java.util.concurrent.CancellationException} and leaves the interrupt flag set.
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
     * The results as they come, until the set is empty.
     *
     * @return a sequential stream that waits like {@link #iterator}
     */
    public final Stream<Outcome<T>> stream() {
        int traits = Spliterator.NONNULL | Spliterator.ORDERED;
        return StreamSupport.stream(Spliterators.spliteratorUnknownSize(iterator(), traits), false);
    }

    /**
     * Waits for everything: all results and all failures, until the set is empty.
     *
     * @return what came, in the order it came
     * @throws InterruptedException if interrupted while waiting; what came so far is lost
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

    /** Puts back what could not be delivered; for a consumer that has claimed the set. */
    final void unread(Outcome<T> outcome) {
        unread = outcome;
    }

    /** The cycle. For a consumer that has claimed the set. */
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
                continue; // nobody woke this one: a bit that was left over
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

    /** One child's poll. */
    private @Nullable Outcome<T> turn(Child child) {
        Object task = child.task(); // before settle, which may give it up
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
        // Of sets in a set, the inner one says it: that is nearer to what failed.
        return outcome instanceof Failed<T>(Throwable cause, Origin origin) && !origin.isKnown()
                ? new Failed<>(cause, new Origin(key, task))
                : outcome;
    }

    /** The cycle is over, or there was nothing to begin one with. */
    private Step<T> rest(Waker waker) {
        // Registered before the looks: whoever flags or adds after them finds the waker.
        wakes.register(waker);
        if (wakes.anyFlagged()) {
            waker.wake();
            return Step.pending();
        }
        return isEmpty() ? Step.ended() : Step.pending();
    }

    // ---- For settle: exactly one of these after each poll.

    /** It stays, and will wake itself. */
    final void pause(Child child) {
        if (!child.pause()) {
            cancel(child);
        }
    }

    /** It stays and is polled in the next cycle; false if it was removed during its poll. */
    final boolean again(Child child) {
        boolean stays = child.again();
        if (!stays) {
            cancel(child);
        }
        return stays;
    }

    /** It is finished; false if it was removed during its poll. */
    final boolean leave(Child child) {
        boolean left = (child.finish() & Child.DONE) == 0;
        if (left) {
            wakes.finished();
        }
        wakes.free(child);
        return left;
    }

    /** As the system does it, to which a handler that throws itself is nothing: the other children must be cancelled, too. */
    private static void tell(Throwable failure) {
        Thread thread = Thread.currentThread();
        try {
            thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
        } catch (Throwable ignored) {
            // There is nobody left to tell.
        }
    }

    /** For whoever ended the child, or found it ended after its poll. */
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
