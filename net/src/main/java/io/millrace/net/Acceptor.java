package io.millrace.net;

import io.millrace.poll.internal.OsHandle;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** What takes the waiting connections of a listener, TCP or Unix: a descriptor or a {@code java.nio} channel. */
sealed interface Acceptor permits FdAcceptor, NioAcceptor {
    /**
     * A connection that was waiting.
     *
     * @param transport the caller's to close
     * @param remote who connected; null at a Unix socket, whose clients have no name
     */
    record Accepted(StreamTransport transport, @Nullable InetSocketAddress remote) {}

    OsHandle handle();

    /** Null, and the handle told of it, if nobody waits. */
    @Nullable
    Accepted accept() throws IOException;
}
