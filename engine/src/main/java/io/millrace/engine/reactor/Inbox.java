package io.millrace.engine.reactor;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;

/**
 * Tasks of one priority that other threads hand to a reactor. Any thread offers; one thread takes.
 *
 * <p>Senders and the reactor rely on this: a sender offers a task and then reads a flag; the reactor sets the flag and
 * then reads the queue. Either the reactor finds the queue not empty, or the sender finds the flag set. An ordinary
 * offer begins with a compare-and-set of the producer index, which is enough. An offer that adds a chunk is different:
 * after its first store the queue still counts as empty, and its second store is only a release, so the load that
 * follows may overtake it. Therefore such an offer is followed by a fence. The queue asks its subclass for the size of
 * a chunk when it adds one; this is how the offer knows.
 */
@SuppressWarnings("serial") // never serialized
final class Inbox<T> extends MpscUnboundedVarHandleArrayQueue<T> {
    private static final VarHandle CHUNKS;

    static {
        try {
            CHUNKS = MethodHandles.lookup().findVarHandle(Inbox.class, "chunks", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * How many chunks were added. Written by the one producer that adds a chunk while all others wait for it; a
     * producer reads it only for its own writes.
     */
    private int chunks;

    Inbox(int chunk) {
        super(chunk);
    }

    @Override
    public boolean offer(T task) {
        int before = chunks;
        super.offer(task);
        if (chunks != before) {
            VarHandle.fullFence();
        }
        return true;
    }

    /** Returns whether it has ever added a chunk or is about to. */
    boolean isGrowing() {
        return (int) CHUNKS.getOpaque(this) != 0;
    }

    @Override
    protected int getNextBufferSize(T[] buffer) {
        CHUNKS.setOpaque(this, chunks + 1);
        return super.getNextBufferSize(buffer);
    }
}
