package io.millrace.poll;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Software nodes that the poll has to look at: a lock-free, intrusive queue with many producers and one consumer.
 *
 * <p>Producers push onto a shared stack. The consumer takes the whole stack with one exchange, reverses it, and appends
 * it to its own list. So nodes come out in the order in which they were pushed, and a taken stack is a snapshot: a
 * producer that never stops cannot keep the consumer busy. There is no ABA problem, because nodes are never popped
 * individually. Nodes are linked through {@link SoftNode#next}; nothing is allocated. A node is in the queue at most
 * once: see {@link SoftNode#markQueued}.
 */
final class ReadinessQueue {
    private static final VarHandle HEAD;

    static {
        try {
            HEAD = MethodHandles.lookup().findVarHandle(ReadinessQueue.class, "head", SoftNode.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Called after each push, to wake a sleeping poll. */
    private final Runnable onPush;

    private volatile @Nullable SoftNode head;
    private volatile boolean closed;

    // The consumer's own list, first in, first out.
    private @Nullable SoftNode first;
    private @Nullable SoftNode last;

    ReadinessQueue(Runnable onPush) {
        this.onPush = onPush;
    }

    /** Pushes a node whose QUEUED the caller has just turned on. Any thread. */
    void push(SoftNode node) {
        while (!closed) {
            SoftNode seen = head;
            node.next = seen;
            // Volatile: publishes the link, and orders the push before the check of the sleeper in onPush.
            if (HEAD.compareAndSet(this, seen, node)) {
                onPush.run();
                return;
            }
        }
    }

    /** Drops all nodes; what is pushed later, or at this moment, is ignored. Consumer. */
    void close() {
        closed = true;
        head = null;
        first = null;
        last = null;
    }

    /** Returns whether a node was pushed since the last {@link #takeSnapshot}; for the last check before sleeping. */
    boolean hasPushed() {
        return head != null;
    }

    /** Appends what was pushed so far to the consumer's list. Consumer. */
    void takeSnapshot() {
        if (head == null) {
            return;
        }
        SoftNode newest = (SoftNode) HEAD.getAndSet(this, null);
        SoftNode oldest = null;
        for (SoftNode node = newest; node != null; ) {
            SoftNode older = node.next;
            node.next = oldest;
            oldest = node;
            node = older;
        }
        if (last == null) {
            first = oldest;
        } else {
            last.next = oldest;
        }
        last = newest;
    }

    /** Returns whether the consumer's list is empty. Consumer. */
    boolean isDrained() {
        return first == null;
    }

    /** Returns the next node of the consumer's list without taking it. Consumer. */
    @Nullable
    SoftNode peek() {
        return first;
    }

    /** Takes the next node of the consumer's list. Consumer. */
    @Nullable
    SoftNode take() {
        SoftNode node = first;
        if (node != null) {
            first = node.next;
            if (first == null) {
                last = null;
            }
            node.next = null;
        }
        return node;
    }

    /** Puts a node whose QUEUED it has just turned on behind everything that is pending (mio-19). Consumer. */
    void requeue(SoftNode node) {
        node.next = null;
        if (last == null) {
            first = node;
        } else {
            last.next = node;
        }
        last = node;
    }
}
