package io.millrace.task;

import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Adapts a stage to a pollable. It is itself the stage's callback, so that a child costs only one object besides what
 * the stage creates for it.
 */
final class StagePollable<T> implements Pollable<T>, BiConsumer<T, Throwable> {
    private final CompletionStage<T> stage;
    private boolean listening;
    private volatile @Nullable Waker waker;
    private volatile @Nullable Outcome<T> outcome;

    StagePollable(CompletionStage<T> stage) {
        this.stage = Objects.requireNonNull(stage, "stage");
    }

    /** Registers with the stage at once, for a set that need not poll before the stage is done. */
    void listen(Waker latest) {
        waker = latest;
        listening = true;
        CompletionStage<T> _ = stage.whenComplete(this);
    }

    @Override
    public Step<T> poll(Waker latest) {
        Outcome<T> there = outcome;
        if (there != null) {
            return there;
        }
        // Set before the second check; the stage sets the outcome before it reads the waker.
        waker = latest;
        if (!listening) {
            listening = true;
            // Compares the class: a minimal stage is a future, too, but does not answer.
            if (stage.getClass() == CompletableFuture.class) {
                CompletableFuture<T> future = (CompletableFuture<T>) stage;
                if (future.state() == Future.State.SUCCESS) {
                    return Step.item(future.resultNow());
                }
            }
            stage.whenComplete(this);
        }
        there = outcome;
        return there != null ? there : Step.pending();
    }

    /** Called by the stage. */
    @Override
    public void accept(T value, @Nullable Throwable failure) {
        outcome = failure == null ? new Item<>(value) : new Failed<>(causeOf(failure));
        Waker latest = waker;
        waker = null;
        if (latest != null) {
            latest.wake();
        }
    }

    /** Returns what a stage failed with: a dependent stage wraps the failure of the other. */
    static Throwable causeOf(Throwable failure) {
        Throwable cause = failure.getCause();
        return failure instanceof CompletionException && cause != null ? cause : failure;
    }

    @Override
    public void cancel() {
        waker = null;
        try {
            stage.toCompletableFuture().cancel(true);
        } catch (UnsupportedOperationException ignored) {
            // A stage that cannot be cancelled; its result is ignored.
        }
    }

    @Override
    public String toString() {
        return Names.of(stage);
    }
}
