package io.millrace.engine.reactor;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;

/**
 * What any thread hands to a reactor, of one class. Any thread offers; one takes.
 *
 * <p>Who offers and then looks at a flag relies on this: whoever raises that flag and then looks here finds the queue not empty, or the offer's caller
 * finds the flag. An ordinary offer begins with a compare-and-set of the producer index, and that is enough. An offer that adds a chunk is different: the
 * index it sets at first counts as empty still, and the one that does not is only released, so that the load that follows may overtake it. Such an offer is followed by
 * a fence. The queue asks its subclass for the size of a chunk when it adds one; that is how the offer knows.
 */
@SuppressWarnings("serial") // nobody writes it to a stream
final class Inbox<T> extends MpscUnboundedVarHandleArrayQueue<T> {
    private static final VarHandle CHUNKS;

    static {
        try {
            CHUNKS = MethodHandles.lookup().findVarHandle(Inbox.class, "chunks", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** How many chunks were added. By the one producer that adds one, while all others wait for it; read by a producer for its own writes. */
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

    /** Whether it has ever added a chunk, or is about to. */
    boolean isGrowing() {
        return (int) CHUNKS.getOpaque(this) != 0;
    }

    @Override
    protected int getNextBufferSize(T[] buffer) {
        CHUNKS.setOpaque(this, chunks + 1);
        return super.getNextBufferSize(buffer);
    }
}
