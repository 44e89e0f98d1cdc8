package io.millrace.server;

import io.millrace.server.support.ConnectionLog;
import org.jspecify.annotations.Nullable;

/**
 * Creates a handler for each connection, so that a connection's state can be in the fields of its handler.
 *
 * {@snippet :
 * TcpServer.builder().start(connection -> new Session(connection));
 * }
 */
@FunctionalInterface
public interface HandlerFactory {
    /**
     * Called on the connection's thread, before {@link ConnectionHandler#onConnect}. If this throws, or returns null, the
     * connection is refused: {@link #onError} is told, and the connection is closed.
     *
     * @param connection the new connection
     * @return the handler of all its callbacks, from {@code onConnect} on
     * @throws Exception refuses the connection
     */
    ConnectionHandler handlerFor(Connection connection) throws Exception;

    /**
     * Called when something went wrong that no handler can be told of, because there is none:
     *
     * <ul>
     *   <li>{@link #handlerFor} threw: with that connection, which is closed whatever this does, and with what was thrown
     *   <li>a connection was turned away because of {@link TcpServer.Builder#maxConnections} or {@link
     *       TcpServer.Builder#maxConnectionsPerAddress}, or could not be accepted: without a connection, and with a {@link
     *       LimitException}, whose {@link LimitException#remoteAddress} says who was turned away
     *   <li>an accepted connection was gone before it could be looked at: without a connection, and with an {@link
     *       java.io.IOException}
     * </ul>
     *
     * By default it is logged as {@link ConnectionHandler#onError} does. What this throws is logged, too. Calls may overlap,
     * and come on any thread of the server; those without a connection on the loop that accepts, where they must not block.
     *
     * @param connection the connection; null if there is none
     * @param failure what went wrong
     */
    default void onError(@Nullable Connection connection, Throwable failure) {
        ConnectionLog.standard().logByDefault(this, connection, failure);
    }
}
