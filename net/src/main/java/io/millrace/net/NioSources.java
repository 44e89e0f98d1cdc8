package io.millrace.net;

import io.millrace.sys.SocketSetting;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.DatagramChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Set;

/** Sources that are {@code java.nio} channels. */
final class NioSources implements Sources {
    @Override
    public TcpListener listen(InetSocketAddress address, ListenOptions options) throws IOException {
        // NIO itself sets SO_REUSEADDR, except on Windows, where it would let two programs share a port.
        ServerSocketChannel channel = open("listen on " + address, ServerSocketChannel::open);
        return orClose(channel, () -> {
            if (options.reusePort()) {
                NioSettings.set(channel, SocketSetting.REUSE_PORT, 1);
            }
            if (options.receiveBuffer() > 0) {
                NioSettings.set(channel, SocketSetting.RECEIVE_BUFFER, options.receiveBuffer());
            }
            try {
                channel.bind(address, options.backlog());
            } catch (SocketException e) {
                throw Failures.listen(address, e);
            }
            channel.configureBlocking(false);
            return new TcpListener(new NioAcceptor(channel), (InetSocketAddress) channel.getLocalAddress());
        });
    }

    @Override
    public TcpStream connect(InetSocketAddress address) throws IOException {
        SocketChannel channel = open("connect to " + address, SocketChannel::open);
        return orClose(channel, () -> {
            channel.configureBlocking(false);
            try {
                boolean connected = channel.connect(address);
                return new TcpStream(new NioStream(channel), address, connected);
            } catch (SocketException e) {
                throw Failures.connect(address, e);
            }
        });
    }

    @Override
    public UnixListener listen(UnixAddress address, int backlog) throws IOException {
        UnixDomainSocketAddress path = pathOf(address, "listen at ");
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        return orClose(channel, () -> {
            try {
                channel.bind(path, backlog);
            } catch (SocketException e) {
                throw Failures.listen(address, e);
            }
            channel.configureBlocking(false);
            return new UnixListener(new NioAcceptor(channel), address, SocketFile.of(address));
        });
    }

    @Override
    public UnixStream connect(UnixAddress address) throws IOException {
        UnixDomainSocketAddress path = pathOf(address, "connect to ");
        SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
        return orClose(channel, () -> {
            channel.configureBlocking(false);
            boolean connected;
            try {
                connected = channel.connect(path);
            } catch (SocketException e) {
                throw Failures.connect(address, e);
            }
            if (!connected) {
                // A Unix socket connects at once or fails. To wait for it would be to wait for ever.
                throw Failures.queueFull(address, null);
            }
            return new UnixStream(new NioStream(channel), address);
        });
    }

    private static UnixDomainSocketAddress pathOf(UnixAddress address, String doing) {
        Path path = address.path();
        if (path == null) {
            throw new UnsupportedOperationException("cannot " + doing + address
                    + ": the backend nio knows no abstract names; use a path, or a native backend on Linux");
        }
        return UnixDomainSocketAddress.of(path);
    }

    @Override
    public UdpSocket udp(InetSocketAddress address, UdpOptions options) throws IOException {
        DatagramChannel channel = open(address);
        return orClose(channel, () -> {
            if (options.reusePort()) {
                NioSettings.set(channel, SocketSetting.REUSE_PORT, 1);
            }
            if (options.receiveBuffer() > 0) {
                NioSettings.set(channel, SocketSetting.RECEIVE_BUFFER, options.receiveBuffer());
            }
            try {
                channel.bind(address);
            } catch (SocketException e) {
                throw Failures.udp(address, e);
            }
            channel.configureBlocking(false);
            return new UdpSocket(new NioUdp(channel), (InetSocketAddress) channel.getLocalAddress());
        });
    }

    /** Of both families only for the wildcard: bound to an IPv4 address it would show that as one of IPv6. */
    private static DatagramChannel open(InetSocketAddress address) throws IOException {
        return address.getAddress() instanceof Inet4Address four && !four.isAnyLocalAddress()
                ? DatagramChannel.open(StandardProtocolFamily.INET)
                : DatagramChannel.open();
    }

    @Override
    public Pipe pipe() throws IOException {
        java.nio.channels.Pipe pipe = java.nio.channels.Pipe.open();
        return orClose(
                pipe.source(),
                () -> orClose(pipe.sink(), () -> {
                    pipe.source().configureBlocking(false);
                    pipe.sink().configureBlocking(false);
                    return new Pipe(new NioBytes(pipe.source()), new NioBytes(pipe.sink()));
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

    @Override
    public FileSource file(Path path, Set<? extends OpenOption> options) throws IOException {
        return new FileSource(fileChannel(path, options), path);
    }

    /** Whoever opens a pipe by its name waits for the other end, so what is there is looked at first. */
    static NioFile fileChannel(Path path, Set<? extends OpenOption> options) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            throw new FileSystemException(
                    path.toString(), null, "not a regular file; open it otherwise and adopt its descriptor");
        }
        return new NioFile(FileChannel.open(path, options));
    }

    @Override
    public FileWatch fileWatch() throws IOException {
        return watchService();
    }

    static FileWatch watchService() throws IOException {
        NioWatch watch = new NioWatch(FileSystems.getDefault().newWatchService());
        watch.start();
        return new FileWatch(watch);
    }

    @Override
    public ProcessTransport start(ChildProcess.Builder child) throws IOException {
        return NioProcess.start(child);
    }

    @Override
    public String toString() {
        return "java.nio channels";
    }
}
