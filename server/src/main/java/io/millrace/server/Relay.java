package io.millrace.server;

import io.millrace.net.UnixAddress;
import io.millrace.server.connect.ConnectTarget;
import io.millrace.server.connection.RelaySide;
import io.millrace.server.support.ConnectionLog;
import io.millrace.server.support.NotRelayedException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Joins two connections, so that each receives what the other one's peer sends: the core of a proxy. A whole proxy is
 *
 * {@snippet :
 * TcpServer.builder().address(local).start(Relay.proxy(client, upstream));
 * }
 *
 * and one that looks at its clients first calls {@link #to} when it knows where they belong.
 *
 * <p><b>What it guarantees.</b> All bytes, in order, both ways at the same time. If a peer does not take what it is sent, the other
 * one is not read until it does, and no more than the high-water mark and one read wait, or five reads if callbacks do not run on the loop; the opposite direction goes on meanwhile,
 * whatever {@link TcpServer.Builder#readWhileFull} says. When one peer ends its output, the other is told so, behind everything that came before,
 * and can still answer; when both have, both connections end. If a connection is closed, or ends because it was silent, the other one is closed after its output was sent.
 * If one breaks, or is aborted, the other one is reset, so that its peer does not take what it got for the whole; unless the end of input had come before that.
 *
 * <p><b>The handlers</b> of the two connections still get {@code onError}, {@code onIdle} and {@code onDisconnect}; the other callbacks are the relay's. {@link #to(Connection, ConnectionHandler)} and {@link
 * #proxy(TcpClient, InetSocketAddress, HandlerFactory)} take handlers of yours for that.
 * Both connections may still be sent other bytes, paused and closed.
 *
 * <p><b>Threads.</b> Any thread may call any method. The two connections may have different loops, dispatches and managers; on one loop, bytes go
 * from one to the other without being copied, unless they have to wait. {@link TcpClient#connect} in a callback, and {@link #proxy}, see to that.
 */
public final class Relay {
    private Relay() {}

    /**
     * Joins two connections from now on. What their handlers were given before is not the relay's; what is read of both from now on is, if reading was paused or this is called in their callbacks. If you connect one of the two for this, use {@link #to},
     * which misses nothing. Reading is resumed, if it was {@linkplain Connection#pauseReads paused}.
     *
     * @param one a connection; if it has ended, the other one is closed
     * @param other another one
     * @throws IllegalArgumentException if both are the same
     * @throws IllegalStateException if this is called in a callback of a connection that is already relayed; elsewhere, its {@code onError} gets this
     */
    public static void between(Connection one, Connection other) {
        if (one.equals(other)) {
            throw new IllegalArgumentException("cannot relay " + one + " to itself: a relay needs two connections");
        }
        RelaySide.join(new RelaySide(one), new RelaySide(other));
    }

    /**
     * Makes the handler of a connection that is to be opened, which joins it with an existing one:
     *
     * {@snippet :
     * public void onData(Connection connection, ByteBuffer data) {
     *     InetSocketAddress upstream = chooseBy(data);
     *     client.connect(upstream, Relay.to(connection), connection).whenComplete((there, failure) -> {
     *         if (failure != null) {
     *             connection.close();
     *         }
     *     });
     * }
     * }
     *
     * From now on the existing connection is not read, until the other one is there. Nothing that comes meanwhile is lost; called in a callback of that connection, this
     * includes everything behind what the callback was given. If no connection is made, call this again for another attempt, or close the connection.
     *
     * @param connection the existing one
     * @return for one connection: call this again for each attempt
     * @throws IllegalStateException if this is called in a callback of a connection that is already relayed; elsewhere, its {@code onError} gets this
     */
    public static ConnectionHandler to(Connection connection) {
        return joining(connection, null);
    }

    /**
     * Makes the handler of a connection that is to be opened, as {@link #to(Connection)} does, with a handler of your own that hears of it: {@code onConnect} before the two are joined, so what it
     * sends comes before all bytes of the other side; then {@code onError}, {@code onIdle} and {@code onDisconnect}, which is the last call as always. The other callbacks are the relay's. If its {@code onConnect} throws, the connection is
     * refused, and it is as if none had been made.
     *
     * @param connection the existing one
     * @param handler hears of the one that is opened
     * @return for one connection: call this again for each attempt
     * @throws IllegalStateException as {@link #to(Connection)}
     */
    public static ConnectionHandler to(Connection connection, ConnectionHandler handler) {
        return joining(connection, Objects.requireNonNull(handler, "handler"));
    }

    private static ConnectionHandler joining(Connection connection, @Nullable ConnectionHandler own) {
        RelaySide waits = new RelaySide(connection);
        waits.hold();
        return new Joining(waits, own);
    }

    /**
     * Makes the handlers of a server that is a proxy: each of its connections gets one of its own to the upstream server, near it if the client is on the same manager. If
     * that cannot be made, the connection is closed, and the reason is logged as a warning, with at most one line a second.
     *
     * @param client opens the connections; it must stay open as long as the server
     * @param upstream where to
     * @return for {@link TcpServer.Builder#start(HandlerFactory)}
     */
    public static HandlerFactory proxy(TcpClient client, InetSocketAddress upstream) {
        return proxy(client, ConnectTarget.of(Objects.requireNonNull(upstream, "upstream")));
    }

    /**
     * Makes the handlers of a server that is a proxy for one at a Unix socket: see {@link #proxy(TcpClient,
     * InetSocketAddress)}.
     *
     * @param client opens the connections; it must stay open as long as the server
     * @param upstream where to
     * @return for {@link TcpServer.Builder#start(HandlerFactory)}
     */
    public static HandlerFactory proxy(TcpClient client, UnixAddress upstream) {
        return proxy(client, ConnectTarget.of(upstream));
    }

    private static HandlerFactory proxy(TcpClient client, ConnectTarget upstream) {
        Objects.requireNonNull(client, "client");
        return connection -> new Proxied(client, upstream, null);
    }

    /**
     * Makes the handlers of a server that is a proxy, with handlers of your own that hear of its clients, for example for an access log. Each gets {@code onConnect} of its
     * connection, before there is one to the upstream server, and can refuse it by an exception or a close; then {@code onError}, {@code onIdle} and {@code onDisconnect}. The other callbacks are the relay's. If no connection to
     * the upstream server can be made, {@code onError} gets an {@link java.io.IOException} that says so, whose cause is the reason, and the connection is closed; by default this is logged as a warning, with at most one line a second.
     *
     * <p>To hear of the connections to the upstream server as well, connect them in a handler of your own, with {@link #to(Connection, ConnectionHandler)}.
     *
     * @param client opens the connections; it must stay open as long as the server
     * @param upstream where to
     * @param handlers makes the handler of each client; its {@code onError} hears of those that are turned away
     * @return for {@link TcpServer.Builder#start(HandlerFactory)}
     */
    public static HandlerFactory proxy(TcpClient client, InetSocketAddress upstream, HandlerFactory handlers) {
        return proxy(client, ConnectTarget.of(Objects.requireNonNull(upstream, "upstream")), handlers);
    }

    /**
     * Makes the handlers of a server that is a proxy for one at a Unix socket, with handlers of your own: see {@link
     * #proxy(TcpClient, InetSocketAddress, HandlerFactory)}.
     *
     * @param client opens the connections; it must stay open as long as the server
     * @param upstream where to
     * @param handlers makes the handler of each client; its {@code onError} hears of those that are turned away
     * @return for {@link TcpServer.Builder#start(HandlerFactory)}
     */
    public static HandlerFactory proxy(TcpClient client, UnixAddress upstream, HandlerFactory handlers) {
        return proxy(client, ConnectTarget.of(upstream), handlers);
    }

    private static HandlerFactory proxy(TcpClient client, ConnectTarget upstream, HandlerFactory handlers) {
        Objects.requireNonNull(client, "client");
        Objects.requireNonNull(handlers, "handlers");
        return new HandlerFactory() {
            @Override
            public ConnectionHandler handlerFor(Connection connection) throws Exception {
                ConnectionHandler own = Objects.requireNonNull(
                        handlers.handlerFor(connection),
                        () -> "no handler for " + connection + ": " + handlers + " returned null");
                return new Proxied(client, upstream, own);
            }

            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {
                handlers.onError(connection, failure);
            }

            @Override
            public String toString() {
                return "proxy to " + upstream + " for " + handlers;
            }
        };
    }

    /** One side of a relay, as its user sees it: may have a handler of the user's, which hears of what is not the relay's. */
    private abstract static class Side implements ConnectionHandler {
        private final @Nullable ConnectionHandler own;

        Side(@Nullable ConnectionHandler own) {
            this.own = own;
        }

        @Override
        public void onConnect(Connection connection) throws Exception {
            if (own != null) {
                own.onConnect(connection);
            }
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            throw new IllegalStateException("cannot deliver bytes on " + connection + ": it is not relayed");
        }

        @Override
        public void onIdle(Connection connection, Idle kind) throws Exception {
            if (own == null) {
                ConnectionHandler.super.onIdle(connection, kind);
            } else {
                own.onIdle(connection, kind);
            }
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            if (own == null) {
                ConnectionHandler.super.onError(connection, failure);
            } else {
                own.onError(connection, failure);
            }
        }

        @Override
        public void onDisconnect(Connection connection) throws Exception {
            if (own != null) {
                own.onDisconnect(connection);
            }
        }

        /** For messages. */
        String suffix() {
            return own == null ? "" : " for " + own;
        }
    }

    /** Waits for the connection that was asked for. */
    private static final class Joining extends Side {
        private final RelaySide waits;
        private final AtomicBoolean used = new AtomicBoolean();

        Joining(RelaySide waits, @Nullable ConnectionHandler own) {
            super(own);
            this.waits = waits;
        }

        @Override
        public void onConnect(Connection connection) throws Exception {
            if (used.getAndSet(true)) {
                throw new IllegalStateException("cannot relay " + waits.connection() + " to " + connection
                        + ": this handler is for one connection; call Relay.to for each");
            }
            super.onConnect(connection);
            RelaySide.join(new RelaySide(connection), waits);
        }

        @Override
        public String toString() {
            return "relay to " + waits.connection() + suffix();
        }
    }

    /** A connection of a proxy. */
    private static final class Proxied extends Side {
        private final TcpClient client;
        private final ConnectTarget upstream;
        private @Nullable CompletableFuture<Connection> attempt;

        Proxied(TcpClient client, ConnectTarget upstream, @Nullable ConnectionHandler own) {
            super(own);
            this.client = client;
            this.upstream = upstream;
        }

        @Override
        public void onConnect(Connection connection) throws Exception {
            super.onConnect(connection);
            if (connection.isClosed()) {
                return; // by the user's handler
            }
            CompletableFuture<Connection> made = client.connectNear(upstream, to(connection), connection);
            attempt = made;
            var ignored = made.whenComplete((there, failure) -> {
                if (failure != null && !connection.isClosed()) {
                    giveUp(connection, failure);
                }
            });
        }

        /** Where the connection's callbacks run, since the user's handler hears of it. */
        private void giveUp(Connection connection, Throwable failure) {
            try {
                connection.execute(() -> {
                    ConnectionLog.tell(this, connection, new NotRelayedException(connection, upstream, failure));
                    connection.close();
                });
            } catch (RejectedExecutionException e) {
                // It has ended meanwhile, so there is nothing left to relay.
            }
        }

        /** Nobody is left to connect for. */
        @Override
        public void onDisconnect(Connection connection) throws Exception {
            CompletableFuture<Connection> made = attempt;
            if (made != null) {
                made.cancel(false);
            }
            super.onDisconnect(connection);
        }

        @Override
        public String toString() {
            return "proxy to " + upstream + suffix();
        }
    }
}
