package io.millrace.net.family;

import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What takes the waiting connections of a listener, TCP or Unix: a descriptor or a {@code java.nio} channel. */
public interface AcceptCalls {
    /**
     * A connection that was waiting.
     *
     * @param calls the caller's to close
     * @param remote who connected; null at a Unix socket, whose clients have no name
     */
    record Accepted(StreamCalls calls, @Nullable InetSocketAddress remote) {}

    /**
     * Gives an accepted connection what it begins with. The listener has shown that the system knows these settings; so a connection that refuses
     * them was given up by its peer, and is closed and passed over as one that accept(2) itself finds gone.
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

    /** Null, and the handle told of it, if nobody waits. */
    @Nullable
    Accepted accept() throws IOException;
}
