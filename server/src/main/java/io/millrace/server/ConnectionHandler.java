package io.millrace.server;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Your code for the connections of a server or client. Only {@link #onData} must be implemented.
 *
 * <p><b>What it can rely on.</b> The calls for one connection never overlap: {@link #onConnect} is first, {@link
 * #onDisconnect} is last and called exactly once. Calls for different connections may run at the same time. Whatever a
 * call throws goes to {@link #onError} and does not affect other connections. If a call leaves its thread interrupted,
 * and the thread is one of the library's, the interrupt is cleared.
 *
 * <p><b>Threads.</b> Calls run where {@link io.millrace.engine.Dispatch} says. By default that is the connection's
 * loop, where they must not block.
 */
@FunctionalInterface
public interface ConnectionHandler {
    /**
     * Called when a connection was opened. If this throws, the connection is refused: it is closed, no matter what
     * {@link #onError} does, and only its {@link #onDisconnect} is called afterwards.
     *
     * @param connection the new connection
     * @throws Exception goes to {@link #onError}
     */
    default void onConnect(Connection connection) throws Exception {}

    /**
     * Called when bytes have arrived.
     *
     * @param connection the connection
     * @param data the bytes; the buffer is reused when this returns, so copy whatever you need later
     * @throws Exception goes to {@link #onError}
     */
    void onData(Connection connection, ByteBuffer data) throws Exception;

    /**
     * Called when the peer sends no more; it may still read. By default the connection is closed after pending output
     * was sent. If you override this, the connection stays open until you close it, or until both directions have
     * ended ({@link Connection#closeOutput}) and everything is sent.
     *
     * @param connection the connection
     * @throws Exception goes to {@link #onError}
     */
    default void onEndOfInput(Connection connection) throws Exception {
        connection.close();
    }

    /**
     * Called when the bytes waiting to be sent were above the high-water mark and have fallen to the low-water mark.
     *
     * @param connection the connection
     * @throws Exception goes to {@link #onError}
     */
    default void onWritable(Connection connection) throws Exception {}

    /**
     * Called when the connection has ended: closed by either side, broken, or timed out. The server no longer knows its
     * id.
     *
     * @param connection the connection
     * @throws Exception goes to {@link #onError}
     */
    default void onDisconnect(Connection connection) throws Exception {}

    /**
     * Called when something went wrong: a callback threw, the connection broke, a timeout or a limit ended it, or a
     * connection could not be accepted. If you override this method, you decide what happens to a connection whose
     * callback threw: unless you close it, it goes on.
     *
     * <p>By default, a callback that threw is logged as a warning with its stack, and the connection is closed after
     * pending output was sent. A limit that closed or refused a connection is logged as a warning; a failure of the
     * peer or the network is logged for debugging only. Everything goes to the logger {@code io.millrace.server}, with
     * at most one line a second of each kind, which says how many were left out.
     *
     * @param connection the connection; null if there is none
     * @param failure what went wrong
     */
    default void onError(@Nullable Connection connection, Throwable failure) {
        ConnectionLog.standard().byDefault(this, connection, failure);
    }
}
