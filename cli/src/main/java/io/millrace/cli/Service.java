package io.millrace.cli;

import io.millrace.cli.chat.ChatRoom;
import io.millrace.cli.redis.RedisHandler;
import io.millrace.engine.Reactors;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.ServerContext;
import io.millrace.server.TcpServer;
import java.time.Duration;
import java.util.function.Supplier;

/** A server that people can start. */
interface Service {
    /** How many loops it has unless the user says otherwise. */
    default int loops() {
        return Runtime.getRuntime().availableProcessors();
    }

    /** How many bytes it reads at once unless the user says otherwise; 0 for what servers do by default. */
    default int buffer() {
        return 0;
    }

    /** Its own wishes, e.g. how much may wait for a slow reader. */
    default void configure(TcpServer.Builder server) {}

    /**
     * What it does with connections.
     *
     * @param on its loops
     * @param context its connections; there once the server has started, so not before the first call of the handler
     * @param messageLimit how long a client may take for one message, where there are such
     */
    ConnectionHandler handler(Reactors on, Supplier<ServerContext> context, Duration messageLimit);

    /** By name. */
    static Service named(String name) throws UsageException {
        return switch (name) {
            case "echo" -> (on, context, messageLimit) -> (connection, data) -> connection.send(data);
            case "chat" -> new Chat();
            case "redis" -> new Redis();
            default -> throw new UsageException("cannot serve " + name + "; choose echo, chat or redis");
        };
    }

    /** A slow reader is cut off long before it costs much. */
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

    /**
     * One loop, so that nobody waits for the lock of the keyspace. A value may have 512 MiB, and a client may ask for it: one reply is sent whatever its length, and what waits
     * before it is kept to a few.
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
