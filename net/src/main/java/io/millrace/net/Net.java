package io.millrace.net;

import io.millrace.net.family.AcceptCalls;
import io.millrace.net.family.Failures;
import io.millrace.net.family.SourceFactory;
import io.millrace.net.family.StreamCalls;
import io.millrace.net.family.UdpCalls;
import io.millrace.net.fd.FdSourceFactory;
import io.millrace.net.memory.MemoryStreams;
import io.millrace.net.nio.NioSourceFactory;
import io.millrace.poll.BackendReport;
import io.millrace.poll.Poll;
import io.millrace.poll.internal.PollAccess;
import io.millrace.sys.SelectorProvider;
import io.millrace.sys.selector.Backends;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Creates sockets, pipes, files and child processes for a poll.
 *
 * <p>If you use {@link Poll#open()} and the static factories ({@link TcpListener#bind}, {@link TcpStream#connect},
 * {@link Pipe#open}), you do not need this class: both follow the default backend. If you open a poll on a backend of
 * your choice, create its sources with {@link #of}:
 *
 * {@snippet :
 * Poll poll = Poll.builder().backend("nio").open();
 * TcpListener listener = Net.of(poll).listen(address);
 * }
 *
 * <p>There are two families of sources: file descriptors, for the backends that make system calls (epoll, kqueue,
 * poll(2)), and {@code java.nio} channels, for the {@code nio} backend. A poll takes sources of one family only;
 * registering one of the other family throws.
 *
 * <p><b>Threads.</b> Any thread may call any method. Nothing here waits. Host names are not resolved, because that
 * would wait: see {@link Resolver}.
 *
 * <h2>Portability</h2>
 * Channels work everywhere. Descriptors need a Unix system and native access for the module {@code io.millrace.sys}.
 */
public final class Net {
    /** How many connections may wait to be accepted, if the caller does not say. */
    public static final int DEFAULT_BACKLOG = 1024;

    private static final Net NIO = new Net(new NioSourceFactory());
    private static final Net NATIVE = new Net(new FdSourceFactory(NIO.factory));

    /** The result of {@link #standard}. If two threads compute it at once, both find the same. */
    private static volatile @Nullable Net standard;

    static {
        MemoryStreams.set(new MemoryStreams() {
            @Override
            protected TcpStream open(StreamCalls calls, InetSocketAddress remote) {
                return new TcpStream(calls, remote, true);
            }
        });
    }

    private final SourceFactory factory;

    private Net(SourceFactory factory) {
        this.factory = factory;
    }

    /**
     * Returns the family of the default backend, which is the one that {@link Poll#open()} uses: the best of this
     * machine, or the one named by {@code -Dmillrace.backend=}. The choice is made once; setting the property later has
     * no effect.
     *
     * @return always the same instance
     * @throws IllegalArgumentException if there is no backend with that name
     * @throws IllegalStateException if the named backend cannot be opened here
     */
    public static Net standard() {
        Net known = standard;
        if (known == null) {
            known = ofBackend(BackendReport.probe().chosen());
            standard = known;
        }
        return known;
    }

    /**
     * Returns the family of file descriptors.
     *
     * @return always the same instance
     * @throws IllegalStateException if there are no descriptors on this platform, or native access is denied
     */
    public static Net natively() {
        // A system without poll(2) has no descriptors that we could use. The provider remembers the answer.
        for (SelectorProvider provider : Backends.all()) {
            if (provider.name().equals("poll")) {
                SelectorProvider.Refusal refusal = provider.refusal();
                if (refusal != null) {
                    throw new IllegalStateException("cannot make native sources: " + refusal.reason() + ". "
                            + refusal.remedy() + " Or use Net.nio() and a poll with backend nio.");
                }
            }
        }
        return NATIVE;
    }

    /**
     * Returns the family of {@code java.nio} channels.
     *
     * @return always the same instance
     */
    public static Net nio() {
        return NIO;
    }

    /**
     * Returns the family that can be registered with the given poll.
     *
     * @param poll the poll that will wait for the sources
     * @return the family of its backend
     */
    public static Net of(Poll poll) {
        return PollAccess.get().takesChannels(poll) ? NIO : NATIVE;
    }

    private static Net ofBackend(String name) {
        return name.equals("nio") ? NIO : NATIVE;
    }

    /**
     * Listens on an address, with a backlog of {@value #DEFAULT_BACKLOG}.
     *
     * @param address where to listen; with port 0 the system chooses a free one, see {@link TcpListener#localAddress()}
     * @return a listener, which the caller must close
     * @throws java.net.BindException if the address is in use, does not belong to this machine, or needs a privilege
     * @throws IOException if the system refuses for another reason
     * @throws IllegalArgumentException if the address is unresolved
     */
    public TcpListener listen(InetSocketAddress address) throws IOException {
        return listen(address, DEFAULT_BACKLOG);
    }

    /**
     * Listens on an address.
     *
     * @param address where to listen; with port 0 the system chooses a free one, see {@link TcpListener#localAddress()}
     * @param backlog how many connections may wait to be accepted; the system may reduce it
     * @return a listener, which the caller must close
     * @throws java.net.BindException if the address is in use, does not belong to this machine, or needs a privilege
     * @throws IOException if the system refuses for another reason
     * @throws IllegalArgumentException if the address is unresolved, or the backlog is not positive
     */
    public TcpListener listen(InetSocketAddress address, int backlog) throws IOException {
        return listen(address, ListenOptions.standard().withBacklog(backlog));
    }

    /**
     * Listens on an address.
     *
     * @param address where to listen; with port 0 the system chooses a free one, see {@link TcpListener#localAddress()}
     * @param options settings that must be known before it is bound
     * @return a listener, which the caller must close
     * @throws java.net.BindException if the address is in use, does not belong to this machine, or needs a privilege
     * @throws IOException if the system refuses for another reason
     * @throws IllegalArgumentException if the address is unresolved
     * @throws UnsupportedOperationException if this family does not support shared ports or fast connections, or cannot
     *     set the times of keep-alive, on this system
     */
    public TcpListener listen(InetSocketAddress address, ListenOptions options) throws IOException {
        requireResolved(address, "listen on ");
        SourceFactory.Bound<AcceptCalls> bound = factory.listen(address, options.terms());
        return new TcpListener(bound.calls(), bound.local());
    }

    /**
     * Starts to connect. The stream becomes writable when the attempt has ended; then {@link TcpStream#finishConnect}
     * says how.
     *
     * @param address the address to connect to
     * @return a connecting stream, which the caller must close
     * @throws java.net.ConnectException if it is known at once that the address cannot be reached
     * @throws IOException if the system refuses for another reason
     * @throws IllegalArgumentException if the address is unresolved
     */
    public TcpStream connect(InetSocketAddress address) throws IOException {
        return connect(address, ConnectOptions.standard());
    }

    /**
     * Starts to connect, with options that are set before the first packet is sent. Otherwise like {@link
     * #connect(InetSocketAddress)}.
     *
     * @param address the address to connect to
     * @param options the initial settings of the stream
     * @return a connecting stream, which the caller must close
     * @throws java.net.ConnectException if it is known at once that the address cannot be reached
     * @throws IOException if the system refuses for another reason
     * @throws IllegalArgumentException if the address is unresolved
     * @throws UnsupportedOperationException if NIO cannot set the times of keep-alive on this system
     */
    public TcpStream connect(InetSocketAddress address, ConnectOptions options) throws IOException {
        requireResolved(address, "connect to ");
        SourceFactory.Begun begun = factory.connect(address, options.settings());
        return new TcpStream(begun.calls(), address, begun.connected());
    }

    /**
     * Listens for processes of this machine, with a backlog of {@value #DEFAULT_BACKLOG}. {@link UnixListener} explains
     * what happens to the file.
     *
     * @param address where to listen; the file must not exist
     * @return a listener, which the caller must close
     * @throws java.net.BindException if the file exists, the path is too long, or its directory is missing or not
     *     accessible
     * @throws IOException if the system refuses for another reason
     * @throws UnsupportedOperationException if this is an abstract name and the family is NIO
     */
    public UnixListener listen(UnixAddress address) throws IOException {
        return listen(address, DEFAULT_BACKLOG);
    }

    /**
     * Listens for processes of this machine. {@link UnixListener} explains what happens to the file.
     *
     * @param address where to listen; the file must not exist
     * @param backlog how many connections may wait to be accepted; the system may reduce it
     * @return a listener, which the caller must close
     * @throws java.net.BindException if the file exists, the path is too long, or its directory is missing or not
     *     accessible
     * @throws IOException if the system refuses for another reason
     * @throws IllegalArgumentException if the backlog is not positive
     * @throws UnsupportedOperationException if this is an abstract name and the family is NIO
     */
    public UnixListener listen(UnixAddress address, int backlog) throws IOException {
        return listen(address, UnixListenOptions.standard().withBacklog(backlog));
    }

    /**
     * Listens for processes of this machine. {@link UnixListener} explains what happens to the file.
     *
     * @param address where to listen
     * @param options what its file is like, and whether a stale one is replaced
     * @return a listener, which the caller must close
     * @throws java.net.BindException if the file exists and is not to be replaced, or something listens there; if the
     *     path is too long, or its directory is missing or not accessible
     * @throws IOException if the system refuses for another reason
     * @throws UnsupportedOperationException if this is an abstract name and the family is NIO, or permissions were
     *     set and the file system has none
     */
    public UnixListener listen(UnixAddress address, UnixListenOptions options) throws IOException {
        if (options.replaceStale()) {
            removeStale(address);
        }
        return new UnixListener(
                factory.listen(address.name(), options.backlog(), options.permissions()),
                address,
                SocketFile.of(address));
    }

    /**
     * Removes the file of a listener that no longer exists: a connect is refused. The file that is removed is the one
     * that was tried, except for the short gap between the comparison and the removal that {@link SocketFile} has too.
     */
    private void removeStale(UnixAddress address) throws IOException {
        SocketFile found = SocketFile.ofSocket(address);
        if (found == null) {
            return; // there is none, or it is something else, which the bind reports
        }
        try {
            connect(address).close();
        } catch (ConnectException e) {
            if (Failures.isRefused(e)) {
                found.delete();
                return;
            }
            throw Failures.notKnownToBeStale(address.name(), e);
        }
        throw Failures.alive(address.name());
    }

    /**
     * Connects to a process of this machine, immediately.
     *
     * @param address the listener's address
     * @return a connected stream, which the caller must close
     * @throws java.net.ConnectException if nothing listens there, too many connections are waiting there, or the path
     *     is not accessible
     * @throws IOException if the system refuses for another reason
     * @throws UnsupportedOperationException if this is an abstract name and the family is NIO
     */
    public UnixStream connect(UnixAddress address) throws IOException {
        return new UnixStream(factory.connect(address.name()), address);
    }

    /**
     * Binds a UDP socket.
     *
     * @param address where to receive; with port 0 the system chooses a free one, see {@link UdpSocket#localAddress()}
     * @return a socket, which the caller must close
     * @throws java.net.BindException if the address is in use, does not belong to this machine, or needs a privilege
     * @throws IOException if the system refuses for another reason
     * @throws IllegalArgumentException if the address is unresolved
     */
    public UdpSocket udp(InetSocketAddress address) throws IOException {
        return udp(address, UdpOptions.standard());
    }

    /**
     * Binds a UDP socket.
     *
     * @param address where to receive; with port 0 the system chooses a free one, see {@link UdpSocket#localAddress()}
     * @param options settings that must be known before it is bound
     * @return a socket, which the caller must close
     * @throws java.net.BindException if the address is in use, does not belong to this machine, or needs a privilege
     * @throws IOException if the system refuses for another reason
     * @throws IllegalArgumentException if the address is unresolved
     * @throws UnsupportedOperationException if NIO has no shared ports on this system
     */
    public UdpSocket udp(InetSocketAddress address, UdpOptions options) throws IOException {
        requireResolved(address, "bind a UDP socket to ");
        SourceFactory.Bound<UdpCalls> bound = factory.udp(address, options.reusePort(), options.receiveBuffer());
        return new UdpSocket(bound.calls(), bound.local());
    }

    /**
     * Opens a pipe.
     *
     * @return a pipe, which the caller must close
     * @throws IOException if the system refuses, for example because too many files are open
     */
    public Pipe pipe() throws IOException {
        SourceFactory.PipeEnds ends = factory.pipe();
        return new Pipe(ends.reading(), ends.writing());
    }

    static void requireResolved(InetSocketAddress address, String doing) {
        if (Objects.requireNonNull(address, "address").isUnresolved()) {
            throw new IllegalArgumentException("cannot " + doing + address + ": the name is not resolved; pass new"
                    + " InetSocketAddress(InetAddress.getByName(host), port), and"
                    + " resolve it off the loop, because that waits");
        }
    }

    /**
     * Opens a regular file.
     *
     * @param path a path of the default file system
     * @param options as for {@link java.nio.channels.FileChannel#open}, except {@link
     *     StandardOpenOption#DELETE_ON_CLOSE}; without any, opens for reading
     * @return a source, which the caller must close
     * @throws java.nio.file.NoSuchFileException if the file does not exist and was not to be created
     * @throws java.nio.file.FileAlreadyExistsException if the file exists and was to be created
     * @throws java.nio.file.AccessDeniedException if the access is not permitted
     * @throws IOException if the system refuses for another reason, or it is not a regular file
     * @throws IllegalArgumentException if the options contradict each other
     * @throws UnsupportedOperationException if an option is not supported
     */
    public FileSource file(Path path, OpenOption... options) throws IOException {
        Set<OpenOption> all = Set.copyOf(Arrays.asList(options));
        if (all.contains(StandardOpenOption.DELETE_ON_CLOSE)) {
            throw new UnsupportedOperationException(
                    "cannot open " + path + " with DELETE_ON_CLOSE; delete it when it is open, or when you are done");
        }
        try {
            return new FileSource(factory.file(path, all), path);
        } catch (IOException e) {
            throw Failures.lack("open " + path, e);
        }
    }

    /**
     * Opens a watch for files and directories that watches nothing yet.
     *
     * @return a watch, which the caller must close
     * @throws IOException if the system refuses, for example because too many files or watches are open
     */
    public FileWatch fileWatch() throws IOException {
        return new FileWatch(factory.fileWatch());
    }

    /**
     * Returns a builder for a child process.
     *
     * @param command the program (a path, or a name that is searched for in PATH) and its arguments; no shell
     *     interprets them
     * @return a builder with pipes for all three streams
     * @throws IllegalArgumentException if there is no program
     */
    public ChildProcess.Builder process(String... command) {
        return new ChildProcess.Builder(factory, command);
    }

    @Override
    public String toString() {
        return "Net of " + factory;
    }
}
