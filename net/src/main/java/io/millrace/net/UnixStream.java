package io.millrace.net;

import io.millrace.net.family.StreamCalls;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A connection between two processes of this machine. {@link ByteStream} says how its calls behave.
 *
 * <p>It is connected from the beginning: {@link #finishConnect} has nothing to wait for and returns true.
 *
 * <h2>Portability</h2>
 * The same for both families; on Windows, which has such sockets too, only with NIO. A peer that closes while bytes that it did not
 * read are on their way is a reset on Linux, the end of the stream elsewhere. No call raises SIGPIPE.
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
     * Connects, with the default family: {@link Net#connect(UnixAddress)} of {@link Net#standard()}.
     *
     * @param path the listener's path
     * @return a connected stream, the caller's to close
     * @throws java.net.ConnectException if nobody listens there, too many wait there already, or the path is not allowed
     * @throws IOException if the system refuses otherwise
     */
    public static UnixStream connect(Path path) throws IOException {
        return Net.standard().connect(UnixAddress.of(path));
    }

    /**
     * Where the two ends met: the address of the listener, whichever end this is. The end that connected has no name of its own.
     *
     * @return the address, also after close
     */
    public UnixAddress address() {
        return peer;
    }
}
