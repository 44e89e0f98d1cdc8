package io.millrace.server;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventLoop;
import io.millrace.engine.EventManager;
import io.millrace.engine.internal.Deadline;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.net.Resolver;
import io.millrace.net.UnixAddress;
import io.millrace.poll.internal.Durations;
import io.millrace.server.connect.ConnectRace;
import io.millrace.server.connect.ConnectTarget;
import io.millrace.server.connection.ConnectionDispatcher;
import io.millrace.server.connection.SerialExecutor;
import io.millrace.server.connection.StreamConnection;
import io.millrace.server.group.Connections;
import io.millrace.server.group.GracefulEnd;
import io.millrace.server.group.LoopGroup;
import io.millrace.server.group.Monitor;
import io.millrace.server.support.ConnectionLog;
import io.millrace.server.support.ServerSettings;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Opens TCP connections and calls your handler: the counterpart of {@link TcpServer}.
 *
 * {@snippet :
 * try (TcpClient client = TcpClient.open()) {
 *   Connection connection = client.connect(address, (c, data) -> handle(data)).join();
 *   connection.send("hello");
 *   ...
 * }
 * }
 *
 * <p><b>What it guarantees.</b> The same as {@link TcpServer}, for each connection. The future of {@link #connect}
 * completes after {@code onConnect} has returned, or fails with the reason.
 *
 * <p><b>Threads.</b> Any thread may call any method. Callbacks run where {@link Dispatch} says. By default that is the
 * connection's loop, where they must not block: so do not {@code join} the future there.
 *
 * <p><b>Closing</b> is abrupt: {@link #close} closes all connections at once and drops what they have not sent. If
 * everything must arrive, use {@link #shutdown}.
 *
 * <p>A client runs on the global {@link EventManager}, on one of yours, or on an {@link EventLoop}.
 *
 * <p>It also connects to Unix sockets of this machine: see {@link #connect(UnixAddress, ConnectionHandler)}.
 *
 * <h2>Portability</h2>
 * Works everywhere. There is no counterpart of {@link TcpServer.Builder#fastOpen}: with it (TCP_FASTOPEN_CONNECT), the
 * system reports a connection as established before it has sent anything, so the future of {@link #connect} and its
 * timeout would say nothing about the peer.
 */
public final class TcpClient implements Monitored, AutoCloseable {
    private final ServerSettings settings;
    private final LoopGroup loops;
    private final ConnectionDispatcher callbacks;
    private final Connections connections;
    /** Attempts that have neither succeeded nor failed, so that a close can fail those that are still queued. */
    private final Set<CompletableFuture<Connection>> attempts = ConcurrentHashMap.newKeySet();

    private final Set<KeptConnection> kept = ConcurrentHashMap.newKeySet();
    private final ConnectRace.Terms terms;
    private final GracefulEnd ending;
    private final Monitor monitor;

    private volatile boolean closed;

    private TcpClient(Builder builder) {
        this.settings = builder.settings.copy();
        this.connections = new Connections(settings, Integer.MAX_VALUE, Integer.MAX_VALUE);
        this.loops = builder.loops.get();
        this.callbacks = ConnectionDispatcher.of("millrace-client", settings);
        this.terms = new ConnectRace.Terms(settings, callbacks, connections, builder.resolver, builder.connectNanos);
        this.monitor = new Monitor(loops, connections);
        this.ending = new GracefulEnd(this, loops, callbacks, connections, new Connecting());
    }

    /**
     * Opens a client with the defaults.
     *
     * @return a client, which the caller must close
     */
    public static TcpClient open() {
        return builder().open();
    }

    /**
     * Returns a builder, for settings other than the defaults.
     *
     * @return a builder with the defaults
     */
    public static Builder builder() {
        return new Builder();
    }

    // ---- Connecting ----

    /**
     * Opens a connection to a host, by its name. The name is resolved without holding up a loop. Then its addresses are
     * tried in turn, IPv6 and IPv4 alternately: the next one a quarter of a second after the one before, or as soon as
     * that has failed (RFC 8305). The first connection that stands is the one; the others are closed, and the handler
     * never hears of them. The {@linkplain Builder#connectTimeout connect timeout} covers all of this together.
     *
     * <p>Called on one of this client's loops, for example in a callback of a server on the same manager, the connection
     * stays on that loop; elsewhere, connections are assigned to the loops in rotation. Cancelling the future ends the
     * attempt, also if {@code onConnect} is running.
     *
     * @param host a name, or an address as text
     * @param port the port
     * @param handler called for this connection; {@code onConnect} is called before the future is completed
     * @return completes with the connection; or exceptionally, with {@link java.net.UnknownHostException} if there is no
     *     such host, {@link java.net.SocketTimeoutException} if the time was up, and {@link java.net.ConnectException} if
     *     every address failed: its message says which they were, and why
     * @throws IllegalArgumentException if there is no such port
     */
    public CompletableFuture<Connection> connect(String host, int port, ConnectionHandler handler) {
        return connect(InetSocketAddress.createUnresolved(host, port), handler);
    }

    /**
     * Opens a connection to a host near another connection: see {@link #connect(String, int, ConnectionHandler)} and
     * {@link #connect(InetSocketAddress, ConnectionHandler, Connection)}.
     *
     * @param host a name, or an address as text
     * @param port the port
     * @param handler called for this connection
     * @param near of any server or client on the same manager
     * @return as there
     * @throws IllegalArgumentException if there is no such port, or {@code near} is on a loop of another manager
     */
    public CompletableFuture<Connection> connect(String host, int port, ConnectionHandler handler, Connection near) {
        return connect(InetSocketAddress.createUnresolved(host, port), handler, near);
    }

    /**
     * Opens a connection to an address. On which loop it is, and how to cancel it: see {@link #connect(String, int,
     * ConnectionHandler)}.
     *
     * @param address an address; if it is unresolved, its host's name is resolved
     * @param handler called for this connection; {@code onConnect} is called before the future is completed
     * @return completes with the connection; or exceptionally if it was refused (by the peer, or because {@code
     *     onConnect} threw), is unreachable, or timed out
     */
    public CompletableFuture<Connection> connect(InetSocketAddress address, ConnectionHandler handler) {
        Objects.requireNonNull(handler, "handler");
        return connect(loops.here(), ConnectTarget.of(address), handler, won -> {});
    }

    /**
     * Opens a connection to a Unix socket of this machine. Everything is as for a host, except what only TCP has: {@link
     * Connection#unixAddress}.
     *
     * @param address where a server listens
     * @param handler called for this connection; {@code onConnect} is called before the future is completed
     * @return completes with the connection; or exceptionally if nothing listens there, or {@code onConnect} threw
     */
    public CompletableFuture<Connection> connect(UnixAddress address, ConnectionHandler handler) {
        Objects.requireNonNull(handler, "handler");
        return connect(loops.here(), ConnectTarget.of(address), handler, won -> {});
    }

    /**
     * Opens a connection to a Unix socket, on the loop of another connection: see {@link #connect(InetSocketAddress,
     * ConnectionHandler, Connection)}.
     *
     * @param address where a server listens
     * @param handler called for this connection; {@code onConnect} is called before the future is completed
     * @param near of any server or client on the same manager; it may have ended
     * @return as without {@code near}
     * @throws IllegalArgumentException if {@code near} is on a loop of another manager
     */
    public CompletableFuture<Connection> connect(UnixAddress address, ConnectionHandler handler, Connection near) {
        Objects.requireNonNull(handler, "handler");
        return connect(loops.near(Objects.requireNonNull(near, "near")), ConnectTarget.of(address), handler, won -> {});
    }

    /**
     * Opens a connection on the loop of another one. If callbacks run on loops, those of both run on the same thread: a
     * proxy can pass bytes from one to the other without handing them over.
     *
     * @param address an address; if it is unresolved, its host's name is resolved
     * @param handler called for this connection; {@code onConnect} is called before the future is completed
     * @param near of any server or client on the same manager; it may have ended
     * @return as without {@code near}
     * @throws IllegalArgumentException if {@code near} is on a loop of another manager
     */
    public CompletableFuture<Connection> connect(
            InetSocketAddress address, ConnectionHandler handler, Connection near) {
        Objects.requireNonNull(handler, "handler");
        return connect(loops.near(Objects.requireNonNull(near, "near")), ConnectTarget.of(address), handler, won -> {});
    }

    /** Opens a connection on the loop of another one, or on any loop if that one is on another manager. */
    CompletableFuture<Connection> connectNear(ConnectTarget target, ConnectionHandler handler, Connection connection) {
        return connect(loops.canBeNear(connection) ? loops.near(connection) : loops.here(), target, handler, won -> {});
    }

    /**
     * Keeps up a connection to a host: connects now, and again whenever the connection has ended or an attempt has
     * failed. The name is resolved anew each time.
     *
     * @param host a name, or an address as text
     * @param port the port
     * @param handler called for each connection, one after the other; its {@code onError} gets each failed attempt, too
     * @param policy how long to wait before each attempt but the first
     * @return to see the present connection, and to end it; it ends with this client, too
     * @throws IllegalArgumentException if there is no such port
     * @throws IllegalStateException if the client is closed
     */
    public KeptConnection keepConnected(String host, int port, ConnectionHandler handler, Reconnect policy) {
        return keepConnected(InetSocketAddress.createUnresolved(host, port), handler, policy);
    }

    /**
     * Keeps up a connection to an address: see {@link #keepConnected(String, int, ConnectionHandler, Reconnect)}.
     *
     * @param address an address; if it is unresolved, its host's name is resolved each time
     * @param handler called for each connection, one after the other; its {@code onError} gets each failed attempt, too
     * @param policy how long to wait before each attempt but the first
     * @return to see the present connection, and to end it; it ends with this client, too
     * @throws IllegalStateException if the client is closed
     */
    public KeptConnection keepConnected(InetSocketAddress address, ConnectionHandler handler, Reconnect policy) {
        return keepConnected(ConnectTarget.of(address), handler, policy);
    }

    /**
     * Keeps up a connection to a Unix socket: see {@link #keepConnected(String, int, ConnectionHandler, Reconnect)}.
     *
     * @param address where a server listens
     * @param handler called for each connection, one after the other; its {@code onError} gets each failed attempt, too
     * @param policy how long to wait before each attempt but the first
     * @return to see the present connection, and to end it; it ends with this client, too
     * @throws IllegalStateException if the client is closed
     */
    public KeptConnection keepConnected(UnixAddress address, ConnectionHandler handler, Reconnect policy) {
        return keepConnected(ConnectTarget.of(address), handler, policy);
    }

    private KeptConnection keepConnected(ConnectTarget target, ConnectionHandler handler, Reconnect policy) {
        KeptConnection connection = new KeptConnection(
                new Keeping(),
                loops.here(),
                target,
                Objects.requireNonNull(handler, "handler"),
                Objects.requireNonNull(policy, "policy"));
        if (!connections.tryEnter(connection)) {
            throw ConnectRace.closed(target);
        }
        kept.add(connection);
        // As with attempts: whoever closes finds it there, or it is closed here.
        if (closed) {
            connection.close();
        }
        connection.begin();
        return connection;
    }

    @SuppressWarnings("CollectionUndefinedEquality") // a future is itself
    private CompletableFuture<Connection> connect(
            ServerLoop loop, ConnectTarget target, ConnectionHandler handler, Consumer<StreamConnection> onWon) {
        CompletableFuture<Connection> made = new CompletableFuture<>();
        attempts.add(made);
        CompletableFuture<Connection> ignored = made.whenComplete((there, failure) -> attempts.remove(made));
        // It entered the set before the flag is read: so either close() finds it there, or it is refused here.
        if (closed) {
            made.completeExceptionally(ConnectRace.closed(target));
            return made;
        }
        try {
            loop.execute(new ConnectRace(terms, loop, target, handler, made, onWon)::begin);
        } catch (RejectedExecutionException e) {
            made.completeExceptionally(e);
        }
        return made;
    }

    /** What a kept connection needs. */
    private final class Keeping implements KeptConnection.Client {
        /** Made when there is something to tell, for callbacks that do not run on the loop. */
        private @Nullable SerialExecutor elsewhere;

        @Override
        public CompletableFuture<Connection> connect(
                ServerLoop loop, ConnectTarget target, ConnectionHandler handler, Consumer<StreamConnection> onWon) {
            return TcpClient.this.connect(loop, target, handler, onWon);
        }

        @Override
        public void tell(ConnectionHandler handler, Throwable failure, Runnable then) {
            if (elsewhere == null) {
                elsewhere = callbacks.serial(connections.nextId(), null);
            }
            Runnable telling = () -> {
                ConnectionLog.tell(handler, null, failure); // which never throws
                then.run();
            };
            if (elsewhere == null) {
                telling.run();
            } else {
                elsewhere.execute(telling);
            }
        }

        @Override
        public void afterEnd(StreamConnection connection, Runnable what) {
            connections.afterEnd(connection, what);
        }

        @Override
        public void forget(KeptConnection connection) {
            kept.remove(connection);
            connections.exit(connection);
        }
    }

    /**
     * Returns the client's connections.
     *
     * @return to send, broadcast and close by id
     */
    @Override
    public ServerContext context() {
        return connections;
    }

    // ---- Ending ----

    private void stopConnecting() {
        closed = true;
        kept.forEach(KeptConnection::close);
        for (CompletableFuture<Connection> attempt : attempts) {
            attempt.completeExceptionally(new IllegalStateException("cannot connect: the client was closed"));
        }
    }

    /** What the graceful end begins with. */
    private final class Connecting implements GracefulEnd.Intake {
        @Override
        public CompletableFuture<Void> stop() {
            stopConnecting();
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public void cutOff() {}
    }

    /**
     * Shuts down gracefully: fails attempts that are still connecting, flushes the pending output of every connection
     * and closes it. Connections that are left at the deadline are cut off. Every connection's {@code onDisconnect} is
     * called. How long this takes, and what it does when called from a callback: as {@link TcpServer#shutdown}.
     *
     * @param atMost how long connections may take
     * @return what was left; from a callback, what is known so far
     */
    public ShutdownResult shutdown(Duration atMost) {
        return ending.shutdown(atMost);
    }

    /**
     * Closes all connections at once, and fails attempts that are still connecting. Each connection's {@code
     * onDisconnect} is called. No callback starts after this has returned, unless a handler does not return within ten
     * seconds, which is logged. Called from a callback of this client, it returns at once, and the rest follows.
     * Idempotent.
     */
    @Override
    public void close() {
        stopConnecting();
        CompletableFuture<Void> ended = connections.closeAdmission();
        connections.connections().forEach(StreamConnection::abort);
        Deadline deadline = Deadline.after(loops.clock(), Deadline.OF_CLOSE);
        if (!loops.isOnOne() && !callbacks.isInside() && !loops.await(deadline, ended)) {
            connections.connections().forEach(StreamConnection::cutOff);
            FailureLog.warn("closed " + this + ", but handlers of these have not returned in time: "
                    + connections.remaining().values());
        }
        var ignored = ended.whenComplete((done, failure) -> {
            callbacks.close();
            loops.endBy(deadline);
        });
    }

    /** Returns whether the calling thread is that of one of its loops, in a callback. */
    boolean isOnLoop() {
        return loops.isOnOne();
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
        return !closed;
    }

    @Override
    public List<String> remaining() {
        return monitor.remaining();
    }

    @Override
    public String toString() {
        return "TCP client, " + connections + (closed ? ", closed" : "");
    }

    /** Collects the settings of a client. */
    public static final class Builder extends ConnectionBuilder<Builder> {
        private long connectNanos = 10_000_000_000L;
        private Resolver resolver = Resolver.system();

        private Builder() {
            settings.readWhileFull = true;
        }

        @Override
        Builder self() {
            return this;
        }

        /**
         * Sets after which time an attempt to connect is given up. For a host's name, this covers its resolution and all
         * of its addresses together.
         *
         * @param timeout 10 s by default; zero for never
         * @return this
         */
        public Builder connectTimeout(Duration timeout) {
            this.connectNanos = Durations.limitNanos(timeout, "the connect timeout");
            return this;
        }

        /**
         * Sets how names of hosts are resolved.
         *
         * @param names the system's by default; one over a directory of your own needs no DNS, for example in a test
         * @return this
         */
        public Builder resolver(Resolver names) {
            this.resolver = Objects.requireNonNull(names, "names");
            return this;
        }

        /**
         * Opens the client.
         *
         * @return a client, which the caller must close
         */
        public TcpClient open() {
            return new TcpClient(this);
        }
    }
}
