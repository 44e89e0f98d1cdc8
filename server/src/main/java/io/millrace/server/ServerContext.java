package io.millrace.server;

import java.nio.ByteBuffer;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a server or client, by id.
 *
 * <p><b>Threads.</b> Any thread may call any method. After the server or client is closed, it has no connections and
 * keeps nothing.
 */
public interface ServerContext {
    /**
     * Sends bytes to one connection, like {@link Connection#send}.
     *
     * @param id the id of the connection
     * @param data the bytes from its position to its limit; if they were taken, its position is moved to its limit
     * @return whether they were taken
     */
    SendResult send(long id, ByteBuffer data);

    /**
     * Sends the same bytes to every current connection: see {@link #broadcast(Collection, ByteBuffer)}.
     *
     * @param data the bytes from its position to its limit; its position is moved to its limit, unless no connection
     *     took them
     * @return how many connections took them
     */
    int broadcast(ByteBuffer data);

    /**
     * Sends the same bytes to several connections. The bytes are copied once and shared; while they wait, they count
     * for each connection that holds them. A connection that cannot take them does not affect the others. If one call
     * has returned before another begins, on whatever threads, its bytes arrive first; this includes calls of {@code
     * send}.
     *
     * @param to connections of this server or client
     * @param data the bytes from its position to its limit; its position is moved to its limit, unless no connection
     *     took them
     * @return how many connections took them
     */
    int broadcast(Collection<? extends Connection> to, ByteBuffer data);

    /**
     * Closes one connection after its pending output was sent.
     *
     * @param id the id of the connection
     * @return false if there is no connection with this id
     */
    boolean close(long id);

    /**
     * Returns one connection.
     *
     * @param id the id of the connection
     * @return the connection, or null if there is none with this id
     */
    @Nullable
    Connection connection(long id);

    /**
     * Returns all current connections.
     *
     * @return a live view, which may change during iteration
     */
    Collection<? extends Connection> connections();
}
