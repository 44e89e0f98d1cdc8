package io.millrace.cli.redis;

import io.millrace.engine.EventManager;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.ServerContext;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The handler for all clients of one keyspace. */
public final class RedisHandler implements ConnectionHandler {
    private final EventManager manager;
    private final long commandNanos;
    private final Keyspace keys;
    private final Channels channels;
    private final Commands commands;
    private final LongAdder opened = new LongAdder();

    /**
     * Creates a handler with an empty keyspace.
     *
     * @param manager its alarms remove keys that expire, and clients that do not finish their commands
     * @param context the connections
     * @param commandLimit how long a client may take for one command; longer if it is large
     */
    public RedisHandler(EventManager manager, Supplier<ServerContext> context, Duration commandLimit) {
        this.manager = manager;
        this.commandNanos = commandLimit.toNanos();
        this.keys = new Keyspace(manager);
        this.channels = new Channels((to, message) -> context.get()
                .broadcast(
                        to.stream().map(peer -> ((Peer.Of) peer).connection()).toList(), message));
        this.commands = new Commands(keys, channels, new Commands.Server() {
            @Override
            public int connections() {
                return context.get().connections().size();
            }

            @Override
            public long connectionsOpened() {
                return opened.sum();
            }
        });
    }

    private static Session session(Connection connection) {
        return (Session) Objects.requireNonNull(connection.attachment());
    }

    @Override
    public void onConnect(Connection connection) {
        opened.increment();
        Peer peer = new Peer.Of(connection);
        connection.setAttachment(new Session(peer, keys, commands, new CommandLimit(manager, commandNanos, peer)));
    }

    @Override
    public void onData(Connection connection, ByteBuffer data) {
        session(connection).onData(data);
    }

    @Override
    public void onWritable(Connection connection) {
        session(connection).onWritable();
    }

    @Override
    public void onDisconnect(Connection connection) {
        Session session = session(connection);
        session.onDisconnect();
        keys.lock.lock();
        try {
            channels.remove(session);
        } finally {
            keys.lock.unlock();
        }
    }

    /**
     * As by default; but after a bug of ours or an OutOfMemoryError, the reply may be incomplete, so the client gets no
     * more of it.
     */
    @Override
    public void onError(@Nullable Connection connection, Throwable failure) {
        ConnectionHandler.super.onError(connection, failure);
        if (connection != null && !(failure instanceof IOException)) {
            connection.abort();
        }
    }

    @Override
    public String toString() {
        return "redis with " + keys;
    }
}
