package io.millrace.server;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.Dispatch;
import io.millrace.engine.EventManager;
import io.millrace.engine.transport.TransportLoop;
import io.millrace.net.KeepAlive;
import io.millrace.net.TcpStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Makes TCP connections and calls a handler: as {@link TcpServer}, from the other end.
 *
 * <p>It runs on the global {@link EventManager}, or on one of yours. Closing it closes its connections.
 *
 * <p><b>Threads.</b> Any.
 */
public final class TcpClient implements AutoCloseable {
    private final ServerSettings settings;
    private final long connectNanos;
    private final Loops loops;
    private final Callbacks callbacks;
    private final Connections connections;

    private TcpClient(Builder builder) {
        this.settings = builder.settings;
        this.connectNanos = builder.connectNanos;
        this.connections = new Connections(settings, Integer.MAX_VALUE, Integer.MAX_VALUE, () -> {});
        this.loops = builder.manager == null ? Loops.global() : Loops.of(builder.manager);
        this.callbacks = Callbacks.of("millrace-client", settings);
    }

    /**
     * Opens one with the defaults.
     *
     * @return a client, the caller's to close
     */
    public static TcpClient open() {
        return builder().open();
    }

    /**
     * For other settings than the defaults.
     *
     * @return a builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Makes a connection.
     *
     * @param address resolved
     * @param handler for this connection; {@code onConnect} is called before the future is completed
     * @return completes when it is there, or could not be made: refused, by the peer or by an {@code onConnect} that throws, unreachable, or timed out
     */
    public CompletableFuture<Connection> connect(InetSocketAddress address, ConnectionHandler handler) {
        Objects.requireNonNull(handler, "handler");
        CompletableFuture<Connection> made = new CompletableFuture<>();
        TransportLoop loop = loops.next();
        try {
            loop.execute(() -> begin(loop, address, new Connecting(handler, made)));
        } catch (RejectedExecutionException e) {
            made.completeExceptionally(e);
        }
        return made;
    }

    private void begin(TransportLoop loop, InetSocketAddress address, Connecting handler) {
        if (connections.admit(address.getAddress()) != Connections.Admission.TAKEN) {
            handler.made.completeExceptionally(
                    new IOException("cannot connect to " + address + ": the client is closed"));
            return;
        }
        TcpStream stream = null;
        boolean added = false;
        try {
            stream = loop.net().connect(address);
            settings.apply(stream);
            StreamConnection connection =
                    new StreamConnection(connections.nextId(), loop, stream, handler, settings, callbacks, connections);
            connections.add(connection);
            added = true;
            handler.watch(connection, address);
            connection.open();
        } catch (IOException | RuntimeException e) {
            if (!added) {
                connections.leave(address.getAddress());
            }
            if (stream != null) {
                stream.close();
            }
            handler.made.completeExceptionally(e);
        }
    }

    /** Tells the future how the attempt ended, and the user's handler of everything from the connection on. */
    private final class Connecting implements ConnectionHandler {
        private final ConnectionHandler handler;
        private final CompletableFuture<Connection> made;
        private boolean connected;

        Connecting(ConnectionHandler handler, CompletableFuture<Connection> made) {
            this.handler = handler;
            this.made = made;
        }

        /** Ends the attempt when it takes too long, or its future is cancelled. */
        void watch(StreamConnection connection, InetSocketAddress address) {
            AlarmKey alarm = connectNanos == 0
                    ? null
                    : connection.loop().schedule(connectNanos, fired -> {
                        if (fired) {
                            made.completeExceptionally(new SocketTimeoutException("cannot connect to " + address
                                    + ": no answer within " + connectNanos / 1_000_000 + " ms"));
                        }
                    });
            var ignored = made.whenComplete((there, failure) -> {
                if (alarm != null) {
                    connection.loop().cancel(alarm);
                }
                if (failure != null) {
                    connection.abort();
                }
            });
        }

        @Override
        public void onConnect(Connection connection) throws Exception {
            connected = true;
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
            if (connected) {
                handler.onDisconnect(connection);
            } else {
                made.completeExceptionally(new IOException("cannot connect: closed before it was there"));
            }
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            if (connected) {
                handler.onError(connection, failure);
            } else {
                made.completeExceptionally(failure);
            }
        }
    }

    /**
     * Its connections.
     *
     * @return to send, broadcast and close by id
     */
    public ServerContext context() {
        return connections;
    }

    /** Closes its connections at once. Their {@code onDisconnect} is called. Idempotent. */
    @Override
    public void close() {
        connections.connections().forEach(StreamConnection::abort);
        callbacks.close();
        loops.close();
    }

    @Override
    public String toString() {
        return "TCP client, " + connections;
    }

    /** Settings of a client that has yet to be opened. */
    public static final class Builder {
        private final ServerSettings settings = new ServerSettings();
        private long connectNanos = 10_000_000_000L;
        private @Nullable EventManager manager;

        private Builder() {}

        /**
         * Runs on a manager of yours, which stays open when the client is closed.
         *
         * @param shared the global one by default
         * @return this
         */
        public Builder manager(EventManager shared) {
            this.manager = Objects.requireNonNull(shared, "shared");
            return this;
        }

        /**
         * When an attempt to connect is given up.
         *
         * @param timeout 10 s by default; zero for never
         * @return this
         */
        public Builder connectTimeout(Duration timeout) {
            this.connectNanos = ServerSettings.nanos(timeout, "the connect timeout");
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
         * Opens it.
         *
         * @return a client, the caller's to close
         */
        public TcpClient open() {
            return new TcpClient(this);
        }
    }
}
