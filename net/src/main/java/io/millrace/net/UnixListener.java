package io.millrace.net;

import io.millrace.net.family.AcceptCalls;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.LeakTracker;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A socket that takes connections from other processes of this machine. Readable while one is waiting.
 *
 * <p><b>The file.</b> To listen at a path makes a file there, with the permissions that the process's umask leaves; who may write it may
 * connect. {@link #close} removes it, unless somebody removed or replaced it meanwhile. A file that is there already, even if
 * its listener is long gone, makes the bind fail: it is not removed, because a living listener's looks the same. A process that is killed
 * leaves its file behind.
 *
 * <p><b>Threads.</b> Any thread may call, several at once too: each waiting connection goes to one of them.
 *
 * <p><b>Edges.</b> After an {@link io.millrace.poll.Trigger#EDGE} event accept until null: one edge may stand for several connections.
 *
 * <h2>Portability</h2>
 * The same for both families; on Windows, which has such sockets too, only with NIO. Abstract names are Linux's, and NIO does not
 * know them.
 */
public final class UnixListener implements Source, AutoCloseable {
    private final AcceptCalls calls;
    private final LeakTracker leak;
    private final UnixAddress address;
    /** Taken by the one close that removes it. */
    private final AtomicReference<@Nullable SocketFile> file;

    UnixListener(AcceptCalls calls, UnixAddress address, @Nullable SocketFile file) {
        this.calls = calls;
        this.address = address;
        this.file = new AtomicReference<>(file);
        AtomicReference<@Nullable SocketFile> made = this.file;
        this.leak = LeakTracker.track(this, "UnixListener at", address, () -> close(made, calls));
    }

    /**
     * Listens at a path, with the default family and a backlog of {@value Net#DEFAULT_BACKLOG}: {@link Net#listen(UnixAddress)} of
     * {@link Net#standard()}.
     *
     * @param path where to listen; no file may be there
     * @return a listener, the caller's to close
     * @throws java.net.BindException if there is a file, the path is too long, or its directory is missing or not allowed
     * @throws IOException if the system refuses otherwise
     */
    public static UnixListener bind(Path path) throws IOException {
        return Net.standard().listen(UnixAddress.of(path));
    }

    @Override
    public SourceHandle handle() {
        return calls.handle();
    }

    /**
     * Takes a waiting connection, without waiting for one.
     *
     * @return an open, connected stream of this listener's family, the caller's to close; or null if none is waiting
     * @throws java.nio.channels.ClosedChannelException if the listener is closed
     * @throws IOException if the system refuses, e.g. because too many files are open. The connection waits on; no further edge
     *     reports it, so try again later.
     */
    public @Nullable UnixStream accept() throws IOException {
        try {
            AcceptCalls.Accepted accepted = calls.accept();
            return accepted == null ? null : new UnixStream(accepted.calls(), address);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Where it listens.
     *
     * @return the address, also after close
     */
    public UnixAddress address() {
        return address;
    }

    /**
     * Stops listening: deregistered first, if it is registered, and its file removed. Connections that still wait are reset by the system; the
     * accepted ones stay. Idempotent, from any thread.
     */
    @Override
    public void close() {
        leak.closed();
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
