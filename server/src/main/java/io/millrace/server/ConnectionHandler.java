package io.millrace.server;

import io.millrace.engine.internal.FailureLog;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What a server or client does with its connections. For one connection the calls come one after the other: {@link #onConnect} first, {@link
 * #onDisconnect} exactly once and last. What a call throws goes to {@link #onError}, and nobody else is harmed.
 */
@FunctionalInterface
public interface ConnectionHandler {
    /**
     * A connection is there.
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
     * The peer sends no more, and may still read. Unless this is overridden, the connection is closed when what waits has been sent.
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
     * Something went wrong: a callback threw, the connection broke, a timeout or a limit ended it, or one could not be accepted. Unless this is overridden, it is logged to {@code io.millrace}: an {@link
     * IOException}, which is the network's everyday life, for debugging only.
     *
     * @param connection which; null if there is none
     * @param failure what
     */
    default void onError(@Nullable Connection connection, Throwable failure) {
        if (failure instanceof IOException) {
            System.getLogger("io.millrace")
                    .log(
                            System.Logger.Level.DEBUG,
                            connection == null ? "a connection could not be accepted" : connection + " failed",
                            failure);
        } else {
            FailureLog.report(connection == null ? "accepting" : "a callback of " + connection, failure);
        }
    }
}
