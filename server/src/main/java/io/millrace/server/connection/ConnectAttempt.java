package io.millrace.server.connection;

import io.millrace.server.ConnectionHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * What a client's connection has for a handler until it is established. {@code ConnectRace} implements it, and decides
 * which of several connections is used.
 */
public interface ConnectAttempt {
    /** Called on the loop when the connection is established. If it returns false, the connection ends without any callback. */
    boolean isWanted(StreamConnection connection);

    /**
     * Called on the loop instead of {@code onConnect}: the attempt failed, or (with a null cause) the connection was
     * closed before it was established.
     */
    void onFailed(@Nullable IOException cause);

    /** Returns what was to be connected to, whose name TLS verifies. */
    InetSocketAddress target();

    /** Returns the handler that replaces this one in the first callback. */
    ConnectionHandler handler();

    /** Called in the first callback, after {@code onConnect} has returned. */
    void onAccepted(StreamConnection connection);

    /** Called in the first callback if {@code onConnect} has thrown. */
    void onRefused(Throwable thrown);
}
