package io.millrace.poll.internal;

import java.util.ArrayList;
import java.util.List;

/**
 * Sorts a tick that has too many entries to be sorted in one step. Its slot is split into smaller slots by deadline;
 * those that are still too large are split again and, where all deadlines are equal, by the order of insertion. Slots
 * that are small enough are fired, first to last. So the wheel continues below its ticks as it does above them. An
 * entry is in a slot at any time, so it can be cancelled or moved between two steps as usual. Single-threaded.
 *
 * <p>A <em>part</em> is one such set of slots. Parts are stacked: each but the first splits a slot of the part below
 * it, which is its <em>source</em>. A source is emptied before anything of its part fires, and nothing is added later.
 *
 * <p>Each part reduces the span of the deadlines in its source to a 64th or less, until they are equal, and then the
 * span of the insertion numbers, which differ. So there are at most {@link #maxParts} of them; with a million entries
 * usually one or two.
 */
final class TimerSplit {
    /** The largest size of a part, so that the slots in use fit into the nearest cache. */
    private static final int MAX_BITS = 8;

    private final int partBits;
    /** The number of the first part among the levels of the wheel. */
    private final int firstNumber;

    private final List<Part> parts = new ArrayList<>();
    private int open;

    TimerSplit(int slotBits, int firstNumber) {
        this.partBits = bits(slotBits);
        this.firstNumber = firstNumber;
    }

    /**
     * Returns how many parts a split may need: one for a tick, the others for any deadlines and any insertion numbers.
     */
    static int maxParts(int slotBits) {
        return 1 + 2 * Math.ceilDiv(Long.SIZE, bits(slotBits));
    }

    private static int bits(int slotBits) {
        return Math.min(slotBits, MAX_BITS);
    }

    boolean isOpen() {
        return open > 0;
    }

    /** Returns whether the first part splits a slot of this level. */
    boolean isOf(TimerLevel level) {
        return open > 0 && parts.get(0).source == level;
    }

    /** Begins with a slot of the wheel whose deadlines are from {@code least} to {@code most}, or earlier. */
    void begin(TimerLevel source, int index, long least, long most) {
        assert open == 0;
        push(source, index, false, least, most);
    }

    /** Splits a slot of the last part. */
    void splitFurther(int index) {
        Part part = last();
        if (part.least[index] != part.most[index]) {
            push(part.slots, index, false, part.least[index], part.most[index]);
        } else {
            push(part.slots, index, true, part.first[index], part.last[index]);
        }
    }

    private void push(TimerLevel source, int index, boolean byInsertion, long least, long most) {
        if (open == parts.size()) {
            parts.add(new Part(partBits));
        }
        Part part = parts.get(open++);
        part.source = source;
        part.index = index;
        part.byInsertion = byInsertion;
        part.from = least;
        // Unsigned: the difference of two longs can be as large as 2⁶⁴ − 1.
        part.shift = Math.max(0, Long.SIZE - Long.numberOfLeadingZeros(most - least) - partBits);
    }

    void closeLast() {
        open--;
    }

    /** Closes all parts, which must be empty. */
    void close() {
        open = 0;
    }

    /** Returns the number of the last part among the levels. */
    int number() {
        return firstNumber + open - 1;
    }

    TimerLevel slots() {
        return last().slots;
    }

    TimerLevel source() {
        return last().source;
    }

    int sourceIndex() {
        return last().index;
    }

    /** Returns the slot of the last part into which an entry has to be put. */
    int place(long deadline, long sequence) {
        Part part = last();
        long key = part.byInsertion ? sequence : deadline;
        // Only entries that were late when they arrived are before the tick.
        int index = key < part.from ? 0 : (int) ((key - part.from) >>> part.shift);
        if (part.slots.isEmpty(index)) {
            part.least[index] = deadline;
            part.most[index] = deadline;
            part.first[index] = sequence;
            part.last[index] = sequence;
        } else {
            part.least[index] = Math.min(part.least[index], deadline);
            part.most[index] = Math.max(part.most[index], deadline);
            part.first[index] = Math.min(part.first[index], sequence);
            part.last[index] = Math.max(part.last[index], sequence);
        }
        return index;
    }

    private Part last() {
        return parts.get(open - 1);
    }

    private static final class Part {
        private final TimerLevel slots;
        /** The range of deadlines that were put into a slot; some of them may have left since. */
        private final long[] least;

        private final long[] most;
        /** The range of their insertion numbers. */
        private final long[] first;

        private final long[] last;

        private TimerLevel source;
        private int index;
        private boolean byInsertion;
        private long from;
        private int shift;

        Part(int bits) {
            slots = new TimerLevel(bits, 0);
            source = slots;
            least = new long[1 << bits];
            most = new long[1 << bits];
            first = new long[1 << bits];
            last = new long[1 << bits];
        }
    }
}
