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
 * <p><b>Closing against registering.</b> Register publishes the attachment first and takes a use of the descriptor second;
 * {@link #close} forbids new uses first and reads the attachment second. Whichever order the two threads run in, either the
 * register fails because the handle is closing, or the close sees the attachment and undoes it. So no closed source stays
 * registered.
 *
 * <p><b>No close(2) under a lock.</b> It may wait, with SO_LINGER for long. A close holds a use of its own until it has seen that there is no
 * attachment, or went through the poll's control lock to undo it; a poll drops its use under that lock and before it takes the
 * attachment away. So a poll's use is never the last one: whoever closes runs close(2), after the lock. (Where a removal is carried out
 * by the waiting thread, that thread may be the last; it holds no lock then, see {@code EmulatingSelector}.)
 */
public final class KernelHandle implements SourceHandle {
    /** What a poll puts into the handle of a source registered with it. */
    public interface Attachment {
        /** A call met would-block in these directions; from any thread. */
        void drained(int readiness);

        /** Deregisters if still registered; from any thread. */
        void detach();

        /** The key of this registration in its poll. */
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
    /** The attachment if its backend emulates triggers: the one field that a data call looks at. */
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
     * @param alwaysReady whether it never would block, so that no backend is asked: a regular file
     */
    public KernelHandle(io.millrace.sys.SystemHandle handle, boolean alwaysReady) {
        this.handle = handle;
        this.alwaysReady = alwaysReady;
    }

    /**
     * Whether it is ready for ever, and so registers with every backend.
     *
     * @return as given
     */
    public boolean isAlwaysReady() {
        return alwaysReady;
    }

    /**
     * The system's handle.
     *
     * @return as given
     */
    public io.millrace.sys.SystemHandle system() {
        return handle;
    }

    /**
     * Which backends can watch it.
     *
     * @return the family of its system handle
     */
    public Family family() {
        return handle instanceof Descriptor ? Family.DESCRIPTOR : Family.CHANNEL;
    }

    /**
     * To be called by the source whenever a call in these directions met would-block, or was short on a stream. Costs a field
     * load where the kernel has edges.
     *
     * @param readiness the drained directions, as {@link io.millrace.sys.Bits}
     */
    public void drained(int readiness) {
        Attachment seen = emulated;
        if (seen != null) {
            seen.drained(readiness);
        }
    }

    /**
     * Where it is registered now; for the poll.
     *
     * @return the attachment, or null
     */
    public @Nullable Attachment attachment() {
        return attachment;
    }

    /**
     * By the poll that registers the source; of two polls that try at once, one wins.
     *
     * @param to the poll's attachment
     * @param emulatesTriggers whether the backend needs to hear of would-block
     * @return false if another attachment is there
     */
    public boolean attach(Attachment to, boolean emulatesTriggers) {
        if (!ATTACHMENT.compareAndSet(this, null, to)) {
            return false;
        }
        emulated = emulatesTriggers ? to : null;
        return true;
    }

    /**
     * By the poll that deregisters the source, or failed to register it.
     *
     * @param from the attachment to take away, if it is still there
     */
    @SuppressWarnings("ReferenceEquality") // identity is what is meant
    public void detached(Attachment from) {
        if (attachment == from) {
            emulated = null;
            attachment = null;
        }
    }

    /** Deregisters and closes, exactly once, from any thread. A call under way on another thread ends first. */
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
                // Never waits for the peer while it is registered: NIO turns SO_LINGER off then.
                channel.close();
                detach();
            }
        }
    }

    /**
     * Whether {@link #close} was called.
     *
     * @return true for ever, once it was
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
