package io.millrace.poll.internal;

import io.millrace.sys.KernelKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Slots for the registrations of a poll. A key is {@code (generation, index)}: finding an entry is an array load, and a key
 * of a former owner of the slot finds nothing.
 *
 * <p><b>Threads.</b> Mutators are serialised by the caller. Any thread may {@link #get} at any time, without a lock.
 *
 * <p><b>Why a reader is never wrong.</b> An entry carries its own key; a slot only points at an entry. {@link #get} answers an
 * entry only if the key that it carries at that moment is the one asked for. S1: a key is handed out once, because a
 * slot's generation rises with every insert. S2: {@link #remove} takes the key from the entry before the slot is given to
 * another. So between two equal keys seen by a reader lies no removal, whatever array it reads. A slot is reused at once, not
 * only after the batch: the generation is what protects a batch. It wraps after 2³² inserts into one slot.
 *
 * @param <E> the entries
 */
public final class Slab<E extends Slab.Entry> {
    /** What a slab holds; it knows its key. */
    public abstract static class Entry {
        /** Never a key: its op is not that of a source. */
        static final long NO_KEY = -1;

        private volatile long key = NO_KEY;

        /** For subclasses. */
        protected Entry() {}

        /**
         * The key under which the entry is found now.
         *
         * @return the key, or −1 if it is in no slab
         */
        public final long key() {
            return key;
        }
    }

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Entry[].class);

    private volatile @Nullable Entry[] slots = new Entry[16];
    private int[] generations = new int[16];
    /** Freed indices, last in first out: a warm slot is reused first. */
    private int[] free = new int[16];

    private int freeCount;
    private int used;

    /** An empty slab. */
    public Slab() {}

    /**
     * Gives the entry a slot and a key. Serialised by the caller.
     *
     * @param entry in no slab yet
     * @return its key
     */
    public long insert(E entry) {
        assert entry.key() == Entry.NO_KEY : "already in a slab";
        int index;
        if (freeCount > 0) {
            index = free[--freeCount];
        } else {
            if (used > KernelKey.MAX_INDEX) {
                throw new IllegalStateException("a poll holds at most " + (KernelKey.MAX_INDEX + 1) + " registrations");
            }
            index = used++;
            if (index == slots.length) {
                slots = Arrays.copyOf(slots, index * 2);
                generations = Arrays.copyOf(generations, index * 2);
            }
        }
        long key = KernelKey.of(++generations[index], index);
        ((Entry) entry).key = key;
        // Release: publishes the key written above. Pairs with the acquire in get().
        SLOT.setRelease(slots, index, entry);
        return key;
    }

    /**
     * Takes the entry out; its key finds nothing from now on. Serialised by the caller.
     *
     * @param entry in this slab
     */
    @SuppressWarnings("ReferenceEquality") // identity is what is meant
    public void remove(E entry) {
        long key = entry.key();
        int index = KernelKey.index(key);
        assert slots[index] == entry : "not in this slab";
        // S2: volatile, and before the slot can be given away.
        ((Entry) entry).key = Entry.NO_KEY;
        SLOT.setRelease(slots, index, null);
        if (freeCount == free.length) {
            free = Arrays.copyOf(free, freeCount * 2);
        }
        free[freeCount++] = index;
    }

    /**
     * The entry that has this key now.
     *
     * @param key any key, also one that is long gone
     * @return the entry, or null
     */
    @SuppressWarnings("unchecked")
    public @Nullable E get(long key) {
        @Nullable Entry[] seen = slots;
        int index = KernelKey.index(key);
        if (index >= seen.length) {
            return null;
        }
        // Acquire: see insert().
        Entry entry = (Entry) SLOT.getAcquire(seen, index);
        return entry != null && entry.key == key ? (E) entry : null;
    }

    /**
     * How many entries there are. Serialised by the caller.
     *
     * @return the number of live entries
     */
    public int size() {
        return used - freeCount;
    }

    /**
     * The highest index in use so far, plus one. Serialised by the caller; for walking all entries with {@link #at}.
     *
     * @return the bound
     */
    public int bound() {
        return used;
    }

    /**
     * The entry in a slot.
     *
     * @param index below {@link #bound}
     * @return the entry, or null
     */
    @SuppressWarnings("unchecked")
    public @Nullable E at(int index) {
        return (E) slots[index];
    }
}
