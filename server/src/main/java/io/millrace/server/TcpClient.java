package io.millrace.server;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.Dispatch;
import io.millrace.engine.EventManager;
import io.millrace.engine.internal.Deadline;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.net.KeepAlive;
import io.millrace.net.TcpStream;
import io.millrace.poll.internal.Durations;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
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
 * everything must arrive, close the connection first and wait for its {@code onDisconnect}.
 *
 * <p>A client runs on the global {@link EventManager}, or on one of yours.
 */
public final class TcpClient implements AutoCloseable {
    private final ServerSettings settings;
    private final long connectNanos;
    private final LoopGroup loops;
    private final CallbackExecutor callbacks;
    private final Connections connections;
    /** Attempts whose end nobody knows yet; so a close can fail those that are only queued. */
    private final Set<CompletableFuture<Connection>> attempts = ConcurrentHashMap.newKeySet();

    private volatile boolean closed;

    private TcpClient(Builder builder) {
        this.settings = builder.settings.copy();
        this.connectNanos = builder.connectNanos;
        this.connections = new Connections(settings, Integer.MAX_VALUE, Integer.MAX_VALUE);
        this.loops = builder.manager == null ? LoopGroup.global() : LoopGroup.of(builder.manager);
        this.callbacks = CallbackExecutor.of("millrace-client", settings);
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

    /**
     * Opens a connection.
     *
     * @param address a resolved address
     * @param handler called for this connection; {@code onConnect} is called before the future is completed
     * @return completes with the connection; or exceptionally if it was refused (by the peer, or because {@code
     *     onConnect} threw), is unreachable, or timed out
     */
    @SuppressWarnings("CollectionUndefinedEquality") // a future is itself
    public CompletableFuture<Connection> connect(InetSocketAddress address, ConnectionHandler handler) {
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(handler, "handler");
        CompletableFuture<Connection> made = new CompletableFuture<>();
        attempts.add(made);
        CompletableFuture<Connection> ignored = made.whenComplete((there, failure) -> attempts.remove(made));
        // It is in the set before the flag is looked at: whoever closes finds it there, or it is refused here.
        if (closed) {
            made.completeExceptionally(closed(address));
            return made;
        }
        ServerLoop loop = loops.next();
        try {
            loop.execute(() -> begin(loop, address, new Connecting(handler, made)));
        } catch (RejectedExecutionException e) {
            made.completeExceptionally(e);
        }
        return made;
    }

    private static IllegalStateException closed(InetSocketAddress address) {
        return new IllegalStateException("cannot connect to " + address + ": the client is closed");
    }

    private void begin(ServerLoop loop, InetSocketAddress address, Connecting handler) {
        if (handler.made.isDone()) {
            return; // cancelled, or the client was closed
        }
        if (connections.admit(address.getAddress()) != Connections.Admission.TAKEN) {
            handler.made.completeExceptionally(closed(address));
            return;
        }
        TcpStream stream = null;
        StreamConnection connection;
        try {
            stream = loop.net().connect(address);
            settings.apply(stream);
            connection =
                    new StreamConnection(connections.nextId(), loop, stream, handler, settings, callbacks, connections);
        } catch (Throwable e) {
            if (stream != null) {
                stream.close();
            }
            connections.leave(address.getAddress());
            handler.made.completeExceptionally(e);
            return;
        }
        connections.add(connection);
        handler.watch(connection, address);
        connection.open();
    }

    /** Tells the future how the attempt ended, and the user's handler of everything from the connection on. */
    private final class Connecting implements ConnectionHandler, StreamConnection.Attempt {
        private final ConnectionHandler handler;
        private final CompletableFuture<Connection> made;

        Connecting(ConnectionHandler handler, CompletableFuture<Connection> made) {
            this.handler = handler;
            this.made = made;
        }

        /** Ends the attempt when it takes too long, or its future is cancelled. */
        void watch(StreamConnection connection, InetSocketAddress address) {
            AlarmKey alarm = connectNanos == 0 ? null : timeout(connection.loop(), address);
            var ignored = made.whenComplete((there, failure) -> {
                if (alarm != null) {
                    connection.loop().cancel(alarm);
                }
                if (failure != null) {
                    connection.abort();
                }
            });
        }

        private @Nullable AlarmKey timeout(ServerLoop loop, InetSocketAddress address) {
            try {
                return loop.schedule(connectNanos, fired -> {
                    if (fired) {
                        made.completeExceptionally(new SocketTimeoutException("cannot connect to " + address
                                + ": no answer within " + connectNanos / 1_000_000 + " ms"));
                    }
                });
            } catch (RejectedExecutionException e) {
                return null; // the loop is in its last turn, which ends the attempt
            }
        }

        @Override
        public void failed(@Nullable IOException cause) {
            made.completeExceptionally(
                    cause == null
                            ? new IOException("cannot connect: closed before the connection was established")
                            : cause);
        }

        @Override
        public void onConnect(Connection connection) throws Exception {
            try {
                handler.onConnect(connection);
            } catch (Throwable e) {
                made.completeExceptionally(e);
                throw e;
            }
            made.complete(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) throws Exception {
            handler.onData(connection, data);
        }

        @Override
        public void onEndOfInput(Connection connection) throws Exception {
            handler.onEndOfInput(connection);
        }

        @Override
        public void onWritable(Connection connection) throws Exception {
            handler.onWritable(connection);
        }

        @Override
        public void onDisconnect(Connection connection) throws Exception {
            handler.onDisconnect(connection);
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            handler.onError(connection, failure);
        }
    }

    /**
     * Returns the client's connections.
     *
     * @return to send, broadcast and close by id
     */
    public ServerContext context() {
        return connections;
    }

    /**
     * Closes all connections at once, and fails attempts that are still connecting. Each connection's {@code
     * onDisconnect} is called. No callback starts after this has returned, unless a handler does not return within ten
     * seconds, which is logged. Called from a callback of this client, it returns at once, and the rest follows.
     * Idempotent.
     */
    @Override
    public void close() {
        closed = true;
        for (CompletableFuture<Connection> attempt : attempts) {
            attempt.completeExceptionally(new IllegalStateException("cannot connect: the client was closed"));
        }
        CompletableFuture<Void> ended = connections.closeAdmission();
        connections.connections().forEach(StreamConnection::abort);
        Deadline deadline = Deadline.after(loops.clock(), Deadline.OF_CLOSE);
        if (!loops.isOnOne() && !callbacks.isInside() && !deadline.await(ended)) {
            connections.connections().forEach(StreamConnection::cutOff);
            FailureLog.warn(
                    "closed " + this + ", but handlers of these have not returned in time: " + connections.unended());
        }
        var ignored = ended.whenComplete((done, failure) -> {
            callbacks.close();
            loops.endBy(deadline);
        });
    }

    @Override
    public String toString() {
        return "TCP client, " + connections;
    }

    /** Collects the settings of a client. */
    public static final class Builder {
        private final ServerSettings settings = new ServerSettings();
        private long connectNanos = 10_000_000_000L;
        private @Nullable EventManager manager;

        private Builder() {}

        /**
         * Sets the manager to run on. It stays open when the client is closed.
         *
         * @param shared the global manager by default
         * @return this
         */
        public Builder manager(EventManager shared) {
            this.manager = Objects.requireNonNull(shared, "shared");
            return this;
        }

        /**
         * Sets after which time an attempt to connect is given up.
         *
         * @param timeout 10 s by default; zero for never
         * @return this
         */
        public Builder connectTimeout(Duration timeout) {
            this.connectNanos = Durations.limitNanos(timeout, "the connect timeout");
            return this;
        }

        /**
         * As {@link TcpServer.Builder#bufferSize}.
         *
         * @param bytes as there by default
         * @return this
         */
        public Builder bufferSize(int bytes) {
            settings.bufferSize(bytes);
            return this;
        }

        /**
         * As {@link TcpServer.Builder#waterMarks}.
         *
         * @param low 32 KiB by default
         * @param high 64 KiB by default
         * @param limit 64 MiB by default
         * @return this
         */
        public Builder waterMarks(long low, long high, long limit) {
            settings.waterMarks(low, high, limit);
            return this;
        }

        /**
         * As {@link TcpServer.Builder#budget}.
         *
         * @param bytes as there by default
         * @param files as there by default
         * @return this
         */
        public Builder budget(long bytes, int files) {
            settings.budget(bytes, files);
            return this;
        }

        /**
         * As {@link TcpServer.Builder#noDelay}.
         *
         * @param on true by default
         * @return this
         */
        public Builder noDelay(boolean on) {
            settings.noDelay = on;
            return this;
        }

        /**
         * As {@link TcpServer.Builder#keepAlive}.
         *
         * @param times after 60 s by default; null for never
         * @return this
         */
        public Builder keepAlive(@Nullable KeepAlive times) {
            settings.keepAlive(times);
            return this;
        }

        /**
         * As {@link TcpServer.Builder#idleTimeout}.
         *
         * @param timeout zero, never, by default
         * @return this
         */
        public Builder idleTimeout(Duration timeout) {
            settings.idleTimeout(timeout);
            return this;
        }

        /**
         * As {@link TcpServer.Builder#writeTimeout}.
         *
         * @param timeout 30 s by default; zero for never
         * @return this
         */
        public Builder writeTimeout(Duration timeout) {
            settings.writeTimeout(timeout);
            return this;
        }

        /**
         * As {@link TcpServer.Builder#dispatch}.
         *
         * @param mode on the connection's loop by default
         * @param workers how many threads there are with {@link Dispatch#POOL}
         * @return this
         */
        public Builder dispatch(Dispatch mode, int workers) {
            settings.dispatch(mode, workers);
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
