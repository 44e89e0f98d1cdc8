package io.millrace.server;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventManager;
import io.millrace.engine.Reactors;
import io.millrace.engine.internal.Background;
import io.millrace.engine.internal.Deadline;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.SpareDescriptor;
import io.millrace.engine.transport.Acceptor;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.net.KeepAlive;
import io.millrace.net.ListenOptions;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A TCP server: accepts connections and calls your handler.
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
 * <p><b>Loops.</b> The server runs on the loops of an {@link EventManager}: the global one, one of yours, or its own.
 * If the kernel can distribute connections over several listeners on one port (SO_REUSEPORT), each loop accepts its own
 * connections; otherwise one loop accepts, and connections are assigned to the loops in rotation. A connection stays on
 * its loop.
 *
 * <h2>Portability</h2>
 * Works everywhere. SO_REUSEPORT is used on Linux.
 */
public final class TcpServer implements AutoCloseable {
    // One class, because a server is little more than the order in which others are begun and ended: listeners, loops,
    // connections, threads of callbacks. A third of it is the builder, which is mostly Javadoc. What happens on a
    // connection is StreamConnection's, which of them there are Connections'.

    private final ConnectionHandler handler;
    private final ServerSettings settings;
    private final LoopGroup loops;
    private final CallbackExecutor callbacks;
    private final Connections connections;
    private final List<TcpListener> listeners = new ArrayList<>();
    /** One for each listener, in their order: on the loop of the same number. */
    private final List<Acceptor> acceptances = new ArrayList<>();

    private final InetSocketAddress address;
    private final AtomicBoolean closing = new AtomicBoolean();
    private final CompletableFuture<ShutdownResult> result = new CompletableFuture<>();

    private TcpServer(Builder builder, ConnectionHandler handler) throws IOException {
        this.handler = handler;
        this.settings = builder.settings.copy();
        this.connections = new Connections(settings, builder.maxConnections, builder.maxConnectionsPerAddress);
        this.loops = builder.loops();
        CallbackExecutor opened = null;
        boolean started = false;
        try {
            opened = CallbackExecutor.of("millrace-server", settings);
            this.callbacks = opened;
            this.address = listen(builder);
            accept();
            started = true;
        } finally {
            if (!started) {
                letNobodyIn(opened);
                loops.endBy(Deadline.after(loops.clock(), Deadline.OF_CLOSE));
            }
        }
    }

    /**
     * Starts a server with the defaults on a port of the loopback interface. To listen on another address, use {@link
     * #builder}.
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

    private InetSocketAddress listen(Builder builder) throws IOException {
        List<? extends ServerLoop> all = loops.all();
        boolean spread = builder.reusePort
                && all.size() > 1
                && System.getProperty("os.name").startsWith("Linux");
        ListenOptions options = settings.listening(
                ListenOptions.standard().withBacklog(builder.backlog).withReusePort(spread || builder.sharePort));
        if (spread && !builder.sharePort && builder.address.getPort() != 0) {
            // Sockets that spread connections also share the port with another process that does the same. This one
            // shares with nobody, and fails if the port is taken.
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

    /**
     * Has each loop that has a listener accept. All listen already, so who connects after this is served; and no loop is waited for: the calling thread may be another one's, which waits for
     * nobody, and a loop that is held up accepts when it gets to it.
     */
    private void accept() throws IOException {
        boolean spread = listeners.size() > 1;
        for (int i = 0; i < listeners.size(); i++) {
            TcpListener listener = listeners.get(i);
            ServerLoop loop = loops.all().get(i);
            try {
                acceptances.add(loop.accept(
                        listener, stream -> accepted(spread ? loop : loops.next(), stream), this::notAccepted));
            } catch (RejectedExecutionException e) {
                throw e;
            } catch (UncheckedIOException e) {
                throw new IOException(
                        "cannot accept on " + listener.localAddress() + ": " + e.getMessage() + ": "
                                + Objects.requireNonNull(e.getCause()).getMessage(),
                        e);
            } catch (RuntimeException e) {
                throw new IllegalStateException("cannot accept on " + listener.localAddress() + ": " + e, e);
            }
        }
    }

