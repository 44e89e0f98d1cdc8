package io.millrace.server;

import java.nio.ByteBuffer;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * A server's connections, by their ids. From any thread. After the server is closed it has none, and keeps nothing.
 */
public interface ServerContext {
    /**
     * Sends bytes to one connection: as {@link Connection#send}.
     *
     * @param id of the connection
     * @param data from its position to its limit, which its position is afterwards if they were taken
     * @return whether they were taken
     */
    SendResult send(long id, ByteBuffer data);

    /**
     * Sends the same bytes to every connection that is there now: {@link #broadcast(Collection, ByteBuffer)} to all.
     *
     * @param data from its position to its limit; as for {@link Connection#send}, its position is its limit afterwards, unless nobody took them
     * @return how many connections took them
     */
    int broadcast(ByteBuffer data);

    /**
     * Sends the same bytes to several connections. They are copied once, and shared; while they wait they count for each connection that holds them. One that cannot take them does not keep the others from it.
     * A call that begins after another has returned, on whatever threads, arrives behind it; also if either is a {@code send}.
     *
     * @param to connections of this server or client
     * @param data from its position to its limit; as for {@link Connection#send}, its position is its limit afterwards, unless nobody took them
     * @return how many connections took them
     */
    int broadcast(Collection<? extends Connection> to, ByteBuffer data);

    /**
     * Closes one connection, after what waits has been sent.
     *
     * @param id of the connection
     * @return false if there is none with this id
     */
    boolean close(long id);

    /**
     * One connection.
     *
     * @param id its number
     * @return null if there is none with this id
     */
    @Nullable
    Connection connection(long id);

    /**
     * All connections that are there now.
     *
     * @return a view that may change while it is looked at
     */
    Collection<? extends Connection> connections();
}
