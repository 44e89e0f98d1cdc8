package io.millrace.server;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventLoop;
import io.millrace.engine.EventManager;
import io.millrace.engine.Reactors;
import io.millrace.engine.internal.Deadline;
import io.millrace.engine.internal.SpareDescriptor;
import io.millrace.engine.transport.Acceptor;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.net.ListenOptions;
import io.millrace.net.PassedDescriptor;
import io.millrace.net.StreamListener;
import io.millrace.net.Systemd;
import io.millrace.net.TcpListener;
import io.millrace.net.UnixAddress;
import io.millrace.net.UnixListenOptions;
import io.millrace.net.UnixListener;
import io.millrace.server.connection.ConnectionDispatcher;
import io.millrace.server.connection.PerConnection;
import io.millrace.server.connection.StreamConnection;
import io.millrace.server.group.Connections;
import io.millrace.server.group.GracefulEnd;
import io.millrace.server.group.LoopGroup;
import io.millrace.server.group.Monitor;
import io.millrace.server.group.Reception;
import io.millrace.server.handover.HandoverTalk;
import io.millrace.server.handover.SocketLine;
import io.millrace.server.internal.ServerAccess;
import io.millrace.server.secure.TlsSettings;
import io.millrace.server.support.ConnectionLog;
import io.millrace.server.support.PortCheck;
import io.millrace.server.support.ServerSettings;
import io.millrace.server.support.UnixPeers;
import io.millrace.server.tls.Tls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A TCP server: accepts connections and calls your handler. It also listens at Unix sockets: see {@link
 * Builder#address(UnixAddress)}.
 *
 * {@snippet :
 * try (TcpServer server = TcpServer.listen(7007, (connection, data) -> connection.send(data))) {
 *   System.in.read();
 * }
 * }
 *
 * <p><b>What it guarantees.</b> For each connection, {@code onConnect} is called first and {@code onDisconnect} exactly
 * once and last; calls never overlap; bytes stay in order in both directions. A handler that throws, a peer that
 * vanishes and a peer that does not read do not affect other connections. Memory is bounded: see {@link Connection}.
 *
 * <p><b>Threads.</b> Any thread may call any method. Callbacks run where {@link Dispatch} says. By default that is the
 * connection's loop, where they must not block.
 *
 * <p><b>Loops.</b> The server runs on the loops of an {@link EventManager}, the global one, one of yours, or its own; or on an {@link EventLoop}.
 * If the kernel can distribute connections over several listeners on one port (SO_REUSEPORT), each loop accepts its own
 * connections; otherwise one loop accepts, and connections are assigned to the loops in rotation. A connection stays on
 * its loop.
 *
 * <h2>Portability</h2>
 * Works everywhere; Unix sockets on Windows with NIO only. SO_REUSEPORT is used on Linux. The socket options are those of {@link ListenOptions}, with the same
 * portability: on Linux they cost nothing at accept. {@link Builder#fastOpen} needs a native backend; with NIO, {@code
 * start} throws {@link UnsupportedOperationException}.
 */
public final class TcpServer implements Monitored, AutoCloseable {
    // One class, because a server is little more than the order in which other things are started and ended: listeners,
    // loops, connections, threads for callbacks. A third of it is the builder, which is mostly Javadoc.
    // StreamConnection deals with a single connection, and Connections with all of them.

    static {
        ServerAccess.set(new HostedServers());
    }

    private final ServerSettings settings;
    private final LoopGroup loops;
    private final ConnectionDispatcher callbacks;
    private final Connections connections;
    private final Reception reception;
    private final List<StreamListener> listeners = new ArrayList<>();
    /** One for each listener, once they accept. Guarded by itself. */
    private final List<Accepting> acceptances = new ArrayList<>();
    /** Whether another process serves what waits at the listeners when this one stops accepting. */
    private volatile boolean leavesWaiting;

    private final AtomicBoolean stopBegun = new AtomicBoolean();
    private final CompletableFuture<Void> stopped = new CompletableFuture<>();

    private final InetSocketAddress address;
    /** Null over TCP. */
    private final @Nullable UnixAddress unix;

    private final GracefulEnd ending;
    private final Monitor monitor;

    private TcpServer(Builder builder, ConnectionHandler handler, boolean converses) throws IOException {
        this.settings = builder.settings();
        settings.converses = converses;
        this.connections = builder.connections(settings);
        this.loops = builder.loops.get();
        ConnectionDispatcher opened = null;
        boolean started = false;
        try {
            opened = ConnectionDispatcher.of("millrace-server", settings);
            this.callbacks = opened;
            this.unix = builder.unix;
            InetSocketAddress standIn = unix == null ? null : UnixPeers.standIn(unix);
            this.reception = new Reception(handler, settings, callbacks, connections, standIn);
            this.monitor = new Monitor(loops, connections);
            this.ending = new GracefulEnd(this, loops, callbacks, connections, new Listening());
            Takeover takeover = builder.takeover;
            this.address = listen(builder, standIn);
            if (takeover == null) {
                accept();
            } else {
                takeover.add(builder.name, new Transfer(builder.name));
            }
            started = true;
        } finally {
            if (!started) {
                builder.inherited.forEach(PassedDescriptor::close);
                letNobodyIn(opened);
                loops.endBy(Deadline.after(loops.clock(), Deadline.OF_CLOSE));
            }
        }
    }

    /**
     * Starts a server with the defaults on a port of the loopback interface. To listen on another address, use {@link
     * #builder}. It runs on the global manager, whose threads are daemons: they do not keep the JVM alive when {@code
     * main} returns.
     *
     * @param port the port, or 0 for any free one
     * @param handler called for every connection
     * @return a listening server, which the caller must close
     * @throws IOException if it cannot listen there
     */
    public static TcpServer listen(int port, ConnectionHandler handler) throws IOException {
        return builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .start(handler);
    }

    /**
     * Returns a builder, for settings other than the defaults.
     *
     * @return a builder with the defaults
     */
    public static Builder builder() {
        return new Builder();
    }

    // ---- Starting ----

    private InetSocketAddress listen(Builder builder, @Nullable InetSocketAddress standIn) throws IOException {
        List<PassedDescriptor> passed = passed(builder);
        if (!passed.isEmpty()) {
            try {
                Takeover.requireDescriptors(loops, passed.getFirst());
                for (PassedDescriptor each : passed) {
                    listeners.add(
                            standIn == null
                                    ? each.tcpListener(options(builder))
                                    : each.unixListener(Objects.requireNonNull(unix)));
                }
            } finally {
                passed.forEach(PassedDescriptor::close); // those that have not become listeners
            }
            return standIn == null ? Objects.requireNonNull(passed.getFirst().address()) : standIn;
        }
        return standIn == null ? listenAtAddress(builder) : listenAtPath(builder, standIn);
    }

    /** Returns the sockets that it gets from another process, if it does. */
    private List<PassedDescriptor> passed(Builder builder) throws IOException {
        Takeover takeover = builder.takeover;
        List<HandoverTalk.Handed> handed = takeover == null
                ? List.of()
                : unix == null
                        ? takeover.claim(
                                builder.name,
                                SocketLine.Kind.TCP,
                                builder.address,
                                each -> Takeover.isAt(
                                        builder.address, each.socket().address()))
                        : takeover.claim(
                                builder.name, SocketLine.Kind.UNIX, unix, each -> Transfer.isAt(unix, each.line()));
        if (handed.isEmpty()) {
            leavesWaiting = !builder.inherited.isEmpty();
            return builder.inherited;
        }
        leavesWaiting = handed.getFirst().line().kept();
        builder.inherited.forEach(PassedDescriptor::close); // the predecessor's are the same
        return handed.stream().map(HandoverTalk.Handed::socket).toList();
    }

    private ListenOptions options(Builder builder) {
        return settings.listening(
                ListenOptions.standard().withBacklog(builder.backlog).withFastOpen(builder.fastOpen));
    }

    private InetSocketAddress listenAtAddress(Builder builder) throws IOException {
        List<? extends ServerLoop> all = loops.all();
        boolean spread = builder.reusePort
                && all.size() > 1
                && System.getProperty("os.name").startsWith("Linux");
        ListenOptions options = options(builder).withReusePort(spread || builder.sharePort);
        if (spread && !builder.sharePort && builder.address.getPort() != 0 && !PortCheck.isFree(builder.address)) {
            // Listeners with SO_REUSEPORT also share the port with other processes that set it. This server does not
            // want that, so it listens without it first, which fails and says why.
            all.getFirst()
                    .net()
                    .listen(builder.address, ListenOptions.standard().withBacklog(1))
                    .close();
        }
        TcpListener first = all.getFirst().net().listen(builder.address, options);
        listeners.add(first);
        if (spread) {
            for (ServerLoop loop : all.subList(1, all.size())) {
                listeners.add(loop.net().listen(first.localAddress(), options));
            }
        }
        return first.localAddress();
    }

    /** One listener, on the first loop: the kernel cannot distribute the connections of a path over several. */
    private InetSocketAddress listenAtPath(Builder builder, InetSocketAddress standIn) throws IOException {
        listeners.add(loops.all()
                .getFirst()
                .net()
                .listen(
                        Objects.requireNonNull(builder.unix),
                        UnixListenOptions.standard()
                                .withBacklog(builder.backlog)
                                .withPermissions(builder.permissions)
                                .withReplaceStale(true)));
        return standIn;
    }

    /** A listener on its loop. */
    private record Accepting(ServerLoop loop, Acceptor acceptor) {}

    /**
     * Makes each loop that has a listener accept. All listeners are open already, so whoever connects after this is
     * served. This does not wait for any loop: the calling thread may be another loop, which must not wait, and a
     * blocked loop accepts when it gets to it.
     *
     * <p>If there are as many listeners as loops, or two for each, a connection stays on the loop that accepted it;
     * otherwise, as after a takeover from a process with more or fewer loops, they are assigned in rotation.
     */
    private void accept() throws IOException {
        int count = loops.all().size();
        boolean spread = listeners.size() % count == 0;
        for (int i = 0; i < listeners.size(); i++) {
            StreamListener listener = listeners.get(i);
            ServerLoop loop = loops.all().get(i % count);
            try {
                Acceptor acceptor = loop.accept(
                        listener,
                        stream -> reception.admit(spread ? loop : loops.next(), stream),
                        this::reportNotAccepted);
                acceptances.add(new Accepting(loop, acceptor));
            } catch (RejectedExecutionException e) {
                throw e;
            } catch (UncheckedIOException e) {
                throw new IOException(
                        "cannot accept on " + address + ": " + e.getMessage() + ": "
                                + Objects.requireNonNull(e.getCause()).getMessage(),
                        e);
            } catch (RuntimeException e) {
                throw new IllegalStateException("cannot accept on " + address + ": " + e, e);
            }
        }
    }

    /** Cleans up after a start that failed: some loops may be accepting already. Does not wait for them either. */
    private void letNobodyIn(@Nullable ConnectionDispatcher opened) {
        GracefulEnd.closeWhenAllEnded(connections, opened);
        listeners.forEach(StreamListener::close);
        var ignored = stopAll();
        connections.connections().forEach(StreamConnection::abort);
        connections.abortUnsecured();
    }

    // ---- Connections ----

    private void reportNotAccepted(IOException cause) {
        connections.countAcceptFailure();
        String remedy = SpareDescriptor.isLacking(cause)
                ? " (EMFILE or ENFILE: out of descriptors); one that waited was turned away: raise the limit of open files (ulimit -n), or lower maxConnections"
                : "; trying again";
        reception.tellError(new LimitException(
                ConnectionLog.Kind.NOT_ACCEPTED,
                "cannot accept on " + address + ": " + cause.getMessage() + remedy,
                cause,
                null));
    }

    // ---- Ending ----

    /**
     * Stops listening, and keeps serving the connections that it has: for example before a deployment, or to hand the port
     * over to another process. Connections that the system has already established for the server are still accepted;
     * after that, the port is free, and peers are refused. Nothing else ends: {@link #shutdown} or {@link #close}
     * must follow, which close the connections as well. Any thread, also in callbacks: this does not wait. Idempotent.
     *
     * @return completes when the port is free
     */
    public CompletableFuture<Void> stopAccepting() {
        return stopOnce().copy();
    }

    /**
     * Stops accepting, as {@link #stopAccepting} does, and tells when the connections that the server has have ended: by
     * themselves, because nothing here ends them. To be called when another process has taken over, or a load balancer
     * sends no more; {@link #shutdown} or {@link #close} must follow. Any thread, also in callbacks: this does not wait.
     *
     * @return completes when there is no connection left and the last callback has returned
     */
    public CompletableFuture<Void> drained() {
        return stopOnce().thenCompose(done -> connections.closeAdmission()).copy();
    }

    /**
     * Shuts down gracefully: stops accepting, flushes the pending output of every connection and closes it. Connections
     * that are left at the deadline are cut off. Every connection's {@code onDisconnect} is called.
     *
     * <p>Returns at most a quarter of a second after the deadline, no matter what handlers and peers do. If a handler
     * has not returned by then, it is named in the result and its peer is cut off; {@code onDisconnect} follows when
     * the handler returns. Called from a callback of this server, it returns at once, and the rest happens in the
     * background. An interrupt does not cut the wait short; the interrupt status is restored for the caller. Any thread
     * may call this, any number of times; the earliest deadline counts.
     *
     * @param atMost how long connections may take
     * @return what was left; from a callback, what is known so far
     */
    public ShutdownResult shutdown(Duration atMost) {
        return ending.shutdown(atMost);
    }

    /** What the end begins with. */
    private final class Listening implements GracefulEnd.Intake {
        @Override
        public CompletableFuture<Void> stop() {
            return stopOnce();
        }

        @Override
        public void cutOff() {
            List<Accepting> all;
            synchronized (acceptances) {
                all = List.copyOf(acceptances);
            }
            all.forEach(each -> each.acceptor().cutOff());
        }
    }

    private CompletableFuture<Void> stopOnce() {
        if (stopBegun.compareAndSet(false, true)) {
            var ignored = stopAll().whenComplete((done, failure) -> {
                if (failure == null) {
                    stopped.complete(null);
                } else {
                    stopped.completeExceptionally(failure);
                }
            });
        }
        return stopped;
    }

    /**
     * Returns a future that completes when every loop has stopped accepting, so that all accepted connections are
     * known.
     */
    private CompletableFuture<Void> stopAll() {
        List<Accepting> all;
        synchronized (acceptances) {
            all = List.copyOf(acceptances);
            // Those that do not accept wait for their turn: see Takeover.
            listeners.subList(all.size(), listeners.size()).forEach(StreamListener::close);
        }
        return CompletableFuture.allOf(all.stream().map(this::stopOne).toArray(CompletableFuture[]::new));
    }

    /**
     * Accepts what has arrived, some of it in each turn, then stops. If another process has the listener, too, what has
     * arrived is left to that.
     */
    private CompletableFuture<Void> stopOne(Accepting accepting) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Acceptor acceptor = accepting.acceptor();
        Runnable task = new Runnable() {
            @Override
            public void run() {
                try {
                    if (leavesWaiting) {
                        acceptor.release();
                        done.complete(null);
                    } else if (acceptor.drain()) {
                        accepting.loop().execute(this);
                    } else {
                        acceptor.close();
                        done.complete(null);
                    }
                } catch (RejectedExecutionException e) {
                    done.complete(null); // the loop is ending, and closes everything on it
                } catch (Throwable e) {
                    done.completeExceptionally(e);
                }
            }
        };
        try {
            accepting.loop().execute(task);
        } catch (RejectedExecutionException e) {
            done.complete(null);
        }
        return done;
    }

    // ---- Changing hands ----

    /** What {@link Takeover} does with it. */
    private final class Transfer implements Takeover.Transferable {
        private final String name;

        Transfer(String name) {
            this.name = name;
        }

        static boolean isAt(UnixAddress wanted, SocketLine line) {
            return place(wanted).equals(line.address());
        }

        private static String place(UnixAddress address) {
            Path path = address.path();
            return path == null
                    ? address.toString()
                    : path.toAbsolutePath().normalize().toString();
        }

        @Override
        public boolean isOpen() {
            return !stopBegun.get();
        }

        @Override
        public List<Takeover.Offer> offers() {
            List<Takeover.Offer> offers = new ArrayList<>();
            for (StreamListener listener : listeners) {
                SocketLine.Kind kind = unix == null ? SocketLine.Kind.TCP : SocketLine.Kind.UNIX;
                String at = listener instanceof TcpListener tcp
                        ? Takeover.text(tcp.localAddress())
                        : place(Objects.requireNonNull(unix));
                offers.add(new Takeover.Offer(new SocketLine(kind, leavesWaiting, name, at), listener));
            }
            return offers;
        }

        @Override
        public void begin() throws IOException {
            synchronized (acceptances) {
                if (!stopBegun.get()) {
                    removeFilesOnClose(!leavesWaiting);
                    accept();
                }
            }
        }

        @Override
        public void leave() {
            leavesWaiting = true;
            removeFilesOnClose(false);
            var ignored = stopOnce();
        }

        private void removeFilesOnClose(boolean remove) {
            for (StreamListener listener : listeners) {
                if (listener instanceof UnixListener at) {
                    at.removeFileOnClose(remove);
                }
            }
        }

        @Override
        public String toString() {
            return TcpServer.this.toString();
        }
    }

    /** Shuts down gracefully within ten seconds: see {@link #shutdown}. Whatever has not ended by then is logged. */
    @Override
    public void close() {
        ending.close();
    }

    // ---- Properties ----

    /**
     * Returns the address on which the server listens.
     *
     * @return the address, with the port that the system chose if 0 was requested; at a Unix socket, an unresolved one
     *     that stands in for it, as in {@link Connection#remoteAddress}
     */
    public InetSocketAddress address() {
        return address;
    }

    /**
     * Returns the Unix socket at which the server listens.
     *
     * @return its address; null for a server over TCP
     */
    public @Nullable UnixAddress unixAddress() {
        return unix;
    }

    /**
     * Returns the server's connections.
     *
     * @return to send, broadcast and close by id
     */
    @Override
    public ServerContext context() {
        return connections;
    }

    /**
     * Returns how many loops serve it.
     *
     * @return at least 1
     */
    public int loopCount() {
        return loops.all().size();
    }

    /**
     * Returns the name of the backend of its loops.
     *
     * @return a human-readable name
     */
    public String backend() {
        return loops.first().backend();
    }

    /**
     * Returns how many connections there have been.
     *
     * @return a count since the server was started
     */
    public long connectionsOpened() {
        return connections.opened();
    }

    /**
     * Returns how many bytes were received.
     *
     * @return a count since the server was started
     */
    public long bytesReceived() {
        return connections.bytesReceived();
    }

    /**
     * Returns how many bytes were sent.
     *
     * @return a count since the server was started
     */
    public long bytesSent() {
        return connections.bytesSent();
    }

    // ---- Observing ----

    @Override
    public ServerMetrics metrics() {
        return monitor;
    }

    @Override
    public String dump() {
        return monitor.dump(this);
    }

    @Override
    public List<ConnectionSnapshot> connections() {
        return monitor.snapshots();
    }

    @Override
    public Optional<ConnectionSnapshot> connection(long id) {
        return monitor.snapshot(id);
    }

    @Override
    public boolean isOpen() {
        return !ending.hasBegun();
    }

    @Override
    public List<String> remaining() {
        return monitor.remaining();
    }

    @Override
    public String toString() {
        return (unix == null ? "TCP server on " + address : "server at " + address.getHostString()) + ", " + connections
                + ending.state();
    }

    /** Collects the settings of a server. */
    public static final class Builder extends ConnectionBuilder<Builder> {
        private InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        private @Nullable UnixAddress unix;
        private @Nullable Set<PosixFilePermission> permissions;
        private int backlog = 1024;
        private int fastOpen;
        private int maxConnections = Integer.MAX_VALUE;
        private int maxConnectionsPerAddress = Integer.MAX_VALUE;
        private boolean reusePort = true;
        private boolean sharePort;
        private List<PassedDescriptor> inherited = List.of();
        private @Nullable Takeover takeover;
        private String name = "";

        private Builder() {}

        @Override
        Builder self() {
            return this;
        }

        ServerSettings settings() {
            return settings.copy();
        }

        Connections connections(ServerSettings of) {
            return new Connections(of, maxConnections, maxConnectionsPerAddress);
        }

        /**
         * Sets the address to listen on.
         *
         * @param local any free port of the loopback interface by default
         * @return this
         */
        public Builder address(InetSocketAddress local) {
            this.address = Objects.requireNonNull(local, "local");
            this.unix = null;
            return this;
        }

        /**
         * Sets the Unix socket to listen at, instead of an address: connections come from processes of this machine.
         * Everything else is the same, except what only TCP has: {@link #maxConnectionsPerAddress} does not apply; {@link
         * #reusePort}, {@link #sharePort}, {@link #fastOpen}, {@link #noDelay}, {@link #keepAlive}, {@link
         * #trafficClass} and {@link #linger} have no effect; and a peer whose last bytes were lost sees an end, because
         * such a socket cannot be reset. One loop accepts, and connections are assigned to the loops in rotation.
         *
         * <p>The socket is a file, which is removed when the server stops listening, if it is still the same. A file
         * whose server no longer exists is replaced; if a server listens there, or it is another kind of file, {@link
         * #start} fails.
         *
         * @param local a path, or an abstract name
         * @return this
         */
        public Builder address(UnixAddress local) {
            this.unix = Objects.requireNonNull(local, "local");
            return this;
        }

        /**
         * Sets listeners that another process opened, instead of an address: those that a service manager passed ({@link
         * Systemd#sockets()}). They belong to the server from {@link #start} on, also if that fails. Whoever opened them
         * still has them, and keeps what waits there for the next process when this one stops accepting; so they are not
         * drained then, and no file is removed.
         *
         * @param passed TCP listeners, or Unix listeners; each is on one loop, and with another number than there are
         *     loops, connections are assigned to the loops in rotation
         * @return this
         * @throws IllegalArgumentException if there is none, or they are of other kinds or of both
         */
        public Builder listeners(List<PassedDescriptor> passed) {
            if (passed.isEmpty()) {
                throw new IllegalArgumentException("cannot listen on no listeners; leave the call out");
            }
            PassedDescriptor first = passed.getFirst();
            for (PassedDescriptor each : passed) {
                boolean listens = each.kind() == PassedDescriptor.Kind.TCP_LISTENER
                        || (each.kind() == PassedDescriptor.Kind.UNIX_LISTENER && each.unixAddress() != null);
                if (!listens || each.kind() != first.kind()) {
                    throw new IllegalArgumentException("cannot listen on " + each
                            + ": pass TCP listeners, or Unix listeners with a name, and not both");
                }
            }
            if (first.kind() == PassedDescriptor.Kind.UNIX_LISTENER) {
                address(Objects.requireNonNull(first.unixAddress()));
            } else {
                address(Objects.requireNonNull(first.address()));
            }
            this.inherited = List.copyOf(passed);
            return this;
        }

        /**
         * Takes over the listeners of the running process, if there is one, and hands them over to the next. The server
         * then accepts once {@link Takeover#complete} was called, and not from {@link #start} on.
         *
         * @param from begun
         * @param server the name by which the predecessor and the successor call the same server, if a process has several
         * @return this
         * @throws IllegalArgumentException if the name has other characters than letters, digits, dots, hyphens and
         *     underscores, or is longer than 64
         */
        public Builder takeover(Takeover from, String server) {
            SocketLine.requireName(server);
            this.takeover = Objects.requireNonNull(from, "from");
            this.name = server;
            return this;
        }

        /**
         * Sets the permissions of the socket's file: see {@link #address(UnixAddress)}. Whoever may write it may connect.
         * With a native backend they are set before anybody can connect. With NIO they are set right afterwards; if that
         * matters, make the socket in a directory that others may not enter.
         *
         * @param permissions by default what the process's umask leaves; {@link
         *     java.nio.file.attribute.PosixFilePermissions#fromString} reads them
         * @return this
         */
        public Builder socketPermissions(Set<PosixFilePermission> permissions) {
            this.permissions = Set.copyOf(permissions);
            return this;
        }

        /**
         * Gives the server its own reactors, which end with it. If several of {@link #manager}, {@code reactors} and
         * {@link #loop} are called, the last call counts.
         *
         * @param reactors the number of reactors, their backend, and so on
         * @return this
         */
        public Builder reactors(Reactors.Builder reactors) {
            Objects.requireNonNull(reactors, "reactors");
            this.loops = () -> LoopGroup.owned(reactors.open());
            return this;
        }

        /**
         * Sets how many connections may wait to be accepted.
         *
         * @param count 1,024 by default; the system may reduce it
         * @return this
         */
        public Builder backlog(int count) {
            this.backlog = ServerSettings.inRange("the backlog", count, 1, Integer.MAX_VALUE);
            return this;
        }

        /**
         * Limits how many connections may be open. Further ones are closed as soon as they are accepted: the handler's
         * {@code onError}, or {@link HandlerFactory#onError} if there is a factory, gets a {@link LimitException} without a connection. The limit is exact, no matter how many loops accept. A connection counts until its
         * {@code onDisconnect} has returned; with a {@link DirectServer}, until its conversation has ended, too.
         *
         * @param count no limit by default
         * @return this
         */
        public Builder maxConnections(int count) {
            this.maxConnections = ServerSettings.inRange("the number of connections", count, 1, Integer.MAX_VALUE);
            return this;
        }

        /**
         * Limits how many connections may be open from one address. Further ones are closed as soon as they are
         * accepted, and told as with {@link #maxConnections}. The limit is exact, no matter how many loops accept.
         *
         * @param count no limit by default
         * @return this
         */
        public Builder maxConnectionsPerAddress(int count) {
            this.maxConnectionsPerAddress =
                    ServerSettings.inRange("the number of connections from an address", count, 1, Integer.MAX_VALUE);
            return this;
        }

        /**
         * Sets whether each loop has its own listener, if the kernel can distribute connections over them.
         *
         * @param spread true by default; if false, one loop accepts, and connections are assigned in rotation
         * @return this
         */
        public Builder reusePort(boolean spread) {
            this.reusePort = spread;
            return this;
        }

        /**
         * Sets whether other processes of the same user may listen on the same port, provided that they allow it, too.
         *
         * @param share false by default
         * @return this
         */
        public Builder sharePort(boolean share) {
            this.sharePort = share;
            return this;
        }

        /**
         * Lets peers that have connected before send their first bytes with their first packet, which saves a round
         * trip (TCP_FASTOPEN). A network may deliver that packet twice, so use this only for requests that may be
         * repeated.
         *
         * @param waiting how many such connections may wait; 0, none, by default
         * @return this
         * @throws IllegalArgumentException if it is negative
         */
        public Builder fastOpen(int waiting) {
            this.fastOpen = ServerSettings.inRange("the number of fast connections", waiting, 0, Integer.MAX_VALUE);
            return this;
        }

        @Override
        public Builder tls(Tls settings) {
            ((TlsSettings) settings).checkServer();
            return super.tls(settings);
        }

        /**
         * Starts the server with a separate handler for each connection.
         *
         * @param factory called for every connection, before its {@code onConnect}. Its {@link HandlerFactory#onError}
         *     gets failures that have no handler, such as a connection that was turned away
         * @return a listening server, which the caller must close
         * @throws IOException if it cannot listen there, for example because the port is taken
         */
        public TcpServer start(HandlerFactory factory) throws IOException {
            return new TcpServer(this, new PerConnection(Objects.requireNonNull(factory, "factory")), false);
        }

        /** Starts a server whose connections have threads of their own. */
        TcpServer startConversing(HandlerFactory factory) throws IOException {
            return new TcpServer(this, new PerConnection(factory), true);
        }

        /**
         * Starts the server.
         *
         * @param handler called for every connection
         * @return a listening server, which the caller must close
         * @throws IOException if it cannot listen there, for example because the port is taken
         * @throws UnsupportedOperationException if the backend lacks an option that was set
         */
        public TcpServer start(ConnectionHandler handler) throws IOException {
            return new TcpServer(this, Objects.requireNonNull(handler, "handler"), false);
        }
    }
}
