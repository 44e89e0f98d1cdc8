package io.millrace.testkit;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** What {@link ConnectionContract} is run on: a server with its clock, and the peers that connect to it. One thread calls. */
@SuppressWarnings("try") // an interrupt fails the test
public interface ConnectionRig extends AutoCloseable {
    /** The other end of a connection. It reads only when it is told to; until then the system takes at least some KiB for it, and never as much as 8 MiB. */
    interface Peer {
        /**
         * Sends bytes.
         *
         * @param bytes at most some KiB
         * @throws Exception fails the test
         */
        void send(byte... bytes) throws Exception;

        /**
         * Sends no more, but reads on.
         *
         * @throws Exception fails the test
         */
        void endOutput() throws Exception;

        /**
         * Breaks the connection.
         *
         * @throws Exception fails the test
         */
        void reset() throws Exception;

        /**
         * Waits for some bytes, and reads them.
         *
         * @param count how many
         * @return so many; fewer only if the connection's output has ended
         * @throws Exception fails the test
         */
        byte[] read(int count) throws Exception;

        /**
         * Waits for the end of the connection's output, and reads all that was sent before.
         *
         * @return what was not read before
         * @throws java.io.IOException if the connection is broken, or was reset
         * @throws Exception fails the test
         */
        byte[] readToEnd() throws Exception;

        /**
         * Waits for the connection as its handler sees it.
         *
         * @return always the same
         */
        Connection connection();
    }

    /**
     * Begins to describe a server.
     *
     * @return a builder whose manager and dispatch are set
     */
    TcpServer.Builder server();

    /**
     * Starts the server and connects to it. Called once.
     *
     * @param settings what {@link #server} returned, with changes
     * @param handler of all connections
     * @return the first peer
     * @throws Exception fails the test
     */
    Peer open(TcpServer.Builder settings, ConnectionHandler handler) throws Exception;

    /**
     * Connects to the server once more.
     *
     * @return another peer
     * @throws Exception fails the test
     */
    Peer openAnother() throws Exception;

    /**
     * Returns whether a peer can tell a connection that lost bytes from one that ended. A plain Unix socket cannot be
     * reset.
     *
     * @return true, unless it is one
     */
    default boolean showsLosses() {
        return true;
    }

    /**
     * Lets everything happen that was caused so far, as far as that can be known, and then time pass.
     *
     * @param by how long
     * @throws Exception fails the test
     */
    void advance(Duration by) throws Exception;

    /**
     * Lets everything happen that was caused so far, as far as that can be known.
     *
     * @throws Exception fails the test
     */
    void settle() throws Exception;

    /**
     * Returns when a condition holds.
     *
     * @param what for the message
     * @param condition becomes true by what was caused so far
     */
    void await(String what, BooleanSupplier condition);
}
