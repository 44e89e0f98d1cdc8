package io.millrace.poll;

import io.millrace.sys.Bits;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A software source: one atomic word, and a link for the {@link ReadinessQueue}.
 *
 * <p>The word holds the readiness bits, the bits whose readiness is delayed, whether the node is QUEUED, in the poll's wheel, and CLOSED.
 * Every operation on it is one atomic read-modify-write, and that is its linearization point (mio-13): the final state of
 * concurrent sets and unsets is what some order of them gives.
 *
 * <p><b>Queued at most once.</b> Whoever turns QUEUED on pushes the node; while it is on, nobody else does. The consumer turns
 * it off <em>before</em> it reads terms and readiness, so a set or reregister that comes later finds it off and pushes again,
 * and one that came earlier is seen. Nothing is lost in between; the price is that an event may be spurious.
 *
 * <p><b>When a set is seen.</b> Readiness is set by the write; the poll looks at the node when it is pushed. A set that finds QUEUED on relies on
 * the push of whoever turned it on, and returns, although that other thread may not have pushed yet. So a set is seen by every poll that
 * begins after all sets that overlapped with it have returned, and by every poll that waits: the push, when it comes, wakes it. What can happen is that a
 * poll <em>with timeout zero</em> that begins in between, on the thread of the second set itself, returns without the event; the next one has
 * it. To close that gap, the second thread would have to wait for the first, or to push a node that may be in the queue already.
 *
 * <p><b>Why a set never skips its write.</b> A set that finds its bits and QUEUED on already would change nothing. It must
 * still write: the caller's own data, stored before the set, is published to the poll thread by this write, and on x86 a plain
 * load could be done before that store is visible. The poll thread would then report an event whose data it can't see.
 *
 * <p><b>Before it is attached</b> there is no queue: a set records its bits and looks for the queue once more; attaching
 * publishes the queue and looks at the bits once more. One of the two sees the other (mio-21).
 */
final class SoftNode extends Node {
    private static final int DELAYED_SHIFT = 6;
    static final int DELAYED = Bits.ALL << DELAYED_SHIFT;
    static final int QUEUED = 1 << 12;
    static final int CLOSED = 1 << 13;
    /** The poll's wheel holds the node. */
    static final int WHEELED = 1 << 14;

