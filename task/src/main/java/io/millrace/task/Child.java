package io.millrace.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A child's place in a set, and its waker.
 *
 * <p><b>Generations.</b> A waker is made for one child and never for another, and a bit of the {@link WakeSet} only says <em>where</em> to
 * look. Whether the child who lives there was woken is in its own word. So a waker that is late by any amount, even one that was
 * interrupted between its two steps while its place went to somebody else, leaves at most a bit: the new owner's word is
 * off, and the new owner is not polled (uni-8).
 *
 * <p><b>The word.</b> WOKEN: a poll is asked for. POLLING: the consumer is in the child's poll. DONE: finished or removed; never turned
 * off. Every change is one atomic read-modify-write, so one of a poll and a remove comes first: a child is never polled after it was
 * done, and its cancel never runs beside its poll.
 *
 * <p><b>Why a wake never skips its write</b> although WOKEN may be on: the read-modify-writes on this word have one order. A wake that comes
 * before the consumer turns WOKEN off is seen by that poll with all that was written before it; one that comes after finds WOKEN
 * off and turns it on again. A mere look could be done before the caller's own writes are visible.
 *
 * <p>32 bytes on a 64-bit JVM with compressed references; with its place in a {@link Page}, 37 bytes.
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
     * The pollable. Owned by the consumer while POLLING, then by whoever turned DONE on; after that the next in the list of those
     * whose place is free.
     */
    private @Nullable Object task;

    Child(Page page, int index, int generation, Object task, int state) {
        this.page = page;
        this.index = index;
        this.generation = generation;
        this.task = task;
        STATE.set(this, state); // published with the child
    }

    @Override
    public void wake() {
        if (ask()) {
            page.set.notifyParent();
        }
    }

    /** Asks for a poll in the next cycle, without telling the parent; false if it is done. */
    boolean ask() {
        int before = (int) STATE.getAndBitwiseOr(this, WOKEN);
        if ((before & DONE) != 0) {
            return false;
        }
        // Also if WOKEN was on: whoever turned it on may not have got any further yet.
        page.set.flag(this);
        return true;
    }

    /** The consumer, at this child's bit: true if it was woken and is to be polled now. */
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

    /** The consumer, after a poll that did not finish the child; false if it was removed meanwhile. */
    boolean pause() {
        return ((int) STATE.getAndBitwiseAnd(this, ~POLLING) & DONE) == 0;
    }

    /** The consumer, after a poll that had a value and may have another: asks for the next cycle; false if it was removed meanwhile. */
    boolean again() {
        for (; ; ) {
            int before = state;
            // One step: between two, a remove would take the child for its own, and so would the consumer.
            if (STATE.compareAndSet(this, before, (before & ~POLLING) | WOKEN)) {
                if ((before & DONE) != 0) {
                    return false;
                }
                page.set.flag(this);
                return true;
            }
        }
    }

    /** Ends the child; the word before. Whoever finds DONE off there has ended it. */
    int finish() {
        return (int) STATE.getAndBitwiseOr(this, DONE);
    }

    /** The pollable, for its owner. */
    Object task() {
        return Objects.requireNonNull(task, "polled after it was done");
    }

    /** The next child whose place is free, for the list that this one is in. */
    void linkTo(@Nullable Child next) {
        task = next;
    }

    /** And back: whoever took the list. */
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
