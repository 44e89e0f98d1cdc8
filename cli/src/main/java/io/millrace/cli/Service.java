package io.millrace.cli;

import io.millrace.cli.chat.ChatRoom;
import io.millrace.cli.chat.SharedRoom;
import io.millrace.cli.http.HttpHandler;
import io.millrace.cli.redis.RedisHandler;
import io.millrace.engine.Reactors;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import io.millrace.server.ServerContext;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A server that {@code millrace serve} can start. */
interface Service {
    /** Returns how many loops it has by default. */
    default int loops() {
        return Runtime.getRuntime().availableProcessors();
    }

    /** Returns how many bytes it reads at once by default; 0 for the server's default. */
    default int buffer() {
        return 0;
    }

    /** Returns the names of its protocols, for TLS to agree on one (ALPN). */
    default List<String> applicationProtocols() {
        return List.of();
    }

    /** Applies its own settings, for example how much may wait for a slow reader. */
    default void configure(TcpServer.Builder server) {}

    /**
     * Creates the handler of its connections.
     *
     * @param on its loops
     * @param context its connections; available once the server has started, and so from the first callback on
     * @param messageLimit how long a client may take for one message, if the protocol has messages
     */
    ConnectionHandler handler(Reactors on, Supplier<ServerContext> context, Duration messageLimit);

    /** Starts it. */
    default TcpServer start(
            TcpServer.Builder server, Reactors on, Supplier<ServerContext> context, Duration messageLimit)
            throws IOException {
        return server.start(handler(on, context, messageLimit));
    }

    /** Reads again the files that it was started with, because it was told to (SIGHUP). */
    default void reload() {}

    /** Returns whether there are such files. */
    default boolean reloads() {
        return false;
    }

    /** Another process has taken over: clients should come back there soon. */
    default void drain() {}

    /** Ends what it has opened besides the server, after the server has ended. */
    default void end(Duration atMost) {}

    /** Returns the service that was asked for. */
    static Service of(Options options) throws UsageException {
        Options.Proxied proxied = options.proxied();
        if (proxied != null) {
            return new Proxy(options, proxied);
        }
        String name = options.service();
        return switch (name) {
            case "echo" ->
                options.direct()
                        ? new DirectEcho()
                        : (on, context, messageLimit) -> (connection, data) -> connection.send(data);
            case "chat" -> options.backplane() == null ? new Chat() : new SharedChat(options.backplane());
            case "redis" -> new Redis();
            case "http" -> new Http(Objects.requireNonNull(options.directory()), options.idle(), new AtomicBoolean());
            default -> throw new UsageException("cannot serve " + name + "; choose echo, chat, redis or http");
        };
    }

    /** Sends every byte back, in direct style. */
    final class DirectEcho implements Service {
        private static final int BUFFER = 8192;

        @Override
        public ConnectionHandler handler(Reactors on, Supplier<ServerContext> context, Duration messageLimit) {
            throw new UnsupportedOperationException("a conversation has no handler");
        }

        @Override
        public TcpServer start(
                TcpServer.Builder server, Reactors on, Supplier<ServerContext> context, Duration messageLimit)
                throws IOException {
            return DirectServer.start(server, DirectEcho::echo).server();
        }

        private static void echo(DirectSocket socket) throws IOException {
            ByteBuffer buffer = ByteBuffer.allocate(BUFFER);
            while (socket.read(buffer) >= 0) {
                socket.write(buffer.flip());
                buffer.clear();
            }
        }
    }

    /** Serves files. A client that is silent between two requests is kept for a while, and then not missed. */
    record Http(Path directory, Duration idle, AtomicBoolean draining) implements Service {
        private static final Duration KEPT = Duration.ofSeconds(60);
        private static final Duration HEAD = Duration.ofSeconds(10);

        @Override
        public List<String> applicationProtocols() {
            return List.of("http/1.1");
        }

        @Override
        public void configure(TcpServer.Builder server) {
            server.idleTimeout(idle.isZero() ? KEPT : idle);
        }

        @Override
        public ConnectionHandler handler(Reactors on, Supplier<ServerContext> context, Duration messageLimit) {
            throw new UnsupportedOperationException("made in start, which may fail");
        }

        @Override
        public TcpServer start(
                TcpServer.Builder server, Reactors on, Supplier<ServerContext> context, Duration messageLimit)
                throws IOException {
            Duration limit = messageLimit.compareTo(HEAD) < 0 ? messageLimit : HEAD;
            return server.start(HttpHandler.serving(directory, limit, draining::get));
        }

        @Override
        public void drain() {
            draining.set(true);
        }
    }

    /** Disconnects slow readers long before they cost much memory. */
    final class Chat implements Service {
        @Override
        public void configure(TcpServer.Builder server) {
            server.waterMarks(32 << 10, 64 << 10, ChatRoom.MOST_WAITING);
        }

        @Override
        public ConnectionHandler handler(Reactors on, Supplier<ServerContext> context, Duration messageLimit) {
            return ChatRoom.create(context, messageLimit);
        }
    }

    /** The same on several nodes. */
    final class SharedChat implements Service {
        private final String url;
        private @Nullable SharedRoom room;

        SharedChat(String url) {
            this.url = url;
        }

        @Override
        public void configure(TcpServer.Builder server) {
            new Chat().configure(server);
        }

        @Override
        public ConnectionHandler handler(Reactors on, Supplier<ServerContext> context, Duration messageLimit) {
            SharedRoom opened = SharedRoom.open(url, on, context);
            room = opened;
            return opened.handler(messageLimit);
        }

        @Override
        public void end(Duration atMost) {
            if (room != null) {
                room.close();
            }
        }
    }

    /**
     * Uses one loop, so that the lock of the keyspace is never contended. A value may have 512 MiB, and a client may
     * ask for it: one reply is sent regardless of its length, but only a little may be waiting before it.
     */
    final class Redis implements Service {
        @Override
        public int loops() {
            return 1;
        }

        @Override
        public int buffer() {
            return 16 * 1024;
        }

        @Override
        public void configure(TcpServer.Builder server) {
            server.waterMarks(32 << 10, 64 << 10, 64L << 20);
        }

        @Override
        public ConnectionHandler handler(Reactors on, Supplier<ServerContext> context, Duration messageLimit) {
            return new RedisHandler(on, context, messageLimit);
        }
    }
}
