package io.millrace.task;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** Adapts a pollable to a future. */
final class FutureDrive<T> extends Drive {
    private final Pollable<T> pollable;
    private final CompletableFuture<T> future = new CompletableFuture<>();

    private FutureDrive(Pollable<T> pollable, Executor executor) {
        super(executor);
        this.pollable = pollable;
    }

    static <T> CompletableFuture<T> start(Pollable<T> pollable, Executor executor) {
        FutureDrive<T> drive = new FutureDrive<>(pollable, executor);
        drive.drive();
        if (!drive.future.isDone()) {
            // However it is completed, also if it is cancelled: the next step finds it done.
            CompletableFuture<T> _ = drive.future.whenComplete((value, failure) -> drive.wake());
        }
        return drive.future;
    }

    @Override
    boolean step() {
        if (future.isDone()) {
            pollable.cancel();
            return true;
        }
        try {
            return switch (pollable.poll(this)) {
                case Step.Pending<T> pending -> false;
                case Item<T>(T value) -> {
                    future.complete(value);
                    yield true;
                }
                case Failed<T> failed -> {
                    future.completeExceptionally(failed.cause());
                    yield true;
                }
                case Step.Ended<T> ended -> throw new IllegalStateException("a future ended without an outcome");
            };
        } catch (Throwable failure) {
            future.completeExceptionally(failure);
            return true;
        }
    }

    @Override
    void onRefused(RejectedExecutionException reason) {
        pollable.cancel();
        future.completeExceptionally(reason);
    }
}
