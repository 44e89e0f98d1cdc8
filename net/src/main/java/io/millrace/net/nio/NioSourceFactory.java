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
import java.util.Map;
import java.util.Set;

/** Makes sources that are {@code java.nio} channels. */
public final class NioSourceFactory implements SourceFactory {
    @Override
    public Bound<AcceptCalls> listen(
            InetSocketAddress address,
            int backlog,
            boolean reusePort,
            int receiveBuffer,
            Map<SocketSetting, Integer> accepted)
            throws IOException {
        requireSupported(accepted);
        // NIO itself sets SO_REUSEADDR, except on Windows, where it would let two programs share a port.
        ServerSocketChannel channel = open("listen on " + address, ServerSocketChannel::open);
        return orClose(channel, () -> {
            if (reusePort) {
                NioSettings.set(channel, SocketSetting.REUSE_PORT, 1);
            }
            if (receiveBuffer > 0) {
                NioSettings.set(channel, SocketSetting.RECEIVE_BUFFER, receiveBuffer);
            }
            try {
                channel.bind(address, backlog);
            } catch (SocketException e) {
                throw Failures.listen(address, e);
            }
            channel.configureBlocking(false);
            return new Bound<>(new NioAcceptor(channel, accepted), (InetSocketAddress) channel.getLocalAddress());
        });
    }

    /** Tried on a socket that is nobody's: what this system cannot do is said now, and not at each accept. */
    private static void requireSupported(Map<SocketSetting, Integer> settings) throws IOException {
        if (!settings.isEmpty()) {
            try (SocketChannel trial = open("listen", SocketChannel::open)) {
                for (Map.Entry<SocketSetting, Integer> each : settings.entrySet()) {
                    NioSettings.set(trial, each.getKey(), each.getValue());
                }
            }
        }
    }

    @Override
    public Begun connect(InetSocketAddress address) throws IOException {
        SocketChannel channel = open("connect to " + address, SocketChannel::open);
        return orClose(channel, () -> {
            channel.configureBlocking(false);
            try {
                boolean connected = channel.connect(address);
                return new Begun(new NioStream(channel), connected);
            } catch (SocketException e) {
                throw Failures.connect(address, e);
            }
        });
    }

    @Override
    public AcceptCalls listen(UnixName name, int backlog) throws IOException {
        UnixDomainSocketAddress path = pathOf(name, "listen at ");
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        return orClose(channel, () -> {
            try {
                channel.bind(path, backlog);
            } catch (SocketException e) {
                throw Failures.listen(name, e);
            }
            channel.configureBlocking(false);
            return new NioAcceptor(channel, Map.of());
        });
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
                // A Unix socket connects at once or fails. To wait for it would be to wait for ever.
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

    /** Of both families only for the wildcard: bound to an IPv4 address it would show that as one of IPv6. */
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

    /** A channel that does not become a source must not stay open. */
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

    /** Whoever opens a pipe by its name waits for the other end, so what is there is looked at first. */
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
