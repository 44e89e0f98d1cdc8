package io.millrace.sys.call;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Native memory that virtual threads borrow for the duration of a call. There may be a million virtual threads, and if
 * each had its own, it would keep it for as long as it lives. But no more of them are inside a call than there are
 * carrier threads, plus a few that have just been unmounted.
 *
 * <p>A slot holds a free object, or null. The thread that sets the slot to null has the object to itself; a thread that
 * finds none creates one; an object that comes back and finds no empty slot is left to the garbage collector. Each
 * thread starts to search at a different slot, so that few collide. The slots are spaced out in memory.
 *
 * @param <T> the type of what is lent; compared by identity
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

    /** Creates a pool with room for {@code capacity} objects, a power of two. */
    LendingPool(int capacity) {
        this.mask = capacity - 1;
        this.slots = new AtomicReferenceArray<>(capacity * APART);
    }

    /** Returns a free object, for the caller until {@link #giveBack}; null if there is none. */
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

    /** Called once, by the thread that has the object. */
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
