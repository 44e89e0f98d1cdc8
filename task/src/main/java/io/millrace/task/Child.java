package io.millrace.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A child of a set: its place, and its waker.
 *
 * <p><b>Generations.</b> A waker is created for one child and never used for another, and a bit of the {@link WakeSet}
 * only says <em>where</em> to look. Whether the child at that place was woken is in its own word. So a waker that is
 * late by any amount, even one that was suspended between its two steps while its place was given to another child,
 * leaves at most a bit: the new child's word is off, so the new child is not polled (uni-8).
 *
 * <p><b>The word.</b> WOKEN: a poll was asked for. POLLING: the consumer is in the child's poll. DONE: finished or
 * removed; never cleared. Every change is one atomic read-modify-write, so either a poll or a remove comes first: a
 * child is never polled after it was done, and its cancel never runs during its poll.
 *
 * <p><b>Why a wake never skips its write</b>, even if WOKEN is on: the read-modify-writes of this word have one order.
 * A wake that comes before the consumer clears WOKEN is seen by that poll, with everything that was written before it;
 * one that comes after finds WOKEN off and sets it again. A plain read could be executed before the caller's own writes
 * are visible.
 *
 * <p>32 bytes on a 64-bit JVM with compressed references; 37 bytes with its place in a {@link Page}.
 */
final class Child implements Waker {
    static final int WOKEN = 1;
    static final int POLLING = 2;
    static final int DONE = 4;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Child.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Page page;
    private final int index;
    private final int generation;

    private volatile int state;

    /**
     * The pollable. Owned by the consumer while POLLING, then by the thread that set DONE. After that, the next child
     * in the list of free places.
     */
    private @Nullable Object task;

    Child(Page page, int index, int generation, Object task, int state) {
        this.page = page;
        this.index = index;
        this.generation = generation;
        this.task = task;
        STATE.set(this, state); // published together with the child
    }

    @Override
    public void wake() {
        if (ask()) {
            page.set.notifyParent();
        }
    }

    /** Asks for a poll in the next cycle, without calling the parent's waker. Returns false if the child is done. */
    boolean ask() {
        int before = (int) STATE.getAndBitwiseOr(this, WOKEN);
        if ((before & DONE) != 0) {
            return false;
        }
        // Even if WOKEN was on: the thread that set it may not have got any further yet.
        page.set.flag(this);
        return true;
    }

    /** Called by the consumer at this child's bit. Returns true if it was woken and is to be polled now. */
    boolean begin() {
        for (; ; ) {
            int before = state;
            if ((before & (WOKEN | DONE)) != WOKEN) {
                return false;
            }
            if (STATE.compareAndSet(this, before, (before & ~WOKEN) | POLLING)) {
                return true;
            }
        }
    }

    /** Called by the consumer after a poll that did not finish the child. Returns false if it was removed meanwhile. */
    boolean pause() {
        return ((int) STATE.getAndBitwiseAnd(this, ~POLLING) & DONE) == 0;
    }

    /**
     * Called by the consumer after a poll that had a value and may have another: asks for the next cycle. Returns false
     * if it was removed meanwhile.
     */
    boolean again() {
        for (; ; ) {
            int before = state;
            // In one step: between two, both a remove and the consumer would take the child for their own.
            if (STATE.compareAndSet(this, before, (before & ~POLLING) | WOKEN)) {
                if ((before & DONE) != 0) {
                    return false;
                }
                page.set.flag(this);
                return true;
            }
        }
    }

    /** Ends the child and returns the previous word. If DONE was off there, this call has ended it. */
    int finish() {
        return (int) STATE.getAndBitwiseOr(this, DONE);
    }

    /** Returns the pollable, for its owner. */
    Object task() {
        return Objects.requireNonNull(task, "polled after it was done");
    }

    /** Sets the next child in the list of free places. */
    void linkTo(@Nullable Child next) {
        task = next;
    }

    /** Returns the next child in the list of free places, for the thread that took the list. */
    @Nullable
    Child next() {
        return (Child) task;
    }

    Page page() {
        return page;
    }

    int index() {
        return index;
    }

    boolean isDone() {
        return (state & DONE) != 0;
    }

    /** {@code generation:32 | index:32}. */
    long key() {
        return (long) generation << Integer.SIZE | index;
    }

    @Override
    public String toString() {
        int seen = state;
        return "waker of child " + index + ", generation " + generation
                + ((seen & WOKEN) != 0 ? ", woken" : "")
                + ((seen & POLLING) != 0 ? ", being polled" : "")
                + ((seen & DONE) != 0 ? ", done" : "");
    }
}
