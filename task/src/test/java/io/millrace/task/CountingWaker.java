package io.millrace.task;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts how often it is called. */
final class CountingWaker implements Waker {
    private final AtomicInteger calls = new AtomicInteger();

    @Override
    public void wake() {
        calls.incrementAndGet();
    }

    int calls() {
        return calls.get();
    }

    /** How often since the last time it was asked. */
    int take() {
        return calls.getAndSet(0);
    }
}
