package io.millrace.poll.internal;

import static io.millrace.poll.internal.TimerEntries.NONE;

/** A ring of slots, each of 2<sup>shift</sup> ticks and with a stack of ids. Single-threaded. */
final class TimerLevel {
    private final int shift;
    private final int mask;
    /** The top of each slot's stack. */
    private final int[] tops;

    private final SlotBitmap occupied;
    /** At or before the fire ticks of each occupied slot. Not used in level 0, where a slot is a tick. */
    private final long[] bounds;

    TimerLevel(int slotBits, int shift) {
        this.shift = shift;
        this.mask = (1 << slotBits) - 1;
        this.tops = new int[1 << slotBits];
        this.occupied = new SlotBitmap(1 << slotBits);
        this.bounds = new long[shift == 0 ? 0 : 1 << slotBits];
    }

    int index(long tick) {
        return (int) (tick >>> shift) & mask;
    }

    /** Returns the first tick of the next occupied slot, or NONE. */
    long firstTick(long elapsed) {
        int index = occupied.next(index(elapsed));
        if (index < 0) {
            return NONE;
        }
        int distance = (index - index(elapsed)) & mask;
        return ((elapsed >>> shift) + distance) << shift;
    }

    /** Returns a tick at or before all fire ticks of this level; Long.MAX_VALUE if it is empty. */
    long earliestTick(long elapsed) {
        int index = occupied.next(index(elapsed));
        if (index < 0) {
            return Long.MAX_VALUE;
        }
        return shift == 0 ? firstTick(elapsed) : bounds[index];
    }

    /** Returns the lowest index of an occupied slot; negative if there is none. */
    int firstOccupied() {
        return occupied.next(0);
    }

    boolean isEmpty(int index) {
        return tops[index] == IdStacks.EMPTY;
    }

    void lowerBoundTo(int index, long tick) {
        if (shift > 0 && (tops[index] == IdStacks.EMPTY || tick < bounds[index])) {
            bounds[index] = tick;
        }
    }

    int top(int index) {
        return tops[index];
    }

    void setTop(int index, int top) {
        if (top == IdStacks.EMPTY) {
            occupied.clear(index);
        } else if (tops[index] == IdStacks.EMPTY) {
            occupied.set(index);
        }
        tops[index] = top;
    }

    /** Empties a slot and returns its top. */
    int take(int index) {
        int top = tops[index];
        setTop(index, IdStacks.EMPTY);
        return top;
    }
}
