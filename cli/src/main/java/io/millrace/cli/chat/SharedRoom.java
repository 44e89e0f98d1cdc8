package io.millrace.cli.chat;

import io.millrace.backplane.Backplane;
import io.millrace.backplane.EngineState;
import io.millrace.backplane.Gap;
import io.millrace.backplane.Member;
import io.millrace.backplane.Message;
import io.millrace.backplane.NotPublishedException;
import io.millrace.backplane.Presence;
import io.millrace.backplane.RoomFormat;
import io.millrace.backplane.Rooms;
import io.millrace.backplane.Topic;
import io.millrace.engine.Reactors;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.ServerContext;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The chat room on several nodes, by a backplane: a line reaches everyone on all of them, whoever enters gets the last
 * lines, and {@code /who} tells who is on which node. If lines were lost, that is said; while the backplane is away, the
 * guests of a node hear each other.
 */
public final class SharedRoom implements ConnectionHandler, AutoCloseable {
    private static final String ROOM = "chat";
    private static final int LAST_LINES = 10;

    private final Supplier<ServerContext> context;
    private final Backplane backplane;
    private final Topic topic;
    private final Rooms rooms;
    private volatile boolean wasAway;

    /** Somebody with a name. */
    private record Guest(String name, Presence presence) {}

    private SharedRoom(String url, Reactors reactors, Supplier<ServerContext> context) {
        this.context = context;
        this.backplane = Backplane.builder(url, reactors)
                .namespace("millrace-chat")
                .localWhenAway(true)
                .onState(this::tellState)
                .open();
        this.topic = backplane.topic(ROOM);
        this.rooms = Rooms.on(backplane, context, new Lines());
    }

    /**
     * Opens a room on a backplane.
     *
     * @param url the engine
     * @param reactors its threads
     * @param context the connections
     * @return the room, which the caller must close
     * @throws IllegalArgumentException if no engine understands the URL
     */
    public static SharedRoom open(String url, Reactors reactors, Supplier<ServerContext> context) {
        return new SharedRoom(url, reactors, context);
    }

    /**
     * Returns the handler of its connections.
     *
     * @param lineLimit how long a client may take for one line
     * @return the handler for a server
     */
    public ConnectionHandler handler(Duration lineLimit) {
        return Framing.lines(ChatRoom.LONGEST_LINE).within(lineLimit).frames(this);
    }

    @Override
    public void onConnect(Connection connection) {
        connection.send("* your name?\n");
    }

    @Override
    public void onData(Connection connection, ByteBuffer line) {
        String text = Plain.of(line);
        if (connection.attachment() instanceof Guest guest) {
            speak(connection, guest.name, text);
        } else {
            enter(connection, text);
        }
    }

    /** Two nodes may let the same name in at the same moment; then {@code /who} shows both. */
    private void enter(Connection connection, String name) {
        if (!ChatRoom.isName(name)) {
            connection.send(ChatRoom.NO_NAME);
        } else if (topic.members().stream().anyMatch(member -> member.name().equals(name))) {
            connection.send("* " + name + " is here already; your name?\n");
        } else {
            connection.setAttachment(new Guest(name, topic.enter(name)));
            rooms.join(connection, ROOM, LAST_LINES);
            who(connection);
        }
    }

    private void speak(Connection connection, String name, String text) {
        switch (text) {
            case "" -> {}
            case "/quit" -> connection.close();
            case "/who" -> who(connection);
            default -> {
                var ignored = topic.publish(name + ": " + text).whenComplete((position, failure) -> {
                    if (failure instanceof NotPublishedException refusal
                            && refusal.reason() != NotPublishedException.Reason.LOCAL_ONLY) {
                        connection.send("* not sent: " + refusal.getMessage() + "\n");
                    }
                });
            }
        }
    }

    private void who(Connection connection) {
        List<Member> members = topic.members();
        long nodes = members.stream().map(Member::node).distinct().count();
        connection.send("* here: " + members.stream().map(Member::name).collect(Collectors.joining(", "))
                + (nodes > 1 ? " (on " + nodes + " nodes)" : "") + "\n");
    }

    @Override
    public void onDisconnect(Connection connection) {
        rooms.leaveAll(connection);
        if (connection.attachment() instanceof Guest guest) {
            guest.presence.close();
        }
    }

    /** That it is connected for the first time is no news. */
    private void tellState(EngineState state) {
        if (state == EngineState.CONNECTED && !wasAway) {
            return;
        }
        wasAway = true;
        context.get()
                .broadcast(encode(
                        state == EngineState.AWAY
                                ? "* the other nodes cannot be reached; you are heard here only\n"
                                : "* the other nodes can be reached\n"));
    }

    private static ByteBuffer encode(String line) {
        return ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
    }

    /** What its guests read. */
    private final class Lines implements RoomFormat {
        @Override
        public ByteBuffer message(String room, Message message) {
            ByteBuffer data = message.data();
            return ByteBuffer.allocate(data.remaining() + 1)
                    .put(data)
                    .put((byte) '\n')
                    .flip();
        }

        @Override
        public ByteBuffer gap(String room, Gap gap) {
            return encode(
                    gap.count() < 0
                            ? "* some lines may be missing here\n"
                            : "* " + gap.count() + " lines are missing here\n");
        }

        @Override
        public ByteBuffer entered(String room, Member member) {
            return encode("* " + member.name() + " joined, " + topic.members().size() + " here\n");
        }

        @Override
        public ByteBuffer left(String room, Member member) {
            return encode("* " + member.name() + " left, " + topic.members().size() + " here\n");
        }
    }

    @Override
    public void close() {
        rooms.close();
        backplane.close();
    }

    @Override
    public String toString() {
        return "chat on " + backplane;
    }
}
