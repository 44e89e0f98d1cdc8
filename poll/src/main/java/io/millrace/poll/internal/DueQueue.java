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
    /** Up to here an insertion sort beats a merge. */
    private static final int SHORT = 32;

    private final TimerEntries<T> entries;

    private int[] ids = new int[16];
    /** Of those being appended, for the sort: it looks at them again and again. */
    private long[] deadlines = new long[16];
    /** Null in a gap. */
    private @Nullable Object[] values = new Object[16];

    private int head;
    private int tail;
    private int count;
    private int[] mergedIds = new int[0];
    private long[] mergedDeadlines = new long[0];

    DueQueue(TimerEntries<T> entries) {
        this.entries = entries;
    }

    int count() {
        return count;
    }

    /**
     * Empties a stack of entries into the queue, in order.
     *
     * @return how many were moved to a deadline after {@code time} and are not due; {@link #late} has them until the
     *     next call
     */
    int append(IdStacks stacks, int top, long time) {
        int taken = stacks.depth(top);
        makeRoom(taken);
        int end = tail + taken;
        stacks.drain(top, ids, end);
        // Small loops, one per kind of memory: the processor then overlaps the cache misses of many entries.
        boolean ascending = true;
        long latest = Long.MIN_VALUE;
        for (int i = tail; i < end; i++) {
            long deadline = entries.deadline(ids[i]);
            deadlines[i] = deadline;
            ascending &= deadline > latest;
            latest = Math.max(latest, deadline);
        }
        if (latest > time) {
            end = moveLateToEnd(end, time);
            ascending = false;
        }
        // Equal deadlines are not ascending either: the sort finds that they are in order already, usually.
        if (!ascending) {
            sort(tail, end);
        }
        for (int i = tail; i < end; i++) {
            entries.setPlace(ids[i], DUE, i);
            values[i] = entries.takeValue(ids[i]);
        }
        int late = tail + taken - end;
        count += end - tail;
        tail = end;
        return late;
    }

    int late(int index) {
        return ids[tail + index];
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
            deadlines = new long[length];
            values = Arrays.copyOf(values, length);
        }
    }

    private int moveLateToEnd(int taken, long time) {
        int end = taken;
        for (int i = tail; i < end; ) {
            if (deadlines[i] > time) {
                end--;
                int id = ids[i];
                copy(end, i);
                ids[end] = id;
            } else {
                i++;
            }
        }
        return end;
    }

    private void copy(int from, int to) {
        ids[to] = ids[from];
        deadlines[to] = deadlines[from];
    }

    /** By deadline, then by insertion. A merge sort that leaves alone what is in order. */
    private void sort(int from, int to) {
        if (to - from <= SHORT) {
            insertionSort(from, to);
            return;
        }
        int middle = (from + to) >>> 1;
        sort(from, middle);
        sort(middle, to);
        if (before(middle - 1, deadlines[middle], ids[middle])) {
            return;
        }
        int left = middle - from;
        if (mergedIds.length < left) {
            mergedIds = new int[left * 2];
            mergedDeadlines = new long[left * 2];
        }
        System.arraycopy(ids, from, mergedIds, 0, left);
        System.arraycopy(deadlines, from, mergedDeadlines, 0, left);
        int right = middle;
        int out = from;
        for (int i = 0; i < left; out++) {
            if (right < to && before(right, mergedDeadlines[i], mergedIds[i])) {
                copy(right++, out);
            } else {
                ids[out] = mergedIds[i];
                deadlines[out] = mergedDeadlines[i++];
            }
        }
    }

    private void insertionSort(int from, int to) {
        for (int i = from + 1; i < to; i++) {
            int id = ids[i];
            long deadline = deadlines[i];
            int hole = i;
            while (hole > from && !before(hole - 1, deadline, id)) {
                copy(hole - 1, hole);
                hole--;
            }
            ids[hole] = id;
            deadlines[hole] = deadline;
        }
    }

    private boolean before(int index, long deadline, int id) {
        return deadlines[index] != deadline
                ? deadlines[index] < deadline
                : entries.sequence(ids[index]) < entries.sequence(id);
    }
}
