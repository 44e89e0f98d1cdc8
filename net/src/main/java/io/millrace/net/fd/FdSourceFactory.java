package io.millrace.net.fd;

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
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Os;
import io.millrace.sys.posix.Datagrams;
import io.millrace.sys.posix.Files;
import io.millrace.sys.posix.ListenTerms;
import io.millrace.sys.posix.Pipes;
import io.millrace.sys.posix.SocketSetting;
import io.millrace.sys.posix.Sockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Creates sources with file descriptors. */
public final class FdSourceFactory implements SourceFactory {
    private final SourceFactory elsewhere;

    /**
     * Creates the family of descriptors.
     *
     * @param elsewhere creates the files and watches on systems where descriptors cannot be used for them
     */
    public FdSourceFactory(SourceFactory elsewhere) {
        this.elsewhere = elsewhere;
    }

    @Override
    public Bound<AcceptCalls> listen(InetSocketAddress address, ListenTerms terms) throws IOException {
        Descriptor descriptor;
        try {
            // Always set on the listener: a system that refuses a setting says so now, and not at each accept.
            descriptor = Sockets.listen(address, terms);
        } catch (ErrnoException e) {
            throw Failures.listen(address, e);
        }
        return new Bound<>(
                new FdAcceptor(descriptor, false, Sockets.HANDS_DOWN_SETTINGS ? Map.of() : terms.accepted()),
                localAddressOrClose(descriptor));
    }

    @Override
    public Begun connect(InetSocketAddress address, Map<SocketSetting, Integer> settings) throws IOException {
        try {
            Sockets.Connecting connecting = Sockets.connect(address, settings);
            return new Begun(new FdStream(connecting.descriptor()), connecting.connected());
        } catch (ErrnoException e) {
            throw Failures.connect(address, e);
        }
    }

    @Override
    public AcceptCalls listen(UnixName name, int backlog, @Nullable Set<PosixFilePermission> permissions)
            throws IOException {
        Descriptor descriptor;
        try {
            descriptor = Sockets.bind(name.bytes());
        } catch (ErrnoException e) {
            throw Failures.listen(name, e);
        }
        Path file = name.path();
        boolean done = false;
        try {
            if (permissions != null && file != null) {
                // Before it listens: until then nobody can connect, whatever the umask has left.
                java.nio.file.Files.setPosixFilePermissions(file, permissions);
            }
            Sockets.listen(descriptor, backlog);
            done = true;
        } catch (ErrnoException e) {
            throw Failures.listen(name, e);
        } finally {
            if (!done) {
                descriptor.close();
                if (file != null) {
                    java.nio.file.Files.deleteIfExists(file);
                }
            }
        }
        return new FdAcceptor(descriptor, true, Map.of());
    }

    @Override
    public StreamCalls connect(UnixName name) throws IOException {
        try {
            return new FdStream(Sockets.connect(name.bytes()));
        } catch (ErrnoException e) {
            throw e.is(Errno.EAGAIN) ? Failures.queueFull(name, e) : Failures.connect(name, e);
        }
    }

    @Override
    public Bound<UdpCalls> udp(InetSocketAddress address, boolean reusePort, int receiveBuffer) throws IOException {
        Datagrams.Opened opened;
        try {
            opened = Datagrams.open(address, reusePort, receiveBuffer);
        } catch (ErrnoException e) {
            throw Failures.udp(address, e);
        }
        return new Bound<>(new FdUdp(opened), localAddressOrClose(opened.descriptor()));
    }

    private static InetSocketAddress localAddressOrClose(Descriptor descriptor) throws ErrnoException {
        try {
            return Sockets.localAddress(descriptor.fd());
        } catch (ErrnoException e) {
            descriptor.close();
            throw e;
        }
    }

    @Override
    public PipeEnds pipe() throws IOException {
        Pipes.Ends ends = Pipes.open();
        return new PipeEnds(new FdPipe(ends.reader(), false), new FdPipe(ends.writer(), false));
    }

    @Override
    public FileCalls file(Path path, Set<? extends OpenOption> options) throws IOException {
        return Files.isSupported() ? new FdFile(Files.open(path, options)) : elsewhere.file(path, options);
    }

    @Override
    public WatchCalls fileWatch() throws IOException {
        if (Os.current() != Os.LINUX) {
            return elsewhere.fileWatch();
        }
        try {
            return FdWatch.open();
        } catch (ErrnoException e) {
            throw Failures.tooManyWatches(e);
        }
    }

    @Override
    public ProcessCalls start(ChildCommand child) throws IOException {
        return FdProcess.start(child);
    }

    @Override
    public String toString() {
        return "descriptors";
    }
}
