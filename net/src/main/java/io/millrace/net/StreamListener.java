package io.millrace.net;

import io.millrace.poll.Source;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A socket that accepts connections: what {@link TcpListener} and {@link UnixListener} have in common. Readable while a
 * connection is waiting.
 *
 * <p><b>Threads.</b> Any thread may call any method, even several at once: each waiting connection goes to one of them.
 */
public sealed interface StreamListener extends Source, AutoCloseable permits TcpListener, UnixListener {
    /**
     * Accepts a waiting connection, without waiting for one.
     *
     * @return a connected stream of this listener's family, which the caller must close; or null if none is waiting
     * @throws java.nio.channels.ClosedChannelException if the listener is closed
     * @throws IOException if the system refuses, for example because too many files are open. The connection keeps
     *     waiting, and no further edge reports it, so try again later.
     */
    @Nullable
    ByteStream accept() throws IOException;

    /**
     * Stops listening; if it is registered, it is deregistered first. Waiting connections are reset by the system;
     * accepted ones stay open. Idempotent; any thread may call it.
     */
    @Override
    void close();
}
