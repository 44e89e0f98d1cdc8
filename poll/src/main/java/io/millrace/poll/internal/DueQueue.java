package io.millrace.poll.internal;

import static io.millrace.poll.internal.TimerEntries.DUE;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What has fired and has not been polled, in firing order. The entries stay live: each knows its position here, so
 * that a cancel finds it, and leaves a gap. Single-threaded.
 */
final class DueQueue<T> {
    private final TimerEntries<T> entries;

    private int[] ids = new int[16];
    /** Null in a gap. */
    private @Nullable Object[] values = new Object[16];

    private int head;
    private int tail;
    private int count;

    DueQueue(TimerEntries<T> entries) {
        this.entries = entries;
    }

    int count() {
        return count;
    }

    /** Appends the first {@code due} of a sorted batch. */
    void append(TimerBatch<T> batch, int due) {
        makeRoom(due);
        for (int i = 0; i < due; i++) {
            int id = batch.id(i);
            ids[tail] = id;
            values[tail] = entries.takeValue(id);
            entries.setPlace(id, DUE, tail);
            tail++;
        }
        count += due;
    }

    /** Ends the first entry: its value, or null if nothing is due. */
    @Nullable
    T poll() {
        if (count == 0) {
            return null;
        }
        while (values[head] == null) {
            head++;
        }
        return remove(head++);
    }

    /** Ends the entry at a position: its value. */
    T remove(int position) {
        @SuppressWarnings("unchecked")
        T value = (T) Objects.requireNonNull(values[position]);
        values[position] = null;
        entries.remove(ids[position]);
        count--;
        if (count == 0) {
            head = 0;
            tail = 0;
        }
        return value;
    }

    /**
     * Closes the gaps, and grows if that leaves it more than half full: O(1) per entry, and no bigger than the load.
     */
    private void makeRoom(int more) {
        if (tail + more <= ids.length) {
            return;
        }
        int to = 0;
        for (int i = head; i < tail; i++) {
            Object value = values[i];
            if (value != null) {
                values[i] = null;
                values[to] = value;
                ids[to] = ids[i];
                entries.setPlace(ids[to], DUE, to);
                to++;
            }
        }
        head = 0;
        tail = to;
        if (count + more > ids.length >> 1) {
            int length = (count + more) * 2;
            ids = Arrays.copyOf(ids, length);
            values = Arrays.copyOf(values, length);
        }
    }
}
