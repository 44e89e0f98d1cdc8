package io.millrace.net.family;

import io.millrace.sys.posix.ListenTerms;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Creates one family's half of each source. The addresses are resolved and the numbers checked; the caller must close
 * what is returned.
 */
public interface SourceFactory {
    /**
     * A bound socket.
     *
     * @param calls must be closed by the caller
     * @param local the address to which it is bound
     */
    record Bound<C>(C calls, InetSocketAddress local) {}

    /**
     * A connection attempt.
     *
     * @param calls must be closed by the caller
     * @param connected whether it is already connected
     */
    record Begun(StreamCalls calls, boolean connected) {}

    /** Both ends of a pipe. */
    record PipeEnds(ByteCalls reading, ByteCalls writing) {}

    Bound<AcceptCalls> listen(InetSocketAddress address, ListenTerms terms) throws IOException;

    /**
     * Starts to connect.
     *
     * @param settings set before the first packet is sent
     */
    Begun connect(InetSocketAddress address, Map<SocketSetting, Integer> settings) throws IOException;

    /**
     * Listens at a Unix socket.
     *
     * @param permissions of its file; null for what the umask leaves
     */
    AcceptCalls listen(UnixName name, int backlog, @Nullable Set<PosixFilePermission> permissions) throws IOException;

    /** Connects immediately, or fails. */
    StreamCalls connect(UnixName name) throws IOException;

    /**
     * Binds a UDP socket.
     *
     * @param receiveBuffer its size in bytes, or 0 for the system's default
     */
    Bound<UdpCalls> udp(InetSocketAddress address, boolean reusePort, int receiveBuffer) throws IOException;

    PipeEnds pipe() throws IOException;

    FileCalls file(Path path, Set<? extends OpenOption> options) throws IOException;

    /** Opens a watch that watches nothing yet. */
    WatchCalls fileWatch() throws IOException;

    ProcessCalls start(ChildCommand child) throws IOException;
}
