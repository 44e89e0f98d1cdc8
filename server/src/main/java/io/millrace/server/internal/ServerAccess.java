package io.millrace.server.internal;

import io.millrace.engine.transport.ServerLoop;
import io.millrace.net.TcpStream;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.HandlerFactory;
import io.millrace.server.ServerContext;
import io.millrace.server.TcpServer;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import org.jspecify.annotations.Nullable;

/** Runs servers without sockets. Implemented in the package of {@link TcpServer}, which hands it over here; so none of it is public there. */
public abstract class ServerAccess {
    private static volatile @Nullable ServerAccess instance;

    /** For the one implementation. */
    protected ServerAccess() {}

    /**
     * The one there is.
     *
     * @return available once a {@link TcpServer.Builder} was made
     */
    public static ServerAccess get() {
        return Objects.requireNonNull(instance, "make a TcpServer.Builder first");
    }

    /**
     * By the class {@link TcpServer}, when it is initialised.
     *
     * @param access the implementation
     */
    public static void set(ServerAccess access) {
        instance = access;
    }

    /** A server that listens nowhere. */
    public interface Hosted {
        /**
         * Its connections.
         *
         * @return always the same
         */
        ServerContext context();

        /**
         * A connection has arrived: it is admitted and opened, or turned away.
         *
         * @param stream connected; the server's from now on
         * @return the connection, or null if it was turned away
         */
        @Nullable
        Connection accept(TcpStream stream);
    }

    /**
     * Starts a server that listens nowhere. Its manager and its address are not looked at.
     *
     * @param settings the other settings
     * @param handler of all connections
     * @param on its only loop
     * @param workers where callbacks run that do not run on the loop
     * @return to hand connections to
     */
    public abstract Hosted host(
            TcpServer.Builder settings, ConnectionHandler handler, ServerLoop on, ExecutorService workers);

    /**
     * As {@link #host}, with a handler for each connection.
     *
     * @param settings the other settings
     * @param factory of handlers
     * @param on its only loop
     * @param workers where callbacks run that do not run on the loop
     * @return to hand connections to
     */
    public abstract Hosted hostEach(
            TcpServer.Builder settings, HandlerFactory factory, ServerLoop on, ExecutorService workers);
}
