package io.millrace.poll;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Software nodes that the poll has to look at: a lock-free, intrusive queue with many producers and one consumer.
 *
 * <p>Producers push onto a shared stack. The consumer takes the whole stack with one exchange, reverses it, and appends it to a
 * list of its own; so nodes come out in the order they were pushed, a taken stack is a snapshot (a producer that never stops
 * can't keep the consumer busy), and there is no ABA: nothing is ever popped from the shared stack singly. Nodes are linked
 * through {@link SoftNode#next}; nothing is allocated. A node is in here at most once: {@link SoftNode#markQueued}.
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

    /** Told after each push, so that a sleeping poll is woken. */
    private final Runnable onPush;

    private volatile @Nullable SoftNode head;
    private volatile boolean closed;

    // The consumer's own list, first in first out.
    private @Nullable SoftNode first;
    private @Nullable SoftNode last;

    ReadinessQueue(Runnable onPush) {
        this.onPush = onPush;
    }

    /** Any thread; the caller has just turned the node's QUEUED on. */
    void push(SoftNode node) {
        while (!closed) {
            SoftNode seen = head;
            node.next = seen;
            // Volatile: publishes the link, and orders the push before the look at the sleeper in onPush.
            if (HEAD.compareAndSet(this, seen, node)) {
                onPush.run();
                return;
            }
        }
    }

    /** Lets go of every node; what is pushed from now on, or at this moment, is nobody's concern. Consumer. */
    void close() {
        closed = true;
        head = null;
        first = null;
        last = null;
    }

    /** Whether a producer has pushed since the last {@link #takeSnapshot}; for the last look before sleeping. */
    boolean hasPushed() {
        return head != null;
    }

    /** Consumer: appends what was pushed so far to its own list. */
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

    /** Consumer: whether its own list is empty. */
    boolean isDrained() {
        return first == null;
    }

    /** Consumer: the next node of its own list, without taking it. */
    @Nullable
    SoftNode peek() {
        return first;
    }

    /** Consumer: takes the next node of its own list. */
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

    /** Consumer: puts a node whose QUEUED it has just turned on behind everything that is pending (mio-19). */
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
