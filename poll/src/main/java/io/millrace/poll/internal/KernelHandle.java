package io.millrace.poll.internal;

import io.millrace.poll.SourceHandle;
import io.millrace.sys.Descriptor;
import io.millrace.sys.Family;
import io.millrace.sys.NioHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A source that the kernel watches, as a poll sees it: the system's handle and, while it is registered, its attachment.
 *
 * <p><b>Closing while registering.</b> Register publishes the attachment first and takes a use of the descriptor
 * second; {@link #close} forbids new uses first and reads the attachment second. In whatever order the two threads run,
 * either the register fails because the handle is closing, or the close sees the attachment and undoes it. So no closed
 * source stays registered.
 *
 * <p><b>No close(2) under a lock.</b> It may block, with SO_LINGER for a long time. A close holds its own use until it
 * has seen that there is no attachment, or has gone through the poll's control lock to undo it; a poll drops its use
 * under that lock and before it removes the attachment. So a poll's use is never the last one: the closing thread calls
 * close(2), after the lock. (If a removal is carried out by the waiting thread, that thread may be the last; it holds
 * no lock then, see {@code EmulatingSelector}.)
 */
public final class KernelHandle implements SourceHandle {
    /** What a poll stores in the handle of a source registered with it. */
    public interface Attachment {
        /** Reports that a call met would-block in these directions. Any thread. */
        void markDrained(int readiness);

        /** Deregisters the source if it is still registered. Any thread. */
        void detach();

        /** Returns the key of this registration in its poll. */
        long key();
    }

    private static final VarHandle ATTACHMENT;

    static {
        try {
            ATTACHMENT = MethodHandles.lookup().findVarHandle(KernelHandle.class, "attachment", Attachment.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final io.millrace.sys.SystemHandle handle;
    private final boolean alwaysReady;
    private volatile @Nullable Attachment attachment;
    /** The attachment if its backend emulates triggers; the only field that a data call reads. */
    private volatile @Nullable Attachment emulated;

    /**
     * Wraps a handle that the kernel watches.
     *
     * @param handle a {@link Descriptor} or a {@link NioHandle}
     */
    public KernelHandle(io.millrace.sys.SystemHandle handle) {
        this(handle, false);
    }

    /**
     * Wraps the system's handle.
     *
     * @param handle a {@link Descriptor} or a {@link NioHandle}
     * @param alwaysReady whether it never blocks, like a regular file, so that no backend has to watch it
     */
    public KernelHandle(io.millrace.sys.SystemHandle handle, boolean alwaysReady) {
        this.handle = handle;
        this.alwaysReady = alwaysReady;
    }

    /**
     * Returns whether it is always ready, so that it can be registered with every backend.
     *
     * @return as given to the constructor
     */
    public boolean isAlwaysReady() {
        return alwaysReady;
    }

    /**
     * Returns the system's handle.
     *
     * @return as given to the constructor
     */
    public io.millrace.sys.SystemHandle system() {
        return handle;
    }

    /**
     * Returns which backends can watch it.
     *
     * @return the family of its system handle
     */
    public Family family() {
        return handle instanceof Descriptor ? Family.DESCRIPTOR : Family.CHANNEL;
    }

    /**
     * Called by the source whenever a call in these directions met would-block or, on a stream, was short. If the
     * kernel has edges, this costs a field load.
     *
     * @param readiness the drained directions, as {@link io.millrace.sys.Bits}
     */
    public void markDrained(int readiness) {
        Attachment seen = emulated;
        if (seen != null) {
            seen.markDrained(readiness);
        }
    }

    /**
     * Returns where it is registered now. For the poll.
     *
     * @return the attachment, or null
     */
    public @Nullable Attachment attachment() {
        return attachment;
    }

    /**
     * Called by the poll that registers the source; if two polls try at once, one wins.
     *
     * @param to the poll's attachment
     * @param emulatesTriggers whether the backend needs to be told of would-block
     * @return false if there is another attachment
     */
    public boolean attach(Attachment to, boolean emulatesTriggers) {
        if (!ATTACHMENT.compareAndSet(this, null, to)) {
            return false;
        }
        emulated = emulatesTriggers ? to : null;
        return true;
    }

    /**
     * Called by the poll that deregisters the source, or failed to register it.
     *
     * @param from the attachment to remove, if it is still there
     */
    @SuppressWarnings("ReferenceEquality") // compares identity on purpose
    public void clearAttachment(Attachment from) {
        if (attachment == from) {
            emulated = null;
            attachment = null;
        }
    }

    /** Deregisters and closes, exactly once; any thread. A call in progress on another thread completes first. */
    public void close() {
        switch (handle) {
            case Descriptor descriptor -> {
                boolean first = descriptor.beginClose();
                try {
                    detach();
                } finally {
                    if (first) {
                        descriptor.release();
                    }
                }
            }
            case NioHandle channel -> {
                // Never blocks for SO_LINGER while it is registered: NIO turns that option off then.
                channel.close();
                detach();
            }
        }
    }

    /**
     * Returns whether {@link #close} was called.
     *
     * @return true from then on
     */
    public boolean isClosed() {
        return switch (handle) {
            case Descriptor descriptor -> descriptor.isClosing();
            case NioHandle channel -> !channel.isOpen();
        };
    }

    private void detach() {
        Attachment seen = attachment;
        if (seen != null) {
            seen.detach();
        }
    }

    @Override
    public String toString() {
        return handle.toString();
    }
}
