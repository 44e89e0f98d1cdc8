package io.millrace.net.nio;

import io.millrace.net.family.AcceptCalls;
import io.millrace.net.family.ChildCommand;
import io.millrace.net.family.Failures;
import io.millrace.net.family.FileCalls;
import io.millrace.net.family.ProcessCalls;
import io.millrace.net.family.SourceFactory;
import io.millrace.net.family.StreamCalls;
import io.millrace.net.family.UdpCalls;
import io.millrace.net.family.UnixName;
import io.millrace.net.family.WatchCalls;
import io.millrace.sys.posix.ListenTerms;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.DatagramChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectableChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Creates sources with {@code java.nio} channels. */
public final class NioSourceFactory implements SourceFactory {
    @Override
    public Bound<AcceptCalls> listen(InetSocketAddress address, ListenTerms terms) throws IOException {
        requireSupported(terms);
        // NIO itself sets SO_REUSEADDR, except on Windows, where it would let two programs share a port.
        ServerSocketChannel channel = open("listen on " + address, ServerSocketChannel::open);
        return orClose(channel, () -> {
            if (terms.reusePort()) {
                NioSettings.set(channel, SocketSetting.REUSE_PORT, 1);
            }
            if (terms.receiveBuffer() > 0) {
                NioSettings.set(channel, SocketSetting.RECEIVE_BUFFER, terms.receiveBuffer());
            }
            try {
                channel.bind(address, terms.backlog());
            } catch (SocketException e) {
                throw Failures.listen(address, e);
            }
            channel.configureBlocking(false);
            return new Bound<>(
                    new NioAcceptor(channel, terms.accepted()), (InetSocketAddress) channel.getLocalAddress());
        });
    }

    /** Tried on a separate socket, so that an unsupported setting is reported now and not at each accept. */
    private static void requireSupported(ListenTerms terms) throws IOException {
        if (terms.fastOpen() > 0) {
            throw NioSettings.unsupported("TCP_FASTOPEN", "a listener");
        }
        if (!terms.accepted().isEmpty()) {
            try (SocketChannel trial = open("listen", SocketChannel::open)) {
                setAll(trial, terms.accepted());
            }
        }
    }

    private static void setAll(SocketChannel channel, Map<SocketSetting, Integer> settings) throws IOException {
        for (Map.Entry<SocketSetting, Integer> each : settings.entrySet()) {
            NioSettings.set(channel, each.getKey(), each.getValue());
        }
    }

    @Override
    public Begun connect(InetSocketAddress address, Map<SocketSetting, Integer> settings) throws IOException {
        SocketChannel channel = open("connect to " + address, SocketChannel::open);
        return orClose(channel, () -> {
            channel.configureBlocking(false);
            setAll(channel, settings);
            try {
                boolean connected = channel.connect(address);
                return new Begun(new NioStream(channel), connected);
            } catch (SocketException e) {
                throw Failures.connect(address, e);
            }
        });
    }

    @Override
    public AcceptCalls listen(UnixName name, int backlog, @Nullable Set<PosixFilePermission> permissions)
            throws IOException {
        UnixDomainSocketAddress path = pathOf(name, "listen at ");
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        return orClose(channel, () -> {
            try {
                channel.bind(path, backlog);
            } catch (SocketException e) {
                throw Failures.listen(name, e);
            }
            if (permissions != null) {
                setPermissions(path.getPath(), permissions);
            }
            channel.configureBlocking(false);
            return new NioAcceptor(channel, Map.of());
        });
    }

    /** If that fails, so does the listener, and its file goes. */
    private static void setPermissions(Path file, Set<PosixFilePermission> permissions) throws IOException {
        boolean done = false;
        try {
            Files.setPosixFilePermissions(file, permissions);
            done = true;
        } finally {
            if (!done) {
                Files.deleteIfExists(file);
            }
        }
    }

    @Override
    public StreamCalls connect(UnixName name) throws IOException {
        UnixDomainSocketAddress path = pathOf(name, "connect to ");
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        return orClose(channel, () -> {
            channel.configureBlocking(false);
            boolean connected;
            try {
                connected = channel.connect(path);
            } catch (SocketException e) {
                throw Failures.connect(name, e);
            }
            if (!connected) {
                // A Unix socket connects immediately or fails. Waiting for it would never end.
                throw Failures.queueFull(name, null);
            }
            return new NioStream(channel);
        });
    }

    private static UnixDomainSocketAddress pathOf(UnixName name, String doing) {
        Path path = name.path();
        if (path == null) {
            throw new UnsupportedOperationException("cannot " + doing + name
                    + ": the backend nio knows no abstract names; use a path, or a native backend on Linux");
        }
        return UnixDomainSocketAddress.of(path);
    }

    @Override
    public Bound<UdpCalls> udp(InetSocketAddress address, boolean reusePort, int receiveBuffer) throws IOException {
        DatagramChannel channel = open(address);
        return orClose(channel, () -> {
            if (reusePort) {
                NioSettings.set(channel, SocketSetting.REUSE_PORT, 1);
            }
            if (receiveBuffer > 0) {
                NioSettings.set(channel, SocketSetting.RECEIVE_BUFFER, receiveBuffer);
            }
            try {
                channel.bind(address);
            } catch (SocketException e) {
                throw Failures.udp(address, e);
            }
            channel.configureBlocking(false);
            return new Bound<>(new NioUdp(channel), (InetSocketAddress) channel.getLocalAddress());
        });
    }

    /**
     * Supports both address families only for the wildcard: bound to an IPv4 address, it would show that as an IPv6
     * one.
     */
    private static DatagramChannel open(InetSocketAddress address) throws IOException {
        return address.getAddress() instanceof Inet4Address four && !four.isAnyLocalAddress()
                ? DatagramChannel.open(StandardProtocolFamily.INET)
                : DatagramChannel.open();
    }

    @Override
    public PipeEnds pipe() throws IOException {
        Pipe pipe = Pipe.open();
        return orClose(
                pipe.source(),
                () -> orClose(pipe.sink(), () -> {
                    pipe.source().configureBlocking(false);
                    pipe.sink().configureBlocking(false);
                    return new PipeEnds(new NioBytes(pipe.source()), new NioBytes(pipe.sink()));
                }));
    }

    private interface Step<T> {
        T take() throws IOException;
    }

    private static <T> T open(String doing, Step<T> how) throws IOException {
        try {
            return how.take();
        } catch (IOException e) {
            throw Failures.lack(doing, e);
        }
    }

    /** Closes a channel that does not become a source. */
    private static <T> T orClose(SelectableChannel channel, Step<T> step) throws IOException {
        boolean done = false;
        try {
            T result = step.take();
            done = true;
            return result;
        } finally {
            if (!done) {
                channel.close();
            }
        }
    }

    /** Opening a named pipe would wait for the other end, so the type of the file is checked first. */
    @Override
    public FileCalls file(Path path, Set<? extends OpenOption> options) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            throw new FileSystemException(
                    path.toString(), null, "not a regular file; open it otherwise and adopt its descriptor");
        }
        return new NioFile(FileChannel.open(path, options));
    }

    @Override
    public WatchCalls fileWatch() throws IOException {
        NioWatch watch = new NioWatch(FileSystems.getDefault().newWatchService());
        watch.start();
        return watch;
    }

    @Override
    public ProcessCalls start(ChildCommand child) throws IOException {
        return NioProcess.start(child);
    }

    @Override
    public String toString() {
        return "java.nio channels";
    }
}
