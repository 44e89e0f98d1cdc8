package io.millrace.poll.internal;

import static io.millrace.poll.internal.TimerEntries.NONE;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The entries that have fired and were not polled yet, in firing order: a list through the entries themselves. It has
 * no memory of its own, so nothing grows when a million entries are due, and a cancel leaves no gap. Single-threaded.
 */
final class DueQueue<T> {
    private final TimerEntries<T> entries;

    private int head = NONE;
    private int tail = NONE;
    private int count;

    @SuppressWarnings("UnusedVariable") // written so that the loads before it are not optimized away
    private int touched;

    DueQueue(TimerEntries<T> entries) {
        this.entries = entries;
    }

    int count() {
        return count;
    }

    /** Appends the first {@code due} entries of a sorted batch. */
    void append(TimerBatch<T> batch, int due) {
        if (due == 0) {
            return;
        }
        int id = batch.id(0);
        if (tail == NONE) {
            head = id;
        } else {
            entries.setAfter(tail, id);
        }
        for (int i = 1; i < due; i++) {
            int next = batch.id(i);
            // Here the processor overlaps the cache misses; poll would wait for each.
            touched += entries.touchValue(next);
            entries.setDue(id, tail, next);
            tail = id;
            id = next;
        }
        entries.setDue(id, tail, NONE);
        tail = id;
        count += due;
    }

    /** Removes the first entry. Returns its value, or null if nothing is due. */
    @Nullable
    T poll() {
        return head == NONE ? null : remove(head);
    }

    /** Removes an entry that is due, and returns its value. */
    T remove(int id) {
        int after = entries.after(id);
        if (id == head) {
            // The next entry is not updated, to save a store: what precedes the head is never read.
            head = after;
            tail = after == NONE ? NONE : tail;
        } else {
            int before = entries.before(id);
            entries.setAfter(before, after);
            if (after == NONE) {
                tail = before;
            } else {
                entries.setBefore(after, before);
            }
        }
        count--;
        T value = entries.takeValue(id);
        entries.remove(id);
        return value;
    }

    /** Returns all values, in order. */
    List<T> values() {
        List<T> values = new ArrayList<>();
        for (int id = head; id != NONE; id = entries.after(id)) {
            T value = entries.value(id);
            if (value != null) {
                values.add(value);
            }
        }
        return values;
    }
}
