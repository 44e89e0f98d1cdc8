package io.millrace.net;

import io.millrace.sys.Datagrams;
import io.millrace.sys.Descriptor;
import io.millrace.sys.Errno;
import io.millrace.sys.ErrnoException;
import io.millrace.sys.Files;
import io.millrace.sys.Os;
import io.millrace.sys.Pipes;
import io.millrace.sys.Sockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Set;

/** Sources that are file descriptors. */
final class FdSources implements Sources {
    @Override
    public TcpListener listen(InetSocketAddress address, ListenOptions options) throws IOException {
        Descriptor descriptor;
        try {
            descriptor = Sockets.listen(address, options.backlog(), options.reusePort(), options.receiveBuffer());
        } catch (ErrnoException e) {
            throw Failures.listen(address, e);
        }
        try {
            return new TcpListener(new FdAcceptor(descriptor, false), Sockets.localAddress(descriptor.fd()));
        } catch (ErrnoException e) {
            descriptor.close();
            throw e;
        }
    }

    @Override
    public TcpStream connect(InetSocketAddress address) throws IOException {
        try {
            Sockets.Connecting connecting = Sockets.connect(address);
            return new TcpStream(new FdStream(connecting.descriptor()), address, connecting.connected());
        } catch (ErrnoException e) {
            throw Failures.connect(address, e);
        }
    }

    @Override
    public UnixListener listen(UnixAddress address, int backlog) throws IOException {
        try {
            Descriptor descriptor = Sockets.listen(address.kernelName(), backlog);
            return new UnixListener(new FdAcceptor(descriptor, true), address, SocketFile.of(address));
        } catch (ErrnoException e) {
            throw Failures.listen(address, e);
        }
    }

    @Override
    public UnixStream connect(UnixAddress address) throws IOException {
        try {
            return new UnixStream(new FdStream(Sockets.connect(address.kernelName())), address);
        } catch (ErrnoException e) {
            throw e.is(Errno.EAGAIN) ? Failures.queueFull(address, e) : Failures.connect(address, e);
        }
    }

    @Override
    public UdpSocket udp(InetSocketAddress address, UdpOptions options) throws IOException {
        Datagrams.Opened opened;
        try {
            opened = Datagrams.open(address, options.reusePort(), options.receiveBuffer());
        } catch (ErrnoException e) {
            throw Failures.udp(address, e);
        }
        Descriptor descriptor = opened.descriptor();
        try {
            return new UdpSocket(new FdUdp(opened), Sockets.localAddress(descriptor.fd()));
        } catch (ErrnoException e) {
            descriptor.close();
            throw e;
        }
    }

    @Override
    public Pipe pipe() throws IOException {
        Pipes.Ends ends = Pipes.open();
        return new Pipe(new FdBytes(ends.reader(), FdBytes.Kind.PIPE), new FdBytes(ends.writer(), FdBytes.Kind.PIPE));
    }

    @Override
    public FileSource file(Path path, Set<? extends OpenOption> options) throws IOException {
        return new FileSource(
                Files.isSupported() ? new FdFile(Files.open(path, options)) : NioSources.fileChannel(path, options),
                path);
    }

    @Override
    public FileWatch fileWatch() throws IOException {
        if (Os.current() != Os.LINUX) {
            return NioSources.watchService();
        }
        try {
            return new FileWatch(FdWatch.open());
        } catch (ErrnoException e) {
            throw Failures.tooManyWatches(e);
        }
    }

    @Override
    public ProcessTransport start(ChildProcess.Builder child) throws IOException {
        return FdProcess.start(child);
    }

    @Override
    public String toString() {
        return "descriptors";
    }
}
