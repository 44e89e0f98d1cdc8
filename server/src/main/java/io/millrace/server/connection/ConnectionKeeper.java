package io.millrace.server.connection;

import io.millrace.server.ServerContext;

/**
 * The server or client to which connections belong. {@code Connections} implements it. A connection reports to it what
 * the limits of all connections together need to know, and its own end.
 */
public interface ConnectionKeeper {
    /**
     * Removes a connection that is over, before its handler is told. Returns true to the first caller, which must
     * then call {@link #onEnded}.
     *
     * @param unsent how many bytes are lost with it
     */
    boolean tryRemove(StreamConnection connection, long unsent);

    /** Called when the handshake of an accepted connection is complete, before its handler is told. On the loop. */
    void onSecured(StreamConnection connection);

    /** Called when the last callback of a connection has returned. */
    void onEnded(StreamConnection connection);

    /** Called when the number of bytes waiting on a connection changes. Any thread. */
    void onBytesWaiting(StreamConnection connection, long change);

    /** Called when the number of files waiting on a connection changes. Any thread. */
    void onFilesWaiting(StreamConnection connection, int change);

    /**
     * Called when a connection has been told to end, and will release what it holds when its loop gets to it. Any
     * thread.
     *
     * @return to be run when it is over
     */
    Runnable willRelease(StreamConnection connection);

    /** Returns all connections, as the user sees them. */
    ServerContext context();
}
