package io.millrace.engine.pool;

import io.millrace.engine.Priority;
import io.millrace.poll.Clock;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * One task of a {@link ComputePool}: the work, its links in the {@link ComputeQueue}, and the future that its submitter
 * holds.
 *
 * <p>A thread that completes the future from outside (cancel, a timeout) first removes the task from the queue, because
 * its result would be lost. If the task has started, it runs to its end, and its result is discarded.
 */
final class ComputeTask<T> extends CompletableFuture<T> {
    private final ComputeQueue queue;
    final Priority priority;
    private final @Nullable Executor completeOn;
    /** Null once it ran or never will, so that a future that is kept does not keep the work alive. */
    private @Nullable Callable<? extends T> work;

    // Guarded by the queue's lock.
    boolean queued;
    long sequence;
    long sinceNanos;

    @Nullable
    ComputeTask<?> before;

    @Nullable
    ComputeTask<?> behind;

    ComputeTask(ComputeQueue queue, Callable<? extends T> work, Priority priority, @Nullable Executor completeOn) {
        this.queue = queue;
        this.work = work;
        this.priority = priority;
        this.completeOn = completeOn;
    }

    /** Runs the task. Called by the worker that took it. */
    void run(Clock clock) {
        Callable<? extends T> call = work;
        work = null;
        T value = null;
        Throwable failure = null;
        long start = clock.nanoTime();
        try {
            value = call == null ? null : call.call();
        } catch (Throwable e) { // including errors: the worker must survive
            failure = e;
        }
        // Counted first, so that the metrics include a task whose future is done.
        queue.countFinished(failure == null, clock.nanoTime() - start);
        settle(value, failure);
    }

    @SuppressWarnings("ReferenceEquality") // an exception cannot suppress itself; equals would be user code
    private void settle(@Nullable T value, @Nullable Throwable failure) {
        if (completeOn == null) {
            settleHere(value, failure);
            return;
        }
        try {
            completeOn.execute(() -> settleHere(value, failure));
        } catch (Throwable refused) {
            // As with thenApplyAsync if its executor refuses: the future must not stay incomplete.
            if (failure != null && failure != refused) {
                failure.addSuppressed(refused);
            }
            settleHere(null, failure == null ? refused : failure);
        }
    }

    private void settleHere(@Nullable T value, @Nullable Throwable failure) {
        if (failure == null) {
            super.complete(value);
        } else {
            super.completeExceptionally(failure);
        }
    }

    private void withdraw() {
        if (queue.withdraw(this)) {
            work = null;
        }
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        withdraw();
        return super.cancel(mayInterruptIfRunning);
    }

    @Override
    public boolean complete(T value) {
        withdraw();
        return super.complete(value);
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        withdraw();
        return super.completeExceptionally(failure);
    }
}
