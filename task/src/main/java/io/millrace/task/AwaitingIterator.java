package io.millrace.task;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/** An iterator that waits for the next outcome when asked whether there is one. */
final class AwaitingIterator<T> implements Iterator<Outcome<T>> {
    /** Where the outcomes come from. */
    @FunctionalInterface
    interface Awaited<T> {
        /** Returns the next outcome, or null at the end. */
        @Nullable
        Outcome<T> next() throws InterruptedException;
    }

    private final Awaited<T> from;
    private @Nullable Outcome<T> next;

    AwaitingIterator(Awaited<T> from) {
        this.from = from;
    }

    static <T> AwaitingIterator<T> over(PollableStream<T> stream) {
        Guarded<T> guarded = new Guarded<>(stream);
        Parker parker = new Parker();
        return new AwaitingIterator<>(() -> {
            for (; ; ) {
                switch (guarded.poll(parker)) {
                    case Outcome<T> outcome -> {
                        return outcome;
                    }
                    case Step.Ended<T> ended -> {
                        return null;
                    }
                    case Step.Pending<T> pending -> parker.await();
                }
            }
        });
    }

    @Override
    public boolean hasNext() {
        if (next == null) {
            try {
                next = from.next();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                CancellationException thrown =
                        new CancellationException("interrupted while waiting for the next result");
                thrown.initCause(interrupted);
                throw thrown;
            }
        }
        return next != null;
    }

    @Override
    public Outcome<T> next() {
        Outcome<T> taken = hasNext() ? next : null;
        if (taken == null) {
            throw new NoSuchElementException("there is nothing left to wait for");
        }
        next = null;
        return taken;
    }
}
