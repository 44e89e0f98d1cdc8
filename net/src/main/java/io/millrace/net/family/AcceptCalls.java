package io.millrace.net.family;

import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Accepts the waiting connections of a TCP or Unix listener: a descriptor or a {@code java.nio} channel. */
public interface AcceptCalls {
    /**
     * An accepted connection.
     *
     * @param calls must be closed by the caller
     * @param remote the client's address; null for a Unix socket, whose clients have none
     */
    record Accepted(StreamCalls calls, @Nullable InetSocketAddress remote) {}

    /**
     * Applies the initial settings to an accepted connection. The listener has shown that the system supports these
     * settings, so a connection that refuses them was given up by its peer; it is closed and skipped, like one that
     * accept(2) itself finds gone.
     *
     * @return false if it is closed
     */
    static boolean takes(StreamCalls accepted, Map<SocketSetting, Integer> settings) {
        try {
            accepted.setAll(settings);
            return true;
        } catch (IOException e) {
            accepted.close();
            return false;
        }
    }

    KernelHandle handle();

    /** Returns null and marks the handle drained if no connection is waiting. */
    @Nullable
    Accepted accept() throws IOException;
}