    /** Undoes what there is of a start that failed: some loops may accept already. Does not wait for them either. */
    private void letNobodyIn(@Nullable CallbackExecutor opened) {
        closeWhenAllEnded(opened);
        listeners.forEach(TcpListener::close);
        var ignored = stopAccepting();
        connections.connections().forEach(StreamConnection::abort);
    }

    private static void run(ServerLoop loop, Runnable what) {
        if (loop.inLoop()) {
            what.run();
        } else {
            loop.execute(what);
        }
    }

    // ---- Connections ----

    private void accepted(ServerLoop loop, TcpStream stream) {
        InetAddress from = stream.remoteAddress().getAddress();
        Connections.Admission admission = connections.admit(from);
        if (admission != Connections.Admission.TAKEN) {
            stream.close();
            turnedAway(admission, from);
            return;
        }
        StreamConnection connection;
        try {
            connection =
                    new StreamConnection(connections.nextId(), loop, stream, handler, settings, callbacks, connections);
        } catch (Throwable e) {
            connections.leave(from);
            stream.close(); // gone before it was looked at
            tellError(e);
            return;
        }
        connections.add(connection);
        try {
            run(loop, connection::open);
        } catch (RejectedExecutionException e) {
            if (connections.tryRemove(connection, connection.queuedBytes())) {
                connections.onEnded(connection);
            }
            stream.close();
        }
    }

    private void turnedAway(Connections.Admission why, InetAddress from) {
        switch (why) {
            case FULL -> tellTurnedAway(connections.most() + " are open, which is the limit; raise maxConnections");
            case ADDRESS_FULL ->
                tellTurnedAway(connections.mostPerAddress() + " from " + from.getHostAddress()
                        + " are open, which is the limit; raise maxConnectionsPerAddress");
            case TAKEN, CLOSED -> {
                // The server is being closed, which is nobody's failure.
            }
        }
    }

    private void tellTurnedAway(String why) {
        tellError(new LimitException(
                ConnectionLog.Kind.TURNED_AWAY, "turned a connection away: " + why + ", or wait until one ends", null));
    }

    private void notAccepted(IOException cause) {
        String remedy = SpareDescriptor.isLacking(cause)
                ? " (EMFILE or ENFILE: out of descriptors); one that waited was turned away: raise the limit of open files (ulimit -n), or lower maxConnections"
                : "; trying again";
        tellError(new LimitException(
                ConnectionLog.Kind.NOT_ACCEPTED,
                "cannot accept on " + address + ": " + cause.getMessage() + remedy,
                cause));
    }

    private void tellError(Throwable failure) {
        ConnectionLog.tell(handler, null, failure);
    }

