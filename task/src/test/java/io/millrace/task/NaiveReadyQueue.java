package io.millrace.task;

import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What one writes first: a queue of children that asked to be polled, drained in a loop. Two variants, each with the flaw that fair sets are
 * for.
 */
final class NaiveReadyQueue implements Contestant {
    enum Variant {
        /** Each child is in the queue at most once, and who was woken last is served first. */
        AT_THE_HEAD,
        /** First come, first served, and each wake-up counts: who wakes twice is polled twice. */
        EVERY_WAKE_COUNTS
    }

    /** Like the sets it stands for, it returns after some polls, so that others have their turn. */
    private static final int POLLS_PER_CALL = 32;

    private final Variant variant;
    private final Deque<Entry> ready = new ConcurrentLinkedDeque<>();

    NaiveReadyQueue(Variant variant) {
        this.variant = variant;
    }

    private final class Entry implements Waker {
        private final Pollable<Integer> child;
        private final AtomicBoolean queued = new AtomicBoolean();

        Entry(Pollable<Integer> child) {
            this.child = child;
        }

        @Override
        public void wake() {
            if (variant == Variant.EVERY_WAKE_COUNTS) {
                ready.addLast(this);
            } else if (queued.compareAndSet(false, true)) {
                ready.addFirst(this);
            }
        }
    }

    @Override
    public void add(Pollable<Integer> child) {
        new Entry(child).wake();
    }

    @Override
    public Step<Integer> poll(Waker parent) {
        for (int i = 0; i < POLLS_PER_CALL; i++) {
            Entry entry = ready.pollFirst();
            if (entry == null) {
                return Step.pending();
            }
            entry.queued.set(false);
            try {
                Step<Integer> step = entry.child.poll(entry);
                if (step instanceof Outcome) {
                    return step;
                }
            } catch (Exception failure) {
                return Step.failed(failure);
            }
        }
        parent.wake();
        return Step.pending();
    }
}
