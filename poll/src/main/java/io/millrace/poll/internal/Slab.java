package io.millrace.poll.internal;

import io.millrace.sys.KernelKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Slots for the registrations of a poll. A key is {@code (generation, index)}: finding an entry is an array load, and
 * the key of an earlier entry of the slot finds nothing.
 *
 * <p><b>Threads.</b> Changes are serialized by the caller. Any thread may call {@link #get} at any time, without a
 * lock.
 *
 * <p><b>Why a reader is never wrong.</b> An entry holds its own key; a slot only refers to an entry. {@link #get}
 * returns an entry only if the key that it holds at that moment is the one asked for. S1: a key is used once, because a
 * slot's generation grows with every insert. S2: {@link #remove} clears the key of the entry before the slot is given
 * to another. So there is no removal between two equal keys seen by a reader, no matter which array it reads. A slot is
 * reused at once, not only after the batch; the generation protects the batch. It wraps around after 2³² inserts into
 * one slot.
 *
 * @param <E> the type of the entries
 */
public final class Slab<E extends Slab.Entry> {
    /** An entry of a slab, which knows its key. */
    public abstract static class Entry {
        /** Never a key, because its op is not that of a source. */
        static final long NO_KEY = -1;

        private volatile long key = NO_KEY;

        /** For subclasses. */
        protected Entry() {}

        /**
         * Returns the key under which the entry is found now.
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
    /** Freed indices, last in, first out: a slot that is still in the cache is reused first. */
    private int[] free = new int[16];

    private int freeCount;
    private int used;

    /** Creates an empty slab. */
    public Slab() {}

    /**
     * Gives the entry a slot and a key. Serialized by the caller.
     *
     * @param entry an entry that is in no slab
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
     * Removes the entry; its key finds nothing from now on. Serialized by the caller.
     *
     * @param entry an entry of this slab
     */
    @SuppressWarnings("ReferenceEquality") // compares identity on purpose
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
     * Returns the entry that has this key now.
     *
     * @param key any key, even an old one
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
     * Returns how many entries there are. Serialized by the caller.
     *
     * @return the number of entries
     */
    public int size() {
        return used - freeCount;
    }

    /**
     * Returns the highest index used so far, plus one. Serialized by the caller; for iterating over all entries with
     * {@link #at}.
     *
     * @return the bound
     */
    public int bound() {
        return used;
    }

    /**
     * Returns the entry in a slot.
     *
     * @param index below {@link #bound}
     * @return the entry, or null
     */
    @SuppressWarnings("unchecked")
    public @Nullable E at(int index) {
        return (E) slots[index];
    }
}
