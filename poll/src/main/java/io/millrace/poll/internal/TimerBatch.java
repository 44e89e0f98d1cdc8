package io.millrace.poll.internal;

import java.util.Arrays;

/**
 * The contents of one slot of a wheel, taken out at once and sorted by deadline, then by insertion. The wheel takes
 * only small slots, and splits larger ones before: see {@link TimerSplit}. Single-threaded.
 *
 * <p>The sort is stable, and a slot is in the order of insertion unless entries were cancelled, moved, or came down
 * from an upper level. So the sort compares only deadlines, and the order of insertion where they are equal.
 */
final class TimerBatch<T> {
    /** Up to this size, an insertion sort is faster than counting. */
    private static final int SHORT = 32;

    private static final int DIGIT_BITS = 8;
    private static final int DIGIT_MASK = (1 << DIGIT_BITS) - 1;

    private final TimerEntries<T> entries;

    private int[] ids = new int[16];
    /** The sort keys of the ids: deadlines and, at the end, the order of insertion where those are equal. */
    private long[] keys = new long[16];

    /** Used by the sort; beyond the sorted part, holds the entries that are not due. */
    private int[] nextIds = new int[0];

    private long[] nextKeys = new long[0];
    private final int[] counts = new int[1 << DIGIT_BITS];

    private int taken;

    TimerBatch(TimerEntries<T> entries) {
        this.entries = entries;
    }

    /** Empties a stack of known depth into this batch. */
    void take(IdStacks stacks, int top, int depth) {
        taken = depth;
        if (ids.length < taken) {
            int length = Math.max(taken, ids.length * 2);
            ids = new int[length];
            keys = new long[length];
        }
        stacks.drain(top, ids, taken);
        // A small separate loop, so that the processor overlaps the cache misses of many entries.
        for (int i = 0; i < taken; i++) {
            keys[i] = entries.deadline(ids[i]);
        }
    }

    /**
     * Sorts the entries whose deadline is at or before a time, and sets the others apart.
     *
     * @return how many are due
     */
    int sort(long time) {
        boolean ascending = true;
        long latest = Long.MIN_VALUE;
        int due = 0;
        while (due < taken && keys[due] <= time) {
            // Equal deadlines do not count as ascending, so that they are sorted by insertion.
            ascending &= keys[due] > latest;
            latest = keys[due++];
        }
        if (due < taken) {
            // Rare: some entries were moved to a later time.
            due = setApart(time, due);
            ascending = false;
        }
        if (!ascending) {
            sort(0, due);
            sortEqual(due);
        }
        return due;
    }

    private int setApart(long time, int from) {
        makeRoom();
        int due = from;
        int late = taken;
        for (int i = from; i < taken; i++) {
            if (keys[i] > time) {
                late--;
                nextIds[late] = ids[i];
                nextKeys[late] = keys[i];
            } else {
                ids[due] = ids[i];
                keys[due] = keys[i];
                due++;
            }
        }
        return due;
    }

    private void makeRoom() {
        if (nextIds.length < ids.length) {
            nextIds = new int[ids.length];
            nextKeys = new long[ids.length];
        }
    }

    int taken() {
        return taken;
    }

    /** Returns the id of an entry that is due, in order. */
    int id(int place) {
        return ids[place];
    }

    /** Returns the id of an entry that is not due; they are behind the others, with the first of them at the end. */
    int lateId(int place) {
        return nextIds[place];
    }

    long lateDeadline(int place) {
        return nextKeys[place];
    }

    private void sortEqual(int end) {
        for (int from = 0; from < end; ) {
            long deadline = keys[from];
            int to = from + 1;
            while (to < end && keys[to] == deadline) {
                to++;
            }
            if (to - from > 1) {
                boolean ascending = true;
                for (int i = from; i < to; i++) {
                    keys[i] = entries.sequence(ids[i]);
                    ascending &= i == from || keys[i] > keys[i - 1];
                }
                if (!ascending) {
                    sort(from, to);
                }
            }
            from = to;
        }
    }

    /** Sorts part of the ids by their keys, together with the keys. Stable. */
    private void sort(int from, int to) {
        if (to - from <= SHORT) {
            insertionSort(from, to);
        } else {
            radixSort(from, to);
        }
    }

    private void insertionSort(int from, int to) {
        for (int i = from + 1; i < to; i++) {
            long key = keys[i];
            int id = ids[i];
            int hole = i;
            for (; hole > from && keys[hole - 1] > key; hole--) {
                keys[hole] = keys[hole - 1];
                ids[hole] = ids[hole - 1];
            }
            keys[hole] = key;
            ids[hole] = id;
        }
    }

    /**
     * Sorts by digits, from the lowest to the highest one in which keys differ. This is linear, and the keys of one
     * tick differ in few digits.
     */
    private void radixSort(int from, int to) {
        makeRoom();
        long least = Long.MAX_VALUE;
        long most = Long.MIN_VALUE;
        for (int i = from; i < to; i++) {
            least = Math.min(least, keys[i]);
            most = Math.max(most, keys[i]);
        }
        // Unsigned: the difference of two longs can be as large as 2⁶⁴ − 1.
        int bits = Long.SIZE - Long.numberOfLeadingZeros(most - least);
        for (int shift = 0; shift < bits; shift += DIGIT_BITS) {
            Arrays.fill(counts, 0);
            for (int i = from; i < to; i++) {
                counts[digit(keys[i] - least, shift)]++;
            }
            int next = from;
            for (int digit = 0; digit <= DIGIT_MASK; digit++) {
                int count = counts[digit];
                counts[digit] = next;
                next += count;
            }
            for (int i = from; i < to; i++) {
                int place = counts[digit(keys[i] - least, shift)]++;
                nextKeys[place] = keys[i];
                nextIds[place] = ids[i];
            }
            System.arraycopy(nextKeys, from, keys, from, to - from);
            System.arraycopy(nextIds, from, ids, from, to - from);
        }
    }

    private static int digit(long number, int shift) {
        return (int) (number >>> shift) & DIGIT_MASK;
    }
}
