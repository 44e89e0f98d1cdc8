package io.millrace.server;

import io.millrace.server.support.ConnectionLog;
import io.millrace.server.support.LimitAccess;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A connection was closed, turned away or not accepted because of a limit on this side, not because of its peer. Too
 * many bytes or files were waiting ({@link TcpServer.Builder#waterMarks}, {@link TcpServer.Builder#budget}), too many
 * connections were open ({@link TcpServer.Builder#maxConnections}, {@link TcpServer.Builder#maxConnectionsPerAddress}),
 * or the system had no descriptor left. The message says which limit, and what to do. {@link ConnectionHandler#onError}
 * receives it.
 *
 * <p>Timeouts are reported as {@link java.net.SocketTimeoutException} instead.
 */
public final class LimitException extends IOException {
    private static final long serialVersionUID = 1;

    static {
        LimitAccess.set(new LimitAccess() {
            @Override
            protected LimitException create(
                    ConnectionLog.Kind kind, String message, @Nullable InetSocketAddress remote) {
                return new LimitException(kind, message, null, remote);
            }

            @Override
            protected ConnectionLog.Kind kindOf(LimitException failure) {
                return failure.kind;
            }
        });
    }

    /** How it is logged. */
    private final ConnectionLog.Kind kind;

    /** Whom it turned away. */
    private final @Nullable InetSocketAddress remote;

    LimitException(
            ConnectionLog.Kind kind, String message, @Nullable Throwable cause, @Nullable InetSocketAddress remote) {
        super(message, cause);
        this.kind = kind;
        this.remote = remote;
    }

    /**
     * Returns the address of the peer that was turned away, for which there is no {@link Connection}.
     *
     * @return null if a connection was closed, which knows its own, or if none could be accepted
     */
    public @Nullable InetSocketAddress remoteAddress() {
        return remote;
    }
}
