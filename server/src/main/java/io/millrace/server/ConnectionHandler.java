package io.millrace.server;

import io.millrace.server.connection.StreamConnection;
import io.millrace.server.support.ConnectionLog;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Your code for the connections of a server or client. Only {@link #onData} must be implemented.
 *
 * <p><b>What it can rely on.</b> The calls for one connection never overlap: {@link #onConnect} is first, {@link
 * #onDisconnect} is last and called exactly once. Calls for different connections may run at the same time. Whatever a
 * call throws goes to {@link #onError}, except what {@code onDisconnect} throws, which is logged because no call follows
 * it; other connections are not affected. If a call leaves its thread interrupted, and the thread is one of the
 * library's, the interrupt is cleared.
 *
 * <p><b>After a close.</b> Once {@link Connection#close}, {@link Connection#abort} or {@link Connection#reset} has returned in a callback of the
 * connection, none of {@link #onData}, {@link #onEndOfInput}, {@link #onWritable} and {@link #onIdle} is called for it
 * again, wherever callbacks run: only {@link #onError}, if something goes wrong, and {@link #onDisconnect}. If another thread closes the
 * connection, a call that is running may finish, and no other begins. Bytes that had arrived and were not yet handed to
 * {@code onData} are discarded.
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
     * Called when a connection was silent for as long as an idle timeout allows, and again after each further period of
     * silence. By default the connection is closed: {@link #onError} gets a {@link java.net.SocketTimeoutException}, and
     * {@link #onDisconnect} follows. If you override this, the connection stays open; a protocol with heartbeats sends
     * one when {@link Idle#WRITE} is reported, and closes the connection on {@link Idle#READ}.
     *
     * @param connection the connection
     * @param kind which timeout has passed
     * @throws Exception goes to {@link #onError}
     */
    default void onIdle(Connection connection, Idle kind) throws Exception {
        ((StreamConnection) connection).endIdle(kind);
    }

    /**
     * Called when the connection has ended: closed by either side, broken, or timed out. The server no longer knows its
     * id. This is the last call.
     *
     * @param connection the connection
     * @throws Exception is logged as a warning
     */
    default void onDisconnect(Connection connection) throws Exception {}

    /**
     * Called when something went wrong: a callback threw, the connection broke, a timeout or a limit ended it, or a
     * connection could not be accepted. If you override this method, you decide what happens to a connection whose
     * callback threw: unless you close it, it goes on.
     *
     * <p>What it gets is told by type:
     *
     * <ul>
     *   <li>whatever a callback threw, as it was thrown
     *   <li>{@link LimitException}: a limit of this side ended the connection, turned one away, or kept one from being
     *       accepted
     *   <li>{@link java.net.SocketTimeoutException}: it was idle, the peer took no output, or a frame was not complete in
     *       time; the message says which
     *   <li>{@link java.net.ProtocolException}: a frame is too long
     *   <li>{@link java.io.EOFException}: the input ended in the middle of a frame; or a file that is being sent was
     *       truncated
     *   <li>any other {@link java.io.IOException}: the peer or the network, such as a reset. Its message has the text of
     *       the system, with the name of the error on native backends (ECONNRESET); its class is not public
     * </ul>
     *
     * <p>By default, a callback that threw is logged as a warning with its stack, and the connection is closed after
     * pending output was sent. A limit that closed or refused a connection is logged as a warning; a failure of the
     * peer or the network is logged for debugging only. Everything goes to the logger {@code io.millrace.server}, with
     * at most one line a second of each kind, which says how many were left out.
     *
     * @param connection the connection; null if there is none
     * @param failure what went wrong, as above
     */
    default void onError(@Nullable Connection connection, Throwable failure) {
        ConnectionLog.standard().logByDefault(this, connection, failure);
    }
}
