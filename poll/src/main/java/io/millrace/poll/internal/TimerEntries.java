package io.millrace.poll.internal;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a wheel: for each id its deadline, its place in the insertion order, where it is linked, its value,
 * and the generation of its key.
 *
 * <p>An entry is four adjacent longs, so that finding and moving it costs one cache miss, plus a reference. They are in
 * chunks, so that growing never copies more than the first one, which starts small. The search for a free id is
 * circular: so entries that are set in a row are adjacent, no matter in which order ids were freed, and an entry that
 * is set, ended and set again stays in the cache. Single-threaded.
 *
 * <p>I4: an id is reused only with a higher generation, and never after the last one. So a stale key never finds
 * anything. Retiring an id costs 36 bytes once in 2³¹ uses.
 */
final class TimerEntries<T> {
    static final int NONE = -1;
    /** The "slot" of entries that are in no slot. */
    static final int DUE = -1;

    private static final int FREE = -2;

    private static final int CHUNK_BITS = 13;
    private static final int CHUNK_MASK = (1 << CHUNK_BITS) - 1;
    private static final int CELL_BITS = 2;
    private static final int DEADLINE = 0;
    private static final int SEQUENCE = 1;
    private static final int GENERATION = 2;
    /** The slot in the upper half, the position in the slot in the lower. */
    private static final int PLACE = 3;
    /** For an entry that is due: its neighbours, stored in fields that are no longer needed. */
    private static final int BEFORE = DEADLINE;

    private static final int AFTER = SEQUENCE;

    private final int lastGeneration;

    private long[][] cells = {new long[16 << CELL_BITS]};
    private @Nullable Object[][] values = {new Object[16]};
    private int allocated = 16;
    private int issued;
    private SlotBitmap free = new SlotBitmap(64);
    private int freed;
    /** The last id that was used. */
    private int cursor;

    private int live;
    private long nextSequence;

    TimerEntries(int lastGeneration) {
        this.lastGeneration = lastGeneration;
    }

    /** Returns a number above all ids. */
    int bound() {
        return issued;
    }

    int live() {
        return live;
    }

    /** Adds an entry, which is in no slot yet. */
    int add(T value, long deadline) {
        int id;
        if (freed > 0) {
            id = free.next(cursor);
            free.clear(id);
            freed--;
        } else {
            if (issued == allocated) {
                grow();
            }
            id = issued++;
        }
        cursor = id;
        values[id >>> CHUNK_BITS][id & CHUNK_MASK] = value;
        setDeadline(id, deadline);
        live++;
        return id;
    }

    /** Removes an entry that is in no slot. */
    void remove(int id) {
        long[] chunk = cells[id >>> CHUNK_BITS];
        int cell = cell(id);
        setPlace(id, FREE, 0);
        if (chunk[cell + GENERATION] < lastGeneration) {
            chunk[cell + GENERATION]++;
            free.set(id);
            freed++;
        }
        live--;
    }

    long key(int id) {
        return cells[id >>> CHUNK_BITS][cell(id) + GENERATION] << Integer.SIZE | id;
    }

    /** Returns the id of a key, which may be any long; NONE if its entry is not live. */
    int find(long key) {
        int id = (int) key;
        return id >= 0 && id < issued && key(id) == key && isLive(id) ? id : NONE;
    }

    boolean isLive(int id) {
        return slot(id) != FREE;
    }

    long deadline(int id) {
        return cells[id >>> CHUNK_BITS][cell(id) + DEADLINE];
    }

    long sequence(int id) {
        return cells[id >>> CHUNK_BITS][cell(id) + SEQUENCE];
    }

    /** Sets the deadline, and makes the entry the last in the insertion order. */
    void setDeadline(int id, long deadline) {
        long[] chunk = cells[id >>> CHUNK_BITS];
        int cell = cell(id);
        chunk[cell + DEADLINE] = deadline;
        chunk[cell + SEQUENCE] = nextSequence++;
    }

    /** Marks an entry as due, between two others or NONE. From then on it has no deadline. */
    void setDue(int id, int before, int after) {
        long[] chunk = cells[id >>> CHUNK_BITS];
        int cell = cell(id);
        chunk[cell + BEFORE] = before;
        chunk[cell + AFTER] = after;
        chunk[cell + PLACE] = (long) DUE << Integer.SIZE;
    }

    int before(int id) {
        return (int) cells[id >>> CHUNK_BITS][cell(id) + BEFORE];
    }

    int after(int id) {
        return (int) cells[id >>> CHUNK_BITS][cell(id) + AFTER];
    }

    void setBefore(int id, int before) {
        cells[id >>> CHUNK_BITS][cell(id) + BEFORE] = before;
    }

    void setAfter(int id, int after) {
        cells[id >>> CHUNK_BITS][cell(id) + AFTER] = after;
    }

    int slot(int id) {
        return (int) (cells[id >>> CHUNK_BITS][cell(id) + PLACE] >> Integer.SIZE);
    }

    int position(int id) {
        return (int) cells[id >>> CHUNK_BITS][cell(id) + PLACE];
    }

    void setPlace(int id, int slot, int position) {
        assert position >= 0;
        cells[id >>> CHUNK_BITS][cell(id) + PLACE] = (long) slot << Integer.SIZE | position;
    }

    /** Returns the value, or null if the entry is not live. */
    @Nullable
    @SuppressWarnings("unchecked")
    T value(int id) {
        return (T) values[id >>> CHUNK_BITS][id & CHUNK_MASK];
    }

    /** Loads the memory of a value, because {@link #takeValue} will follow soon. */
    int touchValue(int id) {
        return values[id >>> CHUNK_BITS][id & CHUNK_MASK] == null ? 1 : 0;
    }

    /** Returns the value and clears it. */
    T takeValue(int id) {
        @Nullable Object[] chunk = values[id >>> CHUNK_BITS];
        @SuppressWarnings("unchecked")
        T value = (T) chunk[id & CHUNK_MASK];
        chunk[id & CHUNK_MASK] = null;
        return value;
    }

    private static int cell(int id) {
        return (id & CHUNK_MASK) << CELL_BITS;
    }

    private void grow() {
        int chunk = allocated >>> CHUNK_BITS;
        if (chunk == 0) {
            allocated *= 2;
            cells[0] = Arrays.copyOf(cells[0], allocated << CELL_BITS);
            values[0] = Arrays.copyOf(values[0], allocated);
        } else {
            if (chunk == cells.length) {
                cells = Arrays.copyOf(cells, chunk * 2);
                values = Arrays.copyOf(values, chunk * 2);
            }
            cells[chunk] = new long[1 << CHUNK_BITS << CELL_BITS];
            values[chunk] = new Object[1 << CHUNK_BITS];
            allocated += 1 << CHUNK_BITS;
        }
        free = free.atLeast(allocated);
    }
}
