package io.millrace.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A node of the tree behind a {@link WakeSet}: 64 children, or 64 pages of the level below, with one bit for each in
 * two words, the <em>even</em> and the <em>odd</em> side. The words of one side over all pages form one layered bit
 * set.
 *
 * <p>A page never moves and is never discarded, so any thread that knows a page may mark it at any time without a lock.
 *
 * <p>P1: on the active side, bits are only added, and the thread that added a bit continues with the page above, up to
 * the root. So a set bit on a page implies that the page is marked above, or that a thread is on its way there.
 */
final class Page {
    /** A page has 2^SHIFT places. */
    static final int SHIFT = 6;

    static final int PLACES = 1 << SHIFT;

    private static final VarHandle EVEN;
    private static final VarHandle ODD;
    private static final VarHandle CHILD = MethodHandles.arrayElementVarHandle(Child[].class);
    private static final VarHandle PAGE = MethodHandles.arrayElementVarHandle(Page[].class);
    private static final @Nullable Child[] NO_CHILDREN = {};
    private static final @Nullable Page[] NO_PAGES = {};

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            EVEN = lookup.findVarHandle(Page.class, "even", long.class);
            ODD = lookup.findVarHandle(Page.class, "odd", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final WakeSet set;
    final int level;
    /** The index of the first child in or below this page. */
    final int base;

    private final @Nullable Child[] children;
    private final @Nullable Page[] pages;
    private volatile @Nullable Page parent;

    @SuppressWarnings("unused") // accessed through EVEN
    private volatile long even;

    @SuppressWarnings("unused") // accessed through ODD
    private volatile long odd;

    Page(WakeSet set, int level, int base, @Nullable Page parent) {
        this.set = set;
        this.level = level;
        this.base = base;
        this.parent = parent;
        this.children = level == 0 ? new Child[PLACES] : NO_CHILDREN;
        this.pages = level == 0 ? NO_PAGES : new Page[PLACES];
    }

    /**
     * Creates a root above a root that has become too small. Its bit for the old root is set on both sides from the
     * start, because a thread may have found the old one without a parent and stopped there. A superfluous bit does no
     * harm. Called under the set's lock.
     */
    static Page above(Page root) {
        Page top = new Page(root.set, root.level + 1, 0, null);
        PAGE.setRelease(top.pages, 0, root);
        top.even = 1;
        top.odd = 1;
        root.parent = top;
        return top;
    }

    // ---- The two bit sets

    /** Sets a bit on one side, here and in every page above that does not have it. Any thread. */
    void mark(int place, int side) {
        Page page = this;
        int at = place;
        for (; ; ) {
            long bit = 1L << at;
            // A read is enough if the bit is on: no thread clears bits on the active side (P1).
            if ((page.word(side) & bit) == 0) {
                page.add(side, bit);
            }
            Page up = page.parent;
            if (up == null) {
                return;
            }
            at = up.placeOf(page.base);
            page = up;
        }
    }

    long word(int side) {
        return side == 0 ? even : odd;
    }

    private void add(int side, long bit) {
        // Volatile: publishes what the waker's caller wrote, and precedes its second read of the cycle.
        if (side == 0) {
            EVEN.getAndBitwiseOr(this, bit);
        } else {
            ODD.getAndBitwiseOr(this, bit);
        }
    }

    /** Takes all bits of one side. Called by the consumer only, and only on the inactive side. */
    long take(int side) {
        if (word(side) == 0) {
            return 0;
        }
        return side == 0 ? (long) EVEN.getAndSet(this, 0L) : (long) ODD.getAndSet(this, 0L);
    }

    // ---- The slab

    int placeOf(int index) {
        return (index >>> (SHIFT * level)) & (PLACES - 1);
    }

    /** Returns whether an index is in or below this page, if it is a root. */
    boolean covers(int index) {
        return index >>> (SHIFT * level) < PLACES;
    }

    /** Returns the child at a place, or the last one that was there. */
    @Nullable
    Child child(int place) {
        // Acquire: pairs with the release in put().
        return (Child) CHILD.getAcquire(children, place);
    }

    @Nullable
    Page page(int place) {
        // Acquire: pairs with the releases in above() and pageFor().
        return (Page) PAGE.getAcquire(pages, place);
    }

    /** Returns the page at a place of a page above level 0, creating it if necessary. Called under the set's lock. */
    Page pageFor(int place) {
        Page below = pages[place];
        if (below == null) {
            below = new Page(set, level - 1, base | (place << (SHIFT * level)), this);
            PAGE.setRelease(pages, place, below);
        }
        return below;
    }

    /** Called under the set's lock. */
    void put(int place, Child child) {
        // Release: publishes the child. Pairs with the acquire in child().
        CHILD.setRelease(children, place, child);
    }
}
