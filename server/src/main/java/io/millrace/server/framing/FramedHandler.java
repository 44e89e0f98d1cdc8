package io.millrace.server.framing;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.Idle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** What {@link Framing#frames} returns: sets the framing when a connection begins, and passes every call on. */
public record FramedHandler(Framing framing, ConnectionHandler handler) implements ConnectionHandler {
    @Override
    public void onConnect(Connection connection) throws Exception {
        connection.setFraming(framing);
        handler.onConnect(connection);
    }

    @Override
    public void onData(Connection connection, ByteBuffer frame) throws Exception {
        handler.onData(connection, frame);
    }

    @Override
    public void onEndOfInput(Connection connection) throws Exception {
        handler.onEndOfInput(connection);
    }

    @Override
    public void onWritable(Connection connection) throws Exception {
        handler.onWritable(connection);
    }

    @Override
    public void onIdle(Connection connection, Idle kind) throws Exception {
        handler.onIdle(connection, kind);
    }

    @Override
    public void onDisconnect(Connection connection) throws Exception {
        handler.onDisconnect(connection);
    }

    @Override
    public void onError(@Nullable Connection connection, Throwable failure) {
        handler.onError(connection, failure);
    }

    @Override
    public String toString() {
        return framing + " to " + handler;
    }
}
