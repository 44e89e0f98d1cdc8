package io.millrace.poll;

import io.millrace.sys.Bits;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Makes a channel's readiness follow its queue. A counter beside the queue makes sure that only the first message of a
 * burst touches the registration.
 *
 * <p>A sender puts its message into the queue and then calls {@link #countSent}; the receiver takes a message out and
 * then calls {@link #countReceived}, or finds none and calls {@link #settleEmpty}. The counter is sends minus receives,
 * each counted slightly late; it may be below zero for a moment, when a message is received before its sender has
 * counted it.
 *
 * <p><b>No message is overlooked.</b> C1: when {@code countSent} returns and its message is still in the queue, the
 * channel is readable, or a call in progress will make it so. A sender that finds the counter above zero relies on an
 * earlier message that has not been counted as received. The receiver that takes that message either sees a counter
 * above one and leaves the readiness on, or turns it off <em>before</em> it decrements the counter. In that case, the
 * value that it decrements includes every sender that counted in between: if it was more than one, the receiver turns
 * the readiness on again. (The RFC's text compares with zero here; but the old value includes the receiver's own
 * message, so that would leave an empty channel readable, mio-21.)
 *
 * <p><b>An empty channel does not stay readable.</b> C2: readiness that such a race leaves on ends with the first
 * receive that finds nothing: it is turned off, and turned on again only if the queue is not empty after all.
 */
final class PendingCount {
    private static final VarHandle COUNT;

    static {
        try {
            COUNT = MethodHandles.lookup().findVarHandle(PendingCount.class, "count", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final SoftNode node;
    private volatile int count;
    private volatile boolean ended;

    PendingCount(SoftNode node) {
        this.node = node;
    }

    /** Called by a sender after its message is in the queue. */
    void countSent() {
        int before = (int) COUNT.getAndAdd(this, 1);
        if (before <= 0) {
            node.set(Bits.READABLE);
        }
    }

    /** Called by the receiver after it took a message. */
    void countReceived() {
        boolean last = count <= 1;
        if (last) {
            node.unset(Bits.READABLE);
        }
        int before = (int) COUNT.getAndAdd(this, -1);
        if (last && (before > 1 || ended)) {
            node.set(Bits.READABLE);
        }
    }

    /** Called by the receiver after it found the queue empty. */
    void settleEmpty(java.util.Queue<?> queue) {
        if ((node.readiness() & Bits.READABLE) == 0 || ended) {
            return;
        }
        node.unset(Bits.READABLE);
        if (ended || !queue.isEmpty()) {
            node.set(Bits.READABLE);
        }
    }

    /** There will be no more messages: readable for ever, so that the receiver notices. */
    void end() {
        ended = true;
        node.set(Bits.READABLE);
    }

    boolean isEnded() {
        return ended;
    }

    int count() {
        return count;
    }
}
