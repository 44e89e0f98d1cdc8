package io.millrace.task;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/** The result of a call on a virtual thread, which is interrupted if the result is not needed any more. */
final class Call<T> implements Pollable<T>, Runnable {
    private final Callable<? extends T> callable;
    private @Nullable Thread thread;
    private boolean cancelled;
    private volatile @Nullable Waker waker;
    private volatile @Nullable Outcome<T> outcome;

    Call(Callable<? extends T> callable) {
        this.callable = Objects.requireNonNull(callable, "callable");
    }

    /**
     * Starts the call, unless it was started or cancelled. Any thread: a consumer may be faster than the thread that
     * adds the call.
     */
    synchronized void start() {
        if (thread == null && !cancelled) {
            thread = Thread.ofVirtual().name("millrace call").start(this);
        }
    }

    /** Starts with a waker, for a set that need not poll before the call has returned. */
    void start(Waker latest) {
        waker = latest;
        start();
    }

    @Override
    public Step<T> poll(Waker latest) {
        Outcome<T> there = outcome;
        if (there == null) {
            // Set before the second check; the call sets the outcome before it reads the waker.
            waker = latest;
            start();
            there = outcome;
        }
        return there != null ? there : Step.pending();
    }

    @Override
    public void run() {
        Outcome<T> result;
        try {
            result = new Item<>(callable.call());
        } catch (Throwable failure) {
            result = new Failed<>(failure);
        }
        outcome = result;
        Waker latest = waker;
        if (latest != null) {
            latest.wake();
        }
    }

    @Override
    public synchronized void cancel() {
        cancelled = true;
        if (thread != null) {
            thread.interrupt();
        }
    }

    @Override
    public String toString() {
        return "call of " + Names.of(callable);
    }
}
