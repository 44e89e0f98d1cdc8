package io.millrace.task;

import java.util.concurrent.Callable;

/** Adapts a pollable to a call that waits for its value. */
final class AwaitingCall<T> implements Callable<T> {
    private final Pollable<T> pollable;

    AwaitingCall(Pollable<T> pollable) {
        this.pollable = pollable;
    }

    @Override
    public T call() throws Exception {
        Parker parker = new Parker();
        for (; ; ) {
            switch (pollable.poll(parker)) {
                case Item<T>(T value) -> {
                    return value;
                }
                case Failed<T> failed -> {
                    switch (failed.cause()) {
                        case Exception exception -> throw exception;
                        case Error error -> throw error;
                        case Throwable other -> throw new java.util.concurrent.ExecutionException(other);
                    }
                }
                case Step.Ended<T> ended ->
                    throw new IllegalStateException("a future ended without an outcome: " + ended);
                case Step.Pending<T> pending -> await(parker);
            }
        }
    }

    private void await(Parker parker) throws InterruptedException {
        try {
            parker.await();
        } catch (InterruptedException interrupted) {
            pollable.cancel();
            throw interrupted;
        }
    }
}
