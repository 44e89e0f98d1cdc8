package io.millrace.net.family;

import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/** How one family makes its half of a source. The addresses are resolved and the numbers checked; what is returned is the caller's to close. */
public interface SourceFactory {
    /**
     * A socket that was bound.
     *
     * @param calls the caller's to close
     * @param local where it is bound
     */
    record Bound<C>(C calls, InetSocketAddress local) {}

    /**
     * A connection that was begun.
     *
     * @param calls the caller's to close
     * @param connected whether it stands already
     */
    record Begun(StreamCalls calls, boolean connected) {}

    /** Both ends of a pipe. */
    record PipeEnds(ByteCalls reading, ByteCalls writing) {}

    /**
     * Listens for TCP connections.
     *
     * @param receiveBuffer of each accepted connection, or 0 for the system's own
     * @param accepted what else each accepted connection begins with
     */
    Bound<AcceptCalls> listen(
            InetSocketAddress address,
            int backlog,
            boolean reusePort,
            int receiveBuffer,
            Map<SocketSetting, Integer> accepted)
            throws IOException;

    Begun connect(InetSocketAddress address) throws IOException;

    AcceptCalls listen(UnixName name, int backlog) throws IOException;

    /** At once, or it fails. */
    StreamCalls connect(UnixName name) throws IOException;

    /**
     * Binds a UDP socket.
     *
     * @param receiveBuffer its size in bytes, or 0 for the system's own
     */
    Bound<UdpCalls> udp(InetSocketAddress address, boolean reusePort, int receiveBuffer) throws IOException;

    PipeEnds pipe() throws IOException;

    FileCalls file(Path path, Set<? extends OpenOption> options) throws IOException;

    /** One that watches nothing yet. */
    WatchCalls fileWatch() throws IOException;

    ProcessCalls start(ChildCommand child) throws IOException;
}
