package io.millrace.server;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What a server or client does with its connections. For one connection the calls come one after the other: {@link #onConnect} first, {@link
 * #onDisconnect} exactly once and last. What a call throws, whatever it is, goes to {@link #onError}, and nobody else is harmed.
 * An interrupt that a call leaves behind on a thread of ours is cleared: it ends nothing, and no other connection sees it.
 */
@FunctionalInterface
public interface ConnectionHandler {
    /**
     * A connection is there. If this throws, it is refused: closed, whatever {@link #onError} does, and nothing more is told but its {@link #onDisconnect}.
     *
     * @param connection the new one
     * @throws Exception goes to {@link #onError}
     */
    default void onConnect(Connection connection) throws Exception {}

    /**
     * Bytes came.
     *
     * @param connection whose
     * @param data is used again when this returns: keep a copy of what you keep
     * @throws Exception goes to {@link #onError}
     */
    void onData(Connection connection, ByteBuffer data) throws Exception;

    /**
     * The peer sends no more, and may still read. Unless this is overridden, the connection is closed when what waits has been sent. If it is, the connection goes on until it is closed, or its output is: after {@link
     * Connection#closeOutput}, before this or later, it is over when all is sent.
     *
     * @param connection whose
     * @throws Exception goes to {@link #onError}
     */
    default void onEndOfInput(Connection connection) throws Exception {
        connection.close();
    }

    /**
     * More waited than the high-water mark says, and now no more than the low one does.
     *
     * @param connection whose
     * @throws Exception goes to {@link #onError}
     */
    default void onWritable(Connection connection) throws Exception {}

    /**
     * It is over: closed by either side, broken, or timed out. Its id is unknown to the server already.
     *
     * @param connection which
     * @throws Exception goes to {@link #onError}
     */
    default void onDisconnect(Connection connection) throws Exception {}

    /**
     * Something went wrong: a callback threw, the connection broke, a timeout or a limit ended it, or one could not be accepted. Who overrides this decides what becomes of a
     * connection whose callback threw; unless it is closed it goes on.
     *
     * <p>Unless this is overridden: a callback that threw is logged as a warning with its stack, and the connection is closed when what waits has been sent. A limit that ended a
     * connection or turned one away is logged as a warning, and a failure of the peer or the network for debugging only. All to {@code io.millrace.server}, and of each kind at most one line a second,
     * which says how many were left out.
     *
     * @param connection which; null if there is none
     * @param failure what
     */
    default void onError(@Nullable Connection connection, Throwable failure) {
        ConnectionLog.standard().byDefault(this, connection, failure);
    }
}
