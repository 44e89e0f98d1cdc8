package io.millrace.server.connection;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.HandlerFactory;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Stands in for the handlers that a factory creates, until it has created the connection's own. */
public record PerConnection(HandlerFactory factory) implements ConnectionHandler {
    ConnectionHandler handlerFor(Connection connection) throws Exception {
        return Objects.requireNonNull(
                factory.handlerFor(connection),
                () -> "no handler for " + connection + ": " + factory + " returned null");
    }

    /** Of one that was turned away, or whose handler could not be made. */
    @Override
    public void onError(@Nullable Connection connection, Throwable failure) {
        factory.onError(connection, failure);
    }

    @Override
    public void onData(Connection connection, ByteBuffer data) {
        throw new IllegalStateException("cannot deliver bytes on " + connection + ": it has no handler yet");
    }
}
