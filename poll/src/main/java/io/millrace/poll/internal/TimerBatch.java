package io.millrace.poll.internal;

import java.util.Arrays;

/**
 * What one slot of a wheel held, on its way out: taken in one go, and put in order by deadline, then by insertion. The
 * wheel gives it small slots only, and splits larger ones before: see {@link TimerSplit}. Single-threaded.
 *
 * <p>The sort is stable, and a slot is in the order of insertion unless entries were cancelled, moved, or came down
 * from an upper level. So it looks at the deadlines alone, and at the order of insertion where they are equal.
 */
final class TimerBatch<T> {
    /** Up to here an insertion sort beats counting. */
    private static final int SHORT = 32;

    private static final int DIGIT_BITS = 8;
    private static final int DIGIT_MASK = (1 << DIGIT_BITS) - 1;

    private final TimerEntries<T> entries;

    private int[] ids = new int[16];
    private long[] deadlines = new long[16];

    /** The indices of those that are due, as they fire, and what they are sorted by. */
    private int[] order = new int[16];

    private long[] keys = new long[16];

    private int[] nextOrder = new int[0];
    private long[] nextKeys = new long[0];
    private final int[] counts = new int[1 << DIGIT_BITS];

    private int taken;

    TimerBatch(TimerEntries<T> entries) {
        this.entries = entries;
    }

    /** Empties a stack into this, of which the depth is known. */
    void take(IdStacks stacks, int top, int depth) {
        taken = depth;
        if (ids.length < taken) {
            int length = Math.max(taken, ids.length * 2);
            ids = new int[length];
            deadlines = new long[length];
            order = new int[length];
            keys = new long[length];
        }
        stacks.drain(top, ids, taken);
        // A small loop of its own: the processor then overlaps the cache misses of many entries.
        for (int i = 0; i < taken; i++) {
            deadlines[i] = entries.deadline(ids[i]);
        }
    }

    /**
     * Puts those in order whose deadline is at or before a time, and the others behind them, backwards.
     *
     * @return how many are due
     */
    int sort(long time) {
        int due = 0;
        int late = taken;
        boolean ascending = true;
        long latest = Long.MIN_VALUE;
        for (int i = 0; i < taken; i++) {
            long deadline = deadlines[i];
            if (deadline > time) {
                order[--late] = i;
            } else {
                // Equal ones are not ascending: they have to be looked at.
                ascending &= deadline > latest;
                latest = deadline;
                keys[due] = deadline;
                order[due++] = i;
            }
        }
        if (!ascending) {
            sort(0, due);
            sortEqual(due);
        }
        return due;
    }

    int taken() {
        return taken;
    }

    /** By the order that the sort has made. */
    int id(int place) {
        return ids[order[place]];
    }

    long deadline(int place) {
        return deadlines[order[place]];
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
                    keys[i] = entries.sequence(id(i));
                    ascending &= i == from || keys[i] > keys[i - 1];
                }
                if (!ascending) {
                    sort(from, to);
                }
            }
            from = to;
        }
    }

    /** Sorts a part of the order by its keys, and the keys with it. Stable. */
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
            int index = order[i];
            int hole = i;
            for (; hole > from && keys[hole - 1] > key; hole--) {
                keys[hole] = keys[hole - 1];
                order[hole] = order[hole - 1];
            }
            keys[hole] = key;
            order[hole] = index;
        }
    }

    /** From the lowest digit to the highest one in which keys differ: linear, and those of a tick differ in few. */
    private void radixSort(int from, int to) {
        if (nextOrder.length < to) {
            nextOrder = new int[order.length];
            nextKeys = new long[order.length];
        }
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
                nextOrder[place] = order[i];
            }
            System.arraycopy(nextKeys, from, keys, from, to - from);
            System.arraycopy(nextOrder, from, order, from, to - from);
        }
    }

    private static int digit(long number, int shift) {
        return (int) (number >>> shift) & DIGIT_MASK;
    }
}