    // ---- Ending ----

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
        Deadline deadline = Deadline.after(loops.clock(), atMost);
        boolean inside = loops.isOnOne() || callbacks.isInside();
        if (closing.compareAndSet(false, true)) {
            if (inside) {
                Background.run("millrace-shutdown", () -> end(deadline));
            } else {
                end(deadline);
            }
        } else if (!inside && !deadline.await(result)) {
            connections.connections().forEach(StreamConnection::abort);
            deadline.andALittle().await(result);
        }
        return known();
    }

    /** How it went, as far as that is known; what remained then and has ended since does not remain. */
    private ShutdownResult known() {
        ShutdownResult how = result.getNow(new ShutdownResult(false, List.of(), remaining()));
        boolean hasEnded = result.isDone() && connections.unended().isEmpty() && loops.haveEnded();
        return hasEnded ? new ShutdownResult(how.drained(), how.cutOff(), List.of()) : how;
    }

    private void end(Deadline deadline) {
        List<String> remaining = new ArrayList<>();
        boolean allEnded = false;
        try {
            connections.beginDraining();
            CompletableFuture<Void> stopping = stopAccepting();
            // At once: a loop that is held up does not hold up the ends of others. What it accepts meanwhile is closed
            // below.
            connections.connections().forEach(StreamConnection::close);
            boolean stopped = deadline.await(stopping);
            CompletableFuture<Void> ended = connections.closeAdmission();
            connections.connections().forEach(StreamConnection::close);
            allEnded = deadline.await(ended);
            if (!allEnded) {
                // Those that have sent all, and only wait for their peers to end too, lose nothing by this.
                connections.connections().forEach(StreamConnection::abort);
                allEnded = deadline.andALittle().await(ended);
            }
            if (!allEnded) {
                for (StreamConnection held : connections.connections()) {
                    connections.noteCutOff(held, held.queuedBytes());
                    held.cutOff();
                }
                remaining.addAll(remaining());
            }
            if (!stopped) {
                acceptances.forEach(Acceptor::cutOff);
            }
        } catch (Throwable e) {
            FailureLog.report("the end of " + this, e);
        } finally {
            closeWhenAllEnded(callbacks);
            if (remaining.isEmpty()) {
                remaining.addAll(loops.endBy(deadline));
            } else {
                // The time is up, and a loop that is held up ends when its handler returns.
                Background.run("millrace-shutdown", () -> loops.endBy(deadline));
            }
            List<String> cutOff = connections.cutOff();
            result.complete(new ShutdownResult(allEnded && cutOff.isEmpty(), cutOff, remaining));
        }
    }

    /**
     * Handlers that may block, where callbacks run on threads of their own, may do so to the last call. One that comes after the deadline, because a loop was held up, must not run on that loop instead:
     * others need it.
     */
    private void closeWhenAllEnded(@Nullable CallbackExecutor threads) {
        var ignored = connections.closeAdmission().whenComplete((done, failure) -> {
            if (threads != null) {
                threads.close();
            }
        });
    }

    /** Completes when every loop has stopped accepting, and so knows every connection that it has accepted. */
    private CompletableFuture<Void> stopAccepting() {
        List<CompletableFuture<Void>> stopped = new ArrayList<>();
        for (int i = 0; i < acceptances.size(); i++) {
            stopped.add(stopAccepting(loops.all().get(i), acceptances.get(i)));
        }
        return CompletableFuture.allOf(stopped.toArray(CompletableFuture[]::new));
    }

    /** What has arrived is accepted first, some of it in each turn. */
    private static CompletableFuture<Void> stopAccepting(ServerLoop loop, Acceptor acceptance) {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Runnable task = new Runnable() {
            @Override
            public void run() {
                try {
                    if (acceptance.drain()) {
                        loop.execute(this);
                    } else {
                        acceptance.close();
                        done.complete(null);
                    }
                } catch (RejectedExecutionException e) {
                    done.complete(null); // the loop ends, and closes all that it carries
                } catch (Throwable e) {
                    done.completeExceptionally(e);
                }
            }
        };
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            done.complete(null);
        }
        return done;
    }

    /** What has not ended, and may not for a while because a handler does not return. */
    private List<String> remaining() {
        List<String> remaining = new ArrayList<>();
        for (StreamConnection connection : connections.unended()) {
            remaining.add(connection + " on " + connection.loop());
        }
        return remaining;
    }

    /** Shuts down gracefully within ten seconds: see {@link #shutdown}. Whatever has not ended by then is logged. */
    @Override
    public void close() {
        ShutdownResult how = shutdown(Deadline.OF_CLOSE);
        if (!how.remaining().isEmpty() && result.isDone()) {
            FailureLog.warn(
                    "closed " + this + ", but this has not ended in time: " + String.join("; ", how.remaining()));
        }
    }

    // ---- Looking at it ----

    /**
     * Returns the address on which the server listens.
     *
     * @return the address, with the port that the system chose if 0 was requested
     */
    public InetSocketAddress address() {
        return address;
    }

    /**
     * Returns the server's connections.
     *
     * @return to send, broadcast and close by id
     */
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

    @Override
    public String toString() {
        return "TCP server on " + address + ", " + connections + (closing.get() ? ", closing" : "");
    }

    /** Collects the settings of a server. */
    public static final class Builder {
        private final ServerSettings settings = new ServerSettings();
        private InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        private int backlog = 1024;
        private int maxConnections = Integer.MAX_VALUE;
        private int maxConnectionsPerAddress = Integer.MAX_VALUE;
        private boolean reusePort = true;
        private boolean sharePort;
        private @Nullable EventManager manager;
        private Reactors.@Nullable Builder own;

        private Builder() {}

        private LoopGroup loops() {
            if (manager != null) {
                return LoopGroup.of(manager);
            }
            return own == null ? LoopGroup.global() : LoopGroup.owned(own.open());
        }

        /**
         * Sets the address to listen on.
         *
         * @param local any free port of the loopback interface by default
         * @return this
         */
        public Builder address(InetSocketAddress local) {
            this.address = Objects.requireNonNull(local, "local");
            return this;
        }

        /**
         * Sets the manager to run on. It stays open when the server is closed.
         *
         * @param shared the global manager by default
         * @return this
         */
        public Builder manager(EventManager shared) {
            this.manager = Objects.requireNonNull(shared, "shared");
            return this;
        }

        /**
         * Gives the server its own reactors, which end with it.
         *
         * @param reactors the number of reactors, their backend, and so on
         * @return this
         */
        public Builder reactors(Reactors.Builder reactors) {
            this.own = Objects.requireNonNull(reactors, "reactors");
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
         * Limits how many connections may be open. Further ones are closed as soon as they are accepted, and {@code
         * onError} is called. The limit is exact, no matter how many loops accept. A connection counts until its
         * {@code onDisconnect} has returned.
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
         * accepted, and {@code onError} is called. The limit is exact, no matter how many loops accept.
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
         * Sets how many bytes {@code onData} gets at most.
         *
         * @param bytes by default 262,144 if callbacks run on a loop of {@link Reactors}, whose connections share one
         *     buffer; otherwise 8,192
         * @return this
         */
        public Builder bufferSize(int bytes) {
            settings.bufferSize(bytes);
            return this;
        }

        /**
         * Sets how many bytes may wait to be sent on a connection.
         *
         * @param low when no more than this is waiting, {@code onWritable} is called; 32 KiB by default
         * @param high while more than this is waiting, the connection is not read, and {@code send} says so; 64 KiB by
         *     default
         * @param limit if more than this is waiting, a send is refused and the connection is closed; 64 MiB by default A send
         *     from another thread counts 128 bytes more than it has until the loop has taken it over, so that many small
         *     ones are bounded too
         * @return this
         */
        public Builder waterMarks(long low, long high, long limit) {
            settings.waterMarks(low, high, limit);
            return this;
        }

        /**
         * Limits how much may wait to be sent on all connections together, so that peers that do not read cannot fill
         * the heap. Above the limit, the connection that holds most is closed, and its {@code onError} is called.
         * Connections with less than 4 KiB waiting do not count. Bytes that connections share, such as those of a
         * broadcast, count for each of them.
         *
         * @param bytes a quarter of the maximum heap by default
         * @param files how many open files may wait; by default a quarter of the files that the process may have open,
         *     and at most 1,024
         * @return this
         */
        public Builder budget(long bytes, int files) {
            settings.budget(bytes, files);
            return this;
        }

        /**
         * Sets whether small writes go out at once (TCP_NODELAY).
         *
         * @param on true by default
         * @return this
         */
        public Builder noDelay(boolean on) {
            settings.noDelay = on;
            return this;
        }

        /**
         * Sets when the system checks whether a silent peer is still there.
         *
         * @param times after 60 s by default; null for never
         * @return this
         */
        public Builder keepAlive(@Nullable KeepAlive times) {
            settings.keepAlive(times);
            return this;
        }

        /**
         * Sets after which time without received or sent bytes a connection is closed.
         *
         * @param timeout zero, which means never, by default
         * @return this
         */
        public Builder idleTimeout(Duration timeout) {
            settings.idleTimeout(timeout);
            return this;
        }

        /**
         * Sets after which time a connection is closed whose peer does not take any of the bytes that are waiting.
         *
         * @param timeout 30 s by default; zero for never
         * @return this
         */
        public Builder writeTimeout(Duration timeout) {
            settings.writeTimeout(timeout);
            return this;
        }

        /**
         * Sets where callbacks run.
         *
         * @param mode on the connection's loop by default
         * @param workers the number of threads with {@link Dispatch#POOL}
         * @return this
         */
        public Builder dispatch(Dispatch mode, int workers) {
            settings.dispatch(mode, workers);
            return this;
        }

        /**
         * Starts the server.
         *
         * @param handler called for every connection
         * @return a listening server, which the caller must close
         * @throws IOException if it cannot listen there, for example because the port is taken
         */
        public TcpServer start(ConnectionHandler handler) throws IOException {
            return new TcpServer(this, Objects.requireNonNull(handler, "handler"));
        }
    }
}
