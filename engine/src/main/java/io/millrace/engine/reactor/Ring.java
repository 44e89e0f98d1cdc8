package io.millrace.engine.reactor;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A queue of tasks in an array that grows. Used by one thread. */
final class Ring {
    private @Nullable Runnable[] items = new Runnable[64];
    private int head;
    private int size;

    void add(Runnable item) {
        if (size == items.length) {
            grow();
        }
        items[(head + size) & (items.length - 1)] = item;
        size++;
    }

    /** Removes and returns the first task; there must be one. */
    Runnable take() {
        Runnable item = Objects.requireNonNull(items[head]);
        items[head] = null;
        head = (head + 1) & (items.length - 1);
        size--;
        return item;
    }

    /** Prefetches the first {@code count} items, as far as they are {@link Prefetchable}; there must be as many. */
    int prefetch(int count) {
        int sum = 0;
        for (int i = 0; i < count; i++) {
            if (items[(head + i) & (items.length - 1)] instanceof Prefetchable item) {
                sum += item.prefetch();
            }
        }
        return sum;
    }

    int size() {
        return size;
    }

    private void grow() {
        @Nullable Runnable[] larger = new Runnable[items.length * 2];
        int tail = items.length - head;
        System.arraycopy(items, head, larger, 0, tail);
        System.arraycopy(items, 0, larger, tail, head);
        items = larger;
        head = 0;
    }
}
