package io.millrace.poll;

import io.millrace.sys.Bits;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How a channel's readiness follows its queue: a counter beside the queue, so that only the first message of a burst touches
 * the registration.
 *
 * <p>A sender puts its message into the queue and then calls {@link #sent}; the receiver takes a message out and then calls {@link
 * #received}, or finds none and calls {@link #foundNothing}. The counter is sends minus receives, each counted a little after the fact;
 * it may be below zero for a moment, when a message is received before its sender has counted it.
 *
 * <p><b>No message is overlooked.</b> C1: when {@code sent} returns and its message is still in the queue, the channel is readable,
 * or a call under way will make it so. A sender that finds the counter above zero relies on an earlier message which nobody has
 * counted as received; the receiver that takes that one either sees a counter above one and leaves the readiness on, or it turned the
 * readiness off <em>before</em> it lowers the counter and the value that it lowers tells it of everybody who counted in between:
 * if that was more than one, it turns the readiness on again. (The RFC's text compares with zero here; the old value includes the
 * receiver's own message, so that would leave an empty channel readable, mio-21.)
 *
 * <p><b>An empty channel does not stay readable.</b> C2: readiness that is left on by such a race ends with the first look that finds
 * nothing: it is turned off, and on again only if the queue is not empty after all.
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

    /** A sender, after its message is in the queue. */
    void sent() {
        int before = (int) COUNT.getAndAdd(this, 1);
        if (before <= 0) {
            node.set(Bits.READABLE);
        }
    }

    /** The receiver, after it took a message. */
    void received() {
        boolean last = count <= 1;
        if (last) {
            node.unset(Bits.READABLE);
        }
        int before = (int) COUNT.getAndAdd(this, -1);
        if (last && (before > 1 || ended)) {
            node.set(Bits.READABLE);
        }
    }

    /** The receiver, after it found the queue empty: true if it should look again some time. */
    void foundNothing(java.util.Queue<?> queue) {
        if ((node.readiness() & Bits.READABLE) == 0 || ended) {
            return;
        }
        node.unset(Bits.READABLE);
        if (ended || !queue.isEmpty()) {
            node.set(Bits.READABLE);
        }
    }

    /** There will be no more messages: readable for ever, so that the receiver learns of it. */
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
