package io.millrace.sys.call;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Native memory that virtual threads borrow for the time of one call. There may be a million of them, and each that ever made a call would keep
 * its own for as long as it lives; but no more of them are inside a call than there are carriers, and a few that were unmounted just then.
 *
 * <p>A slot holds one that is free, or null. Whoever turns the slot to null has it, alone; whoever finds no free one makes one; what comes back and finds no
 * empty slot is the collector's. A thread begins to look at a place of its own, so that few meet. The places are apart in memory.
 *
 * @param <T> what is lent; by identity
 */
final class LendingPool<T> {
    private static final int LEAST = 16;
    private static final int MOST = 256;
    private static final int APART = 16;

    private final int mask;
    private final AtomicReferenceArray<@Nullable T> slots;

    LendingPool() {
        this(Math.clamp(Integer.highestOneBit(4 * Runtime.getRuntime().availableProcessors()), LEAST, MOST));
    }

    /** With room for so many, a power of two. */
    LendingPool(int capacity) {
        this.mask = capacity - 1;
        this.slots = new AtomicReferenceArray<>(capacity * APART);
    }

    /** A free one, the caller's until {@link #giveBack}; or null if there is none. */
    @Nullable
    T take() {
        int start = start();
        for (int i = 0; i <= mask; i++) {
            int at = ((start + i) & mask) * APART;
            T free = slots.get(at);
            if (free != null && slots.compareAndSet(at, free, null)) {
                return free;
            }
        }
        return null;
    }

    /** By whoever has it, once. */
    void giveBack(T lent) {
        int start = start();
        for (int i = 0; i <= mask; i++) {
            int at = ((start + i) & mask) * APART;
            if (slots.get(at) == null && slots.compareAndSet(at, null, lent)) {
                return;
            }
        }
    }

    private static int start() {
        return (int) Thread.currentThread().threadId();
    }

    @Override
    public String toString() {
        int free = 0;
        for (int i = 0; i <= mask; i++) {
            free += slots.get(i * APART) == null ? 0 : 1;
        }
        return free + " of at most " + (mask + 1) + " free";
    }
}
