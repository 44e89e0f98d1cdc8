package io.millrace.net;

import io.millrace.net.family.AcceptCalls;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.LeakTracker;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A socket that accepts connections from other processes of this machine. Readable while one is waiting.
 *
 * <p><b>The file.</b> Listening at a path creates a file there, with the permissions that the process's umask leaves,
 * or those of {@link UnixListenOptions}; whoever may write it may connect. {@link #close} removes the file, unless it
 * was removed or replaced meanwhile, or belongs to another process: see {@link #removeFileOnClose}. A process that is killed leaves its file behind. If there is a file already, the
 * bind fails; with {@link UnixListenOptions#replaceStale}, only if it is not a socket, or something listens there.
 *
 * <p><b>Threads.</b> Any thread may call any method, even several at once: each waiting connection goes to one of them.
 *
 * <p><b>Edges.</b> After an {@link io.millrace.poll.Trigger#EDGE} event, accept until null: one edge may stand for
 * several connections.
 *
 * <h2>Portability</h2>
 * The same for both families; on Windows, which has such sockets, too, only with NIO. Abstract names exist only on
 * Linux, and NIO does not support them.
 */
public final class UnixListener implements StreamListener {
    private final AcceptCalls calls;
    private final LeakTracker leak;
    private final UnixAddress address;
    /** Taken by the close that removes the file. */
    private final AtomicReference<@Nullable SocketFile> file;

    UnixListener(AcceptCalls calls, UnixAddress address, @Nullable SocketFile file) {
        this.calls = calls;
        this.address = address;
        this.file = new AtomicReference<>(file);
        AtomicReference<@Nullable SocketFile> made = this.file;
        this.leak = LeakTracker.track(this, "UnixListener at", address, () -> close(made, calls));
    }

    /**
     * Listens at a path, with the default family and a backlog of {@value Net#DEFAULT_BACKLOG}: {@link
     * Net#listen(UnixAddress)} of {@link Net#standard()}.
     *
     * @param path where to listen; the file must not exist
     * @return a listener, which the caller must close
     * @throws java.net.BindException if the file exists, the path is too long, or its directory is missing or not
     *     accessible
     * @throws IOException if the system refuses for another reason
     */
    public static UnixListener bind(Path path) throws IOException {
        return Net.standard().listen(UnixAddress.of(path));
    }

    @Override
    public SourceHandle handle() {
        return calls.handle();
    }

    /**
     * Accepts a waiting connection, without waiting for one.
     *
     * @return a connected stream of this listener's family, which the caller must close; or null if none is waiting
     * @throws java.nio.channels.ClosedChannelException if the listener is closed
     * @throws IOException if the system refuses, for example because too many files are open. The connection keeps
     *     waiting, and no further edge reports it, so try again later.
     */
    @Override
    public @Nullable UnixStream accept() throws IOException {
        try {
            AcceptCalls.Accepted accepted = calls.accept();
            return accepted == null ? null : new UnixStream(accepted.calls(), address);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns the address at which it listens.
     *
     * @return the address, even after close
     */
    public UnixAddress address() {
        return address;
    }

    /**
     * Says whether {@link #close} removes the file, if it is still the one that is there now. It does for a listener that
     * made the file, and not for one that another process opened ({@link PassedDescriptor}). If a socket changes hands,
     * the process that goes on listening should remove the file, and no other.
     *
     * @param remove whether the file goes with this listener; has no effect for an abstract name, and after close
     */
    public void removeFileOnClose(boolean remove) {
        if (!calls.handle().isClosed()) {
            file.set(remove ? SocketFile.of(address) : null);
        }
    }

    /**
     * Returns whether {@link #close} removes the file.
     *
     * @return as {@link #removeFileOnClose} says; false if there is none
     */
    public boolean removesFileOnClose() {
        return file.get() != null;
    }

    /**
     * Stops listening and removes the file; if it is registered, it is deregistered first. Waiting connections are
     * reset by the system; accepted ones stay open. Idempotent; any thread may call it.
     */
    @Override
    public void close() {
        leak.forget();
        close(file, calls);
    }

    private static void close(AtomicReference<@Nullable SocketFile> file, AcceptCalls calls) {
        SocketFile made = file.getAndSet(null);
        if (made != null) {
            made.delete();
        }
        calls.handle().close();
    }

    @Override
    public String toString() {
        return "UnixListener at " + address + ", " + calls.handle();
    }
}
