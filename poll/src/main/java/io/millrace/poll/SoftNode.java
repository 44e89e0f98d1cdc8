package io.millrace.poll;

import io.millrace.sys.Bits;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A software source: one atomic word, and a link for the {@link ReadinessQueue}.
 *
 * <p>The word holds the readiness bits, the bits whose readiness is delayed, and whether the node is QUEUED, in the
 * poll's wheel, or CLOSED. Every operation is one atomic read-modify-write, which is its linearization point (mio-13):
 * the final state of concurrent sets and unsets is the result of some order of them.
 *
 * <p><b>Queued at most once.</b> The thread that turns QUEUED on pushes the node; while it is on, no other thread does.
 * The consumer turns it off <em>before</em> it reads terms and readiness. So a set or reregister that comes later finds
 * it off and pushes again, and one that came earlier is seen. Nothing is lost in between; the price is that an event
 * may be spurious.
 *
 * <p><b>When a set is seen.</b> The write sets the readiness; the poll looks at the node once it is pushed. A set that
 * finds QUEUED on relies on the push of the thread that turned it on, and returns, although that thread may not have
 * pushed yet. So a set is seen by every poll that begins after all overlapping sets have returned, and by every poll
 * that waits, because the push wakes it. A poll <em>with timeout zero</em> that begins in between, on the thread of the
 * second set, may return without the event; the next poll has it. To close that gap, the second thread would have to
 * wait for the first, or push a node that may already be in the queue.
 *
 * <p><b>Why a set never skips its write.</b> A set that finds its bits and QUEUED already on would change nothing. It
 * must write nevertheless: this write publishes the caller's own data, stored before the set, to the polling thread. On
 * x86, a plain load could be executed before that store is visible, and the polling thread would report an event whose
 * data it cannot see.
 *
 * <p><b>Before it is attached</b> there is no queue. A set records its bits and then looks for the queue once more;
 * attaching publishes the queue and then looks at the bits once more. One of the two sees the other (mio-21).
 */
final class SoftNode extends Node {
    private static final int DELAYED_SHIFT = 6;
    static final int DELAYED = Bits.ALL << DELAYED_SHIFT;
    static final int QUEUED = 1 << 12;
    static final int CLOSED = 1 << 13;
    /** Whether the poll's wheel holds the node. */
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

    /**
     * The link in the queue. Written by the thread that pushes, before it publishes the node; then owned by the
     * consumer.
     */
    @Nullable
    SoftNode next;

    /** The terms under which a one-shot was last reported. Used on the polling thread only. */
    @Nullable
    RegistrationTerms spent;

    /** When each delayed bit is due; created by the first delay. Guarded by this node's monitor. */
    private long @Nullable [] dueAt;

    /** The timer to which this node belongs, if any; the poll asks it for its next deadline. */
    final @Nullable Timer<?> timer;

    /** The key of the node's delay in the wheel, or −1. Used on the polling thread only. */
    long wheelKey = -1;

    /**
     * The file to which this node belongs, if the kernel does not watch the file because it is always ready (tip-6).
     */
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

    /** Removes readiness. A queued node stays queued; the poll finds nothing to report. */
    void unset(int bits) {
        WORD.getAndBitwiseAnd(this, ~bits);
    }

    /** Replaces the readiness in one step; cancels every delay. */
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

    /** Makes the poll look at the node regardless of its readiness: because of changed terms, a timer, or a delay. */
    void enqueue() {
        ReadinessQueue seen = queue;
        if (seen != null && markQueued()) {
            seen.push(this);
        }
    }

    /** Turns QUEUED on. If this returns true, the caller must put the node into the queue. */
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

    /**
     * Turns QUEUED off and returns the word at that moment. Called by the polling thread after it took the node out of
     * the queue.
     */
    int takeQueued() {
        return (int) WORD.getAndBitwiseAnd(this, ~QUEUED);
    }

    /** Binds the node to one poll's queue for life (mio-14); if two polls try at once, one wins. */
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

    /** Makes the node silent for good. Returns true to the first caller. */
    boolean close() {
        return ((int) WORD.getAndBitwiseOr(this, CLOSED) & CLOSED) == 0;
    }

    // ---- Delays. Each bit has its own: the earlier of two wins, and an immediate set cancels it by clearing the bit's
    // DELAYED flag. The due times are written under the monitor before the flag is set, and are meaningful only while
    // it is set.

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

    /**
     * Cancels every delay and makes the poll take the node out of its wheel, which would otherwise keep it until the
     * delay is over (end-7).
     */
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
     * Records that the poll has put the node into its wheel. Either this or a concurrent {@link #cancelDelays} comes
     * second: then this sees that nothing is delayed any more, or the other sees the node in the wheel.
     *
     * @return false if nothing is delayed any more; then the poll takes it out again
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

    /** Records that the poll has taken the node out of its wheel. */
    void clearWheeled() {
        WORD.getAndBitwiseAnd(this, ~WHEELED);
    }

    static boolean hasDelay(int word) {
        return (word & DELAYED) != 0;
    }

    /**
     * Makes ready what is due, and returns the time until the next delay of this node.
     *
     * @param enqueue whether the poll has yet to look at the node, or is doing so now
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

    /**
     * Like {@link #set}, but only for bits that are still delayed: otherwise an immediate set or a deregister came
     * first.
     */
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

    /** What it is, for reports. */
    String kind() {
        return timer != null ? "timer" : file != null ? file.handle.toString() : "registration";
    }

    @Override
    public String toString() {
        int seen = word;
        return kind() + ", ready "
                + Readiness.names(seen & Bits.ALL)
                + ((seen & QUEUED) != 0 ? ", queued" : "") + ((seen & CLOSED) != 0 ? ", closed" : "")
                + (terms == null ? ", not registered" : ", " + terms);
    }
}
