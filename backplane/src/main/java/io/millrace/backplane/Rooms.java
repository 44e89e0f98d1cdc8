package io.millrace.backplane;

import io.millrace.server.Connection;
import io.millrace.server.ServerContext;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Joins the connections of a server to topics.
 *
 * <p>A node subscribes once to a room that has connections here, no matter how many. A message is formatted once and
 * broadcast to them, which copies it once. A connection that comes with a position, or wants the last messages, first
 * reads them by itself; then it is one of the others, with no message missing or twice between the two.
 *
 * <p>The limits of the server hold: a connection that does not read is closed when too much waits for it, and the others
 * do not notice. A closed connection leaves its rooms by itself, at the latest with their next message; {@link
 * #leaveAll} in {@code onDisconnect} does it at once.
 *
 * <p><b>Threads.</b> Any thread may call any method, and none blocks.
 */
public final class Rooms implements AutoCloseable {
    private final Backplane backplane;
    private final Supplier<ServerContext> server;
    private final RoomFormat format;
    private final ConcurrentHashMap<String, Room> rooms = new ConcurrentHashMap<>();
    private final Subscription mailbox;

    private Rooms(Backplane backplane, Supplier<ServerContext> server, RoomFormat format) {
        this.backplane = backplane;
        this.server = server;
        this.format = format;
        this.mailbox = backplane.readMailbox(this::deliver);
    }

    /**
     * Makes rooms for a server, once for each backplane.
     *
     * @param backplane the node
     * @param server its connections; asked for when the first of them joins
     * @param format your protocol
     * @return without any connection
     */
    public static Rooms on(Backplane backplane, Supplier<ServerContext> server, RoomFormat format) {
        return new Rooms(
                Objects.requireNonNull(backplane, "backplane"),
                Objects.requireNonNull(server, "server"),
                Objects.requireNonNull(format, "format"));
    }

    // ---- Rooms ----

    /**
     * Joins a connection to a room: it gets what is published from about now on. Does nothing if it is there.
     *
     * @param connection of this server
     * @param room the name of the topic
     */
    public void join(Connection connection, String room) {
        join(connection, room, new Subscription.Start.Now());
    }

    /**
     * Joins a connection to a room, and has it begin with the last messages.
     *
     * @param connection of this server
     * @param room the name of the topic
     * @param last how many messages; they should fit into what may wait for a connection
     */
    public void join(Connection connection, String room, int last) {
        join(connection, room, Topic.last(last));
    }

    /**
     * Joins a connection that comes back: it gets what follows the position, or is told of a gap.
     *
     * @param connection of this server
     * @param room the name of the topic
     * @param after where its client was, on whatever node
     */
    public void join(Connection connection, String room, Position after) {
        join(connection, room, new Subscription.Start.After(Objects.requireNonNull(after, "after")));
    }

    private void join(Connection connection, String name, Subscription.Start start) {
        String checked = backplane.topic(name).name();
        rooms.compute(checked, (same, present) -> {
            Room room = present == null ? new Room(checked) : present;
            room.add(connection, start);
            return room;
        });
    }

    /**
     * Has a connection leave a room. Messages that are being delivered may still reach it.
     *
     * @param connection any
     * @param room the name of the topic
     */
    public void leave(Connection connection, String room) {
        rooms.computeIfPresent(room, (same, present) -> present.remove(connection) ? present : null);
    }

    /**
     * Has a connection leave all rooms. Call it in {@code onDisconnect}.
     *
     * @param connection any
     */
    public void leaveAll(Connection connection) {
        for (Room room : rooms.values()) {
            if (room.has(connection)) {
                leave(connection, room.name);
            }
        }
    }

    /** One room, as far as this node has connections in it. Added to and removed from in the map of rooms only. */
    private final class Room implements Subscriber {
        private final String name;
        private final Subscription live;
        /** All of them; those that still read the history with their own subscription. */
        private final ConcurrentHashMap<Connection, Joining> present = new ConcurrentHashMap<>();
        /** Those that have caught up. In the topic's executor. */
        private final Set<Connection> here = new LinkedHashSet<>();

        Room(String name) {
            this.name = name;
            this.live = backplane.subscribe(name, this, new Subscription.Start.Now(), null);
        }

        void add(Connection connection, Subscription.Start start) {
            Joining joining = new Joining(this, connection);
            if (present.putIfAbsent(connection, joining) == null) {
                joining.begin(start);
            }
        }

        boolean has(Connection connection) {
            return present.containsKey(connection);
        }

        /** Returns whether the room is still needed. */
        boolean remove(Connection connection) {
            Joining joining = present.remove(connection);
            if (joining != null) {
                joining.end();
                backplane.execute(name, () -> here.remove(connection));
            }
            if (present.isEmpty()) {
                live.close();
                return false;
            }
            return true;
        }

        @Override
        public void onMessage(Message message) {
            tell(format.message(name, message));
        }

        @Override
        public void onGap(Gap gap) {
            tell(format.gap(name, gap));
        }

        @Override
        public void onEntered(Member member) {
            tell(format.entered(name, member));
        }

        @Override
        public void onLeft(Member member) {
            tell(format.left(name, member));
        }

        private void tell(@Nullable ByteBuffer bytes) {
            if (bytes != null && server.get().broadcast(here, bytes) < here.size()) {
                List<Connection> closed = new ArrayList<>(here);
                closed.removeIf(connection -> !connection.isClosed());
                closed.forEach(connection -> leave(connection, name));
            }
        }

        @Override
        public String toString() {
            return "room " + name;
        }
    }

    /** A connection that reads what it has missed, before it is one of the others. */
    private final class Joining implements Subscriber {
        private final Room room;
        private final Connection connection;
        private volatile @Nullable Subscription own;
        private volatile boolean over;

        Joining(Room room, Connection connection) {
            this.room = room;
            this.connection = connection;
        }

        void begin(Subscription.Start start) {
            Subscription subscription = backplane.subscribe(room.name, this, start, this::caughtUp);
            own = subscription;
            if (over) {
                subscription.close();
            }
        }

        /** In the topic's executor, between two messages. */
        private void caughtUp() {
            if (!over) {
                room.here.add(connection);
                end();
            }
        }

        void end() {
            over = true;
            Subscription subscription = own;
            if (subscription != null) {
                subscription.close();
            }
        }

        @Override
        public void onMessage(Message message) {
            send(format.message(room.name, message));
        }

        @Override
        public void onGap(Gap gap) {
            send(format.gap(room.name, gap));
        }

        private void send(@Nullable ByteBuffer bytes) {
            if (bytes != null && !over) {
                connection.send(bytes);
                if (connection.isClosed()) {
                    leave(connection, room.name);
                }
            }
        }

        @Override
        public String toString() {
            return connection + ", which joins " + room;
        }
    }

    // ---- Connections anywhere ----

    /**
     * Returns by what other nodes can {@linkplain #send send} to a connection of this one.
     *
     * @param connection of this server
     * @return the node and the connection's id
     */
    public String address(Connection connection) {
        return backplane.node() + "." + connection.id();
    }

    /**
     * Sends bytes to a connection anywhere.
     *
     * @param address its {@link #address}, on whatever node it was made
     * @param data the bytes, copied before this returns
     * @return completes when its node is bound to get them; whether the connection is there then, is not told. Fails with
     *     {@link NotPublishedException.Reason#NO_SUCH_NODE} if its node is not there
     * @throws IllegalArgumentException if this is no address
     */
    public CompletableFuture<Position> send(String address, ByteBuffer data) {
        int dot = address.indexOf('.');
        long id;
        try {
            id = Long.parseLong(address.substring(dot + 1));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "the address of a connection is node.number, not \"" + address + "\"", e);
        }
        ByteBuffer letter = ByteBuffer.allocate(Long.BYTES + data.remaining());
        letter.putLong(id).put(data).flip();
        return backplane.sendToMailbox(address.substring(0, Math.max(0, dot)), letter);
    }

    /**
     * Sends text to a connection anywhere, as UTF-8.
     *
     * @param address its {@link #address}
     * @param text the text
     * @return as {@link #send(String, ByteBuffer)}
     */
    public CompletableFuture<Position> send(String address, String text) {
        return send(address, ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    private void deliver(Message letter) {
        ByteBuffer data = letter.data();
        server.get().send(data.getLong(), data);
    }

    /** Ends all rooms. The connections stay as they are. Idempotent. */
    @Override
    public void close() {
        mailbox.close();
        for (String name : List.copyOf(rooms.keySet())) {
            rooms.computeIfPresent(name, (same, room) -> {
                room.live.close();
                room.present.values().forEach(Joining::end);
                return null;
            });
        }
    }

    @Override
    public String toString() {
        return rooms.size() + " rooms on " + backplane;
    }
}
