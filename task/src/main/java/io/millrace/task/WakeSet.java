package io.millrace.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Knows which children are in the set, which of them asked to be polled, and the waker to call: a slab of children and,
 * over the same pages, two bit sets, layered 64-way, one of which is <em>active</em>.
 *
 * <p>Wakers flag children on the active side. The consumer starts a cycle by swapping the sides, which is one write to
 * {@link #cycle}, and drains the other side in index order, top down: one flagged child among a million is found in
 * four steps. What is flagged meanwhile is on the new active side and waits for the next cycle.
 *
 * <p><b>Why no wake-up is lost.</b> {@link #flag} reads the cycle, sets the bits, and reads the cycle again. If it is
 * the same, the swap comes later, and the drain that follows the swap sees the bits. If it is not, the bits may have
 * come too late for the drain, so they are set again on the side that is active now. What is compared is a count and
 * not a side, because two swaps in between would look like none.
 *
 * <p><b>Why no child is polled twice in a cycle.</b> The drain takes each word once and keeps it to itself, and it
 * moves upwards only. A late flag on the drained side finds the word taken and stays behind; {@link #startCycle} clears
 * it before that side becomes active. Clearing loses nothing: the thread that set the bit has yet to read the cycle
 * again, and will see that it changed. A thread that is late once more leaves a bit without a WOKEN child, which is
 * skipped.
 *
 * <p><b>Merging.</b> A child has one WOKEN flag, not one per side. If a wake-up during a cycle comes before the child's
 * turn in this cycle, that turn answers it: the poll begins after the wake-up and sees everything.
 *
 * <p><b>The lone child.</b> The first child that is flagged since the last cycle began is kept in a field, and no bit
 * is set for it. If it remains alone, its cycle is one exchange and touches no page. Otherwise the cycle visits it at
 * its place in the order. The field is as good as a bit: only the consumer clears it, at the start of a cycle, and only
 * while it is set are others flagged by bits. So a cycle never includes a child that was flagged later than one with a
 * bit that it leaves out.
 *
 * <p><b>The parent</b> is the waker of the consumer. It is registered before the last check of the flags, and a waker
 * reads it after flagging: one of the two sees the other. It is removed when it is called, so a thousand wake-ups cost
 * one call.
 *
 * <p><b>Threads.</b> {@link #flag}, {@link #notifyParent}, {@link #free}, {@link #size}, {@link #find}: any, without a
 * lock. {@link #add}, {@link #countRemoved}, {@link #close}: any, under a lock that is held for a few instructions and
 * never while user code runs. The rest: the consumer.
 */
final class WakeSet {
    private static final int MAX_LEVELS = 6;
    private static final int MAX_SIZE = 1 << 30;

    private static final VarHandle PARENT;
    private static final VarHandle LONE;
    private static final VarHandle FREED;
    private static final VarHandle FINISHED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            PARENT = lookup.findVarHandle(WakeSet.class, "parent", Waker.class);
            LONE = lookup.findVarHandle(WakeSet.class, "lone", Child.class);
            FREED = lookup.findVarHandle(WakeSet.class, "freed", Child.class);
            FINISHED = lookup.findVarHandle(WakeSet.class, "finished", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** How many swaps there were; the lowest bit is the active side. Written by the consumer only. */
    private volatile int cycle;

    private volatile @Nullable Child lone;
    private volatile Page root = new Page(this, 0, 0, null);
    private volatile @Nullable Waker parent;

    /** Children whose places are free: pushed by any thread, taken all at once under the lock. */
    private volatile @Nullable Child freed;

    // How many came and went. The first and the last are written under the lock, the second by the consumer.
    private volatile int added;
    private volatile int finished;
    private volatile int removed;

    // Guarded by the lock.
    private boolean closed;
    private int generation;
    private int used;
    private Page newest = root;
    private @Nullable Child spare;

    // The cursor of the drain, used by the consumer: on each level a page, and those of its bits that are still to be
    // visited.
    private final @Nullable Page[] path = new Page[MAX_LEVELS];
    private final long[] left = new long[MAX_LEVELS];
    private int level;
    private int top;
    private int drained;
    /** The lone child, if it was taken but not visited yet. */
    private @Nullable Child single;
    /** The child that the drain found while checking which one precedes the lone child. */
    private @Nullable Child ahead;

    // ---- Wakers

    /** Flags a child for the next cycle. */
    @SuppressWarnings("ReferenceEquality") // compares identity on purpose
    void flag(Child child) {
        Child first = lone;
        // Volatile: like a bit, it publishes what the waker's caller wrote, and precedes the read of the parent.
        if (first == child || (first == null && LONE.compareAndSet(this, null, child))) {
            return;
        }
        mark(child.page(), child.index());
    }

    /** Flags a child by its bit on the active side. */
    void mark(Page page, int index) {
        int place = page.placeOf(index);
        int seen;
        do {
            seen = cycle;
            page.mark(place, seen & 1);
        } while (cycle != seen);
    }

    /** Calls the registered waker, if there is one, and removes it. */
    void notifyParent() {
        // This read comes after the flag; the registration comes before the consumer's check of the flags. All are
        // volatile.
        if (parent != null) {
            Waker taken = (Waker) PARENT.getAndSet(this, null);
            if (taken != null) {
                taken.wake();
            }
        }
    }

    // ---- The consumer

    /** Registers a waker to be called at the next wake-up; the latest counts. Check the flags afterwards. */
    void register(Waker waker) {
        parent = waker;
    }

    /** Replaces a waker that is still waiting to be called. */
    @SuppressWarnings("ReferenceEquality") // compares identity on purpose
    void replaceParent(Waker waker) {
        Waker seen = parent;
        if (seen != null && seen != waker) {
            parent = waker;
        }
    }

    boolean anyFlagged() {
        return lone != null || root.word(cycle & 1) != 0;
    }

    /** Begins a cycle if anything is flagged; the previous one is over. */
    boolean startCycle() {
        int seen = cycle;
        Page before = root;
        if (before.word(seen & 1) == 0) {
            single = takeLone();
            return single != null;
        }
        int next = seen + 1;
        if (before.word(next & 1) != 0) {
            sweep(before, next & 1);
        }
        // Volatile: every bit that was set before is on the side that is drained now.
        cycle = next;
        drained = seen & 1;
        single = takeLone();
        // After the swap: a root that grew before it, with flags below its new pages, must be seen.
        Page page = root;
        top = page.level;
        level = top;
        path[top] = page;
        left[top] = page.take(drained);
        return true;
    }

    private @Nullable Child takeLone() {
        return lone == null ? null : (Child) LONE.getAndSet(this, null);
    }

    private static void sweep(Page page, int side) {
        long bits = page.take(side);
        if (page.level > 0) {
            for (; bits != 0; bits &= bits - 1) {
                Page below = page.page(Long.numberOfTrailingZeros(bits));
                if (below != null) {
                    sweep(below, side);
                }
            }
        }
    }

    /**
     * Returns the next flagged child in index order, or null at the end of the cycle. Whether it was woken is in its
     * own word.
     */
    @Nullable
    @SuppressWarnings("ReferenceEquality") // compares identity on purpose
    Child next() {
        Child other = ahead;
        ahead = null;
        if (other == null) {
            other = nextMarked();
        }
        Child one = single;
        if (one == null) {
            return other;
        }
        if (other != null && other.index() < one.index()) {
            return other;
        }
        single = null;
        // A lone child that also has a bit is visited once.
        ahead = other == one ? null : other;
        return one;
    }

    private @Nullable Child nextMarked() {
        for (; ; ) {
            long bits = left[level];
            if (bits == 0) {
                if (level == top) {
                    return null;
                }
                level++;
                continue;
            }
            left[level] = bits & (bits - 1);
            Page page = path[level];
            assert page != null;
            int place = Long.numberOfTrailingZeros(bits);
            if (level == 0) {
                Child child = page.child(place);
                if (child != null) {
                    return child;
                }
            } else {
                Page below = page.page(place);
                if (below != null) {
                    level--;
                    path[level] = below;
                    left[level] = below.take(drained);
                }
            }
        }
    }

    // ---- The slab

    /**
     * Gives a child a place: one that was freed, or the next.
     *
     * @param state the initial word of the child
     * @throws IllegalStateException if the set is closed, or full
     */
    synchronized Child add(Object task, int state) {
        if (closed) {
            throw new IllegalStateException("cannot add a child: the set is closed");
        }
        Child former = spare;
        if (former == null && freed != null) {
            former = (Child) FREED.getAndSet(this, null);
        }
        Page page;
        int index;
        if (former == null) {
            index = used;
            page = pageOf(index);
            used++;
        } else {
            spare = former.next();
            former.linkTo(null);
            index = former.index();
            page = former.page();
        }
        Child child = new Child(page, index, ++generation, task, state);
        page.put(page.placeOf(index), child);
        added++;
        return child;
    }

    private Page pageOf(int index) {
        if (index >>> Page.SHIFT == newest.base >>> Page.SHIFT) {
            return newest;
        }
        if (index >= MAX_SIZE) {
            throw new IllegalStateException("cannot add a child: a set holds at most " + MAX_SIZE);
        }
        if (!root.covers(index)) {
            root = Page.above(root);
        }
        Page page = root;
        while (page.level > 0) {
            page = page.pageFor(page.placeOf(index));
        }
        newest = page;
        return page;
    }

    /** Frees a child's place, and forgets its pollable. Called by the owner of the pollable. */
    void free(Child child) {
        Child seen;
        do {
            seen = freed;
            child.linkTo(seen);
            // Volatile: publishes the link. There is no ABA problem, because the list is only taken as a whole.
        } while (!FREED.compareAndSet(this, seen, child));
    }

    /** Counts a child that finished. Consumer. */
    void countFinished() {
        // Release is enough: there is one writer, and threads that must see it are notified afterwards.
        FINISHED.setRelease(this, finished + 1);
    }

    /** Counts a child that was removed. */
    synchronized void countRemoved() {
        removed++;
    }

    /** Accepts no more children. Returns true to the first caller. */
    synchronized boolean close() {
        boolean first = !closed;
        closed = true;
        return first;
    }

    int size() {
        // Those that left are read first: the difference may be too large for a moment, but never too small.
        int gone = finished + removed;
        return added - gone;
    }

    /** Returns the child with this key, or null if it is gone. */
    @Nullable
    Child find(long key) {
        int index = (int) key;
        Page page = root;
        if (index < 0 || !page.covers(index)) {
            return null;
        }
        while (page.level > 0) {
            Page below = page.page(page.placeOf(index));
            if (below == null) {
                return null;
            }
            page = below;
        }
        Child child = page.child(page.placeOf(index));
        return child != null && child.key() == key && !child.isDone() ? child : null;
    }

    /**
     * Passes every child that is in the set to {@code action}, in index order, perhaps with some that have just left.
     */
    void forEach(Consumer<Child> action) {
        forEach(root, action);
    }

    private static void forEach(Page page, Consumer<Child> action) {
        for (int place = 0; place < Page.PLACES; place++) {
            if (page.level == 0) {
                Child child = page.child(place);
                if (child != null) {
                    action.accept(child);
                }
            } else {
                Page below = page.page(place);
                if (below != null) {
                    forEach(below, action);
                }
            }
        }
    }

    @Override
    public String toString() {
        return size() + " children, cycle " + cycle;
    }
}
