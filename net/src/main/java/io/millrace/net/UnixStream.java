package io.millrace.net;

import io.millrace.net.family.StreamCalls;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A connection between two processes of this machine. {@link ByteStream} describes how to read and write.
 *
 * <p>It is connected from the beginning, so {@link #finishConnect} returns true.
 *
 * <h2>Portability</h2>
 * The same for both families; on Windows, which has such sockets, too, only with NIO. If the peer closes without
 * reading everything, that is a reset on Linux, and the end of the stream elsewhere. No call raises SIGPIPE.
 */
public final class UnixStream extends SocketStream<UnixAddress> {
    UnixStream(StreamCalls calls, UnixAddress address) {
        super(address, calls, true);
    }

    @Override
    String kind() {
        return "UnixStream at";
    }

    /**
     * Connects, using the default family: {@link Net#connect(UnixAddress)} of {@link Net#standard()}.
     *
     * @param path the listener's path
     * @return a connected stream, which the caller must close
     * @throws java.net.ConnectException if nothing listens there, too many connections are waiting there, or the path
     *     is not accessible
     * @throws IOException if the system refuses for another reason
     */
    public static UnixStream connect(Path path) throws IOException {
        return Net.standard().connect(UnixAddress.of(path));
    }

    /**
     * Returns the address of the listener, on both ends of the connection. The end that connected has no address of its
     * own.
     *
     * @return the address, even after close
     */
    public UnixAddress address() {
        return peer;
    }
}
