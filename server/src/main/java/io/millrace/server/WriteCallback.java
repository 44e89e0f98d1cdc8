package io.millrace.server;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Called when bytes have left this process, or never will: see {@link Connection#send(java.nio.ByteBuffer, WriteCallback)}. */
@FunctionalInterface
public interface WriteCallback {
    /**
     * Called exactly once, like any callback of the connection: never inside the send, never at the same time as
     * another one, and before {@code onDisconnect}.
     *
     * @param connection the connection
     * @param failure null if the system has taken these bytes and everything that was sent before; otherwise why some
     *     of them were lost
     * @throws Exception goes to {@link ConnectionHandler#onError}
     */
    void onWritten(Connection connection, @Nullable IOException failure) throws Exception;
}