    private static final VarHandle WORD;
    private static final VarHandle QUEUE;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            WORD = lookup.findVarHandle(SoftNode.class, "word", int.class);
            QUEUE = lookup.findVarHandle(SoftNode.class, "queue", ReadinessQueue.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile int word;
    private volatile @Nullable ReadinessQueue queue;

    /** The link in the queue. Written by the pusher before it publishes the node, then owned by the consumer. */
    @Nullable
    SoftNode next;

    /** The terms under which a one-shot was reported last. Poll thread only. */
    @Nullable
    RegistrationTerms spent;

    /** When each delayed bit is due; made at the first delay. Guarded by this node's monitor. */
    private long @Nullable [] dueAt;

    /** The timer that this node stands for, if any: the poll asks it for its next deadline. */
    final @Nullable Timer<?> timer;

    /** The wheel's key of the node's delay, or −1. Poll thread only. */
    long wheelKey = -1;

    /** The file that this node stands for, if the kernel will not watch it because it is always ready (tip-6). */
    final @Nullable OsNode file;

    SoftNode() {
        this(null, null);
    }

    SoftNode(@Nullable Timer<?> timer, @Nullable OsNode file) {
        this.timer = timer;
        this.file = file;
    }

    /** Adds readiness and makes sure that the poll looks at the node. Cancels a delay of the same bits. */
    void set(int bits) {
        ReadinessQueue seen = queue;
        int queued = seen == null ? 0 : QUEUED;
        for (; ; ) {
            int before = word;
            if ((before & CLOSED) != 0) {
                return;
            }
            int after = (before | bits | queued) & ~(bits << DELAYED_SHIFT);
            if (WORD.compareAndSet(this, before, after)) {
                if (seen == null) {
                    enqueue();
                } else if ((before & QUEUED) == 0) {
                    seen.push(this);
                }
                return;
            }
        }
    }

    /** Takes readiness away. A queued node stays queued; the poll finds nothing to report. */
    void unset(int bits) {
        WORD.getAndBitwiseAnd(this, ~bits);
    }

    /** Makes the readiness exactly {@code bits} in one step; cancels every delay. */
    void replace(int bits) {
        for (; ; ) {
            int before = word;
            if ((before & CLOSED) != 0) {
                return;
            }
            if (WORD.compareAndSet(this, before, (before & ~(Bits.ALL | DELAYED)) | bits)) {
                if (bits != 0) {
                    enqueue();
                }
                return;
            }
        }
    }

    /** Has the poll look at the node, whatever its readiness; for a change of terms, of a timer, or of a delay. */
    void enqueue() {
        ReadinessQueue seen = queue;
        if (seen != null && markQueued()) {
            seen.push(this);
        }
    }

    /** Turns QUEUED on; true if the caller did it and therefore must put the node into the queue. */
    boolean markQueued() {
        for (; ; ) {
            int before = word;
            if ((before & (QUEUED | CLOSED)) != 0) {
                return false;
            }
            if (WORD.compareAndSet(this, before, before | QUEUED)) {
                return true;
            }
        }
    }

    /** Turns QUEUED off and answers the word at that moment. Poll thread only, after it took the node out of the queue. */
    int takeQueued() {
        return (int) WORD.getAndBitwiseAnd(this, ~QUEUED);
    }

    /** Bound to one poll's queue for life (mio-14); of two polls that try at once, one wins. */
    boolean bind(ReadinessQueue to) {
        return QUEUE.compareAndSet(this, null, to) || queue == to;
    }

    boolean isClosed() {
        return isClosed(word);
    }

    static boolean isClosed(int word) {
        return (word & CLOSED) != 0;
    }

    int readiness() {
        return word & Bits.ALL;
    }

    /** Silent from now on; true for the first caller. */
    boolean close() {
        return ((int) WORD.getAndBitwiseOr(this, CLOSED) & CLOSED) == 0;
    }

    // ---- Delays. Each bit has one of its own: the earlier of two wins, an immediate set cancels it (it clears the
    // bit's
    // DELAYED flag). The due times are written under the monitor before the flag is turned on, and mean something only
    // while
    // it is on.

    /** Makes {@code bits} ready at {@code dueNanos}. */
    synchronized void delay(int bits, long dueNanos) {
        long[] due = dueAt;
        if (due == null) {
            due = new long[Integer.SIZE - Integer.numberOfLeadingZeros(Bits.ALL)];
            dueAt = due;
        }
        for (; ; ) {
            int before = word;
            if ((before & CLOSED) != 0) {
                return;
            }
            for (int rest = bits; rest != 0; rest &= rest - 1) {
                int bit = Integer.numberOfTrailingZeros(rest);
                boolean pending = (before & 1 << (bit + DELAYED_SHIFT)) != 0;
                if (!pending || dueNanos - due[bit] < 0) {
                    due[bit] = dueNanos;
                }
            }
            if (WORD.compareAndSet(this, before, before | bits << DELAYED_SHIFT)) {
                break;
            }
        }
        enqueue();
    }

    /** Forgets every delay, and has the poll take the node out of its wheel: by the delay alone it would be kept until that is over (end-7). */
    void cancelDelays() {
        for (; ; ) {
            int before = word;
            boolean push = (before & (WHEELED | QUEUED)) == WHEELED && queue != null;
            if (WORD.compareAndSet(this, before, (before & ~DELAYED) | (push ? QUEUED : 0))) {
                if (push) {
                    Objects.requireNonNull(queue).push(this);
                }
                return;
            }
        }
    }

    /**
     * The poll has put the node into its wheel. Of this and a {@link #cancelDelays} one comes second: either it sees that nothing is delayed any
     * more, or that one sees the node in the wheel.
     *
     * @return false if nothing is delayed any more; the poll takes it out again then
     */
    boolean markWheeled() {
        for (; ; ) {
            int before = word;
            if ((before & DELAYED) == 0 || (before & CLOSED) != 0) {
                return false;
            }
            if (WORD.compareAndSet(this, before, before | WHEELED)) {
                return true;
            }
        }
    }

    /** The poll has taken the node out of its wheel. */
    void clearWheeled() {
        WORD.getAndBitwiseAnd(this, ~WHEELED);
    }

    static boolean hasDelay(int word) {
        return (word & DELAYED) != 0;
    }

    /**
     * Makes ready what is due, and answers the time until the next delay of this node is.
     *
     * @param enqueue whether the poll has yet to look at the node, or is doing so
     * @return nanoseconds from {@code now}, or negative if nothing is delayed any more
     */
    synchronized long fireDue(long now, boolean enqueue) {
        long[] due = dueAt;
        if (due == null) {
            return -1;
        }
        int fire = 0;
        long soonest = -1;
        for (int rest = (word & DELAYED) >>> DELAYED_SHIFT; rest != 0; rest &= rest - 1) {
            int bit = Integer.numberOfTrailingZeros(rest);
            long left = due[bit] - now;
            if (left <= 0) {
                fire |= 1 << bit;
            } else if (soonest < 0 || left < soonest) {
                soonest = left;
            }
        }
        if (fire(fire) && enqueue) {
            enqueue();
        }
        return soonest;
    }

    /** Like {@link #set}, but only for bits that are still delayed: an immediate set or a deregister came first otherwise. */
    private boolean fire(int bits) {
        for (; ; ) {
            int before = word;
            int still = bits & (before & DELAYED) >>> DELAYED_SHIFT;
            if (still == 0 || (before & CLOSED) != 0) {
                return false;
            }
            if (WORD.compareAndSet(this, before, (before | still) & ~(still << DELAYED_SHIFT))) {
                return true;
            }
        }
    }

    @Override
    public String toString() {
        int seen = word;
        return (timer != null ? "timer" : file != null ? file.handle.toString() : "registration") + ", ready "
                + Readiness.names(seen & Bits.ALL)
                + ((seen & QUEUED) != 0 ? ", queued" : "") + ((seen & CLOSED) != 0 ? ", closed" : "")
                + (terms == null ? ", not registered" : ", " + terms);
    }
}
