package io.millrace.task;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The next outcome of a set, as a future that has claimed the set.
 *
 * <p>The claim is released before the future completes, so that stages that depend on the future may consume the set.
 * So it must be decided earlier who completes it: an outcome that a cancelled future cannot take is put back while the
 * claim is held.
 */
final class NextFuture<T> extends CompletableFuture<Optional<Outcome<T>>> {
    private final Unordered<T> set;
    private final Driver driver;
    private final AtomicBoolean settled = new AtomicBoolean();

    private NextFuture(Unordered<T> set, Executor executor) {
        this.set = set;
        this.driver = new Driver(executor);
    }

    static <T> CompletableFuture<Optional<Outcome<T>>> start(Unordered<T> set, Executor executor) {
        NextFuture<T> future = new NextFuture<>(set, executor);
        future.driver.drive();
        return future;
    }

    private final class Driver extends Drive {
        Driver(Executor executor) {
            super(executor);
        }

        @Override
        boolean step() {
            if (settled.get()) {
                set.release();
                return true;
            }
            Step<T> step = set.advance(this);
            if (step instanceof Step.Pending) {
                return false;
            }
            boolean ours = settled.compareAndSet(false, true);
            if (!ours && step instanceof Outcome<T> outcome) {
                set.putBack(outcome);
            }
            set.release();
            if (ours) {
                deliver(step instanceof Outcome<T> outcome ? Optional.of(outcome) : Optional.empty());
            }
            return true;
        }

        @Override
        void onRefused(RejectedExecutionException reason) {
            set.release();
            completeExceptionally(reason);
        }
    }

    private void deliver(Optional<Outcome<T>> outcome) {
        super.complete(outcome);
    }

    /** Handles completion from outside: the next run releases the set. */
    private boolean settle() {
        return settled.compareAndSet(false, true);
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        if (!settle()) {
            return false;
        }
        boolean done = super.cancel(mayInterruptIfRunning);
        driver.wake();
        return done;
    }

    @Override
    public boolean complete(Optional<Outcome<T>> value) {
        if (!settle()) {
            return false;
        }
        boolean done = super.complete(value);
        driver.wake();
        return done;
    }

    @Override
    public boolean completeExceptionally(Throwable failure) {
        if (!settle()) {
            return false;
        }
        boolean done = super.completeExceptionally(failure);
        driver.wake();
        return done;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new CompletableFuture<>();
    }
}
