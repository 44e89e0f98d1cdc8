package io.millrace.task;

import java.util.concurrent.atomic.AtomicInteger;

/** A pollable that a test completes, and that counts what is done to it. */
final class Promise<T> implements Pollable<T> {
    final AtomicInteger polls = new AtomicInteger();
    final AtomicInteger cancels = new AtomicInteger();
    volatile Waker waker;
    private volatile Step<T> result;

    @Override
    public Step<T> poll(Waker latest) {
        polls.incrementAndGet();
        waker = latest;
        Step<T> there = result;
        return there == null ? Step.pending() : there;
    }

    void complete(T value) {
        settle(Step.item(value));
    }

    void settle(Step<T> with) {
        result = with;
        wake();
    }

    void wake() {
        Waker latest = waker;
        if (latest != null) {
            latest.wake();
        }
    }

    @Override
    public void cancel() {
        cancels.incrementAndGet();
    }
}
