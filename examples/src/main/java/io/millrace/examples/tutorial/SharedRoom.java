package io.millrace.examples.tutorial;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.backplane.Backplane;
import io.millrace.backplane.Gap;
import io.millrace.backplane.Member;
import io.millrace.backplane.Message;
import io.millrace.backplane.Presence;
import io.millrace.backplane.RoomFormat;
import io.millrace.backplane.Rooms;
import io.millrace.backplane.Topic;
import io.millrace.server.Connection;
import io.millrace.server.ServerContext;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The room of step 9, in which the guests of all nodes are. */
final class SharedRoom implements AutoCloseable {
    private static final String NAME = "lobby";

    private final Topic topic;
    private final Rooms rooms;

    SharedRoom(Backplane backplane, Supplier<ServerContext> server) {
        this.topic = backplane.topic(NAME);
        this.rooms = Rooms.on(backplane, server, new Lines());
    }

    /** Until the presence is closed, the guest is here for everybody, on all nodes. */
    Presence enter(Connection connection, String name) {
        Presence presence = topic.enter(name);
        connection.send("Here: " + topic.members().stream().map(Member::name).collect(Collectors.joining(", ")) + "\n");
        rooms.join(connection, NAME, 10); // the last ten lines, then what follows
        return presence;
    }

    void say(Connection connection, String line) {
        topic.publish(line).exceptionally(refusal -> {
            connection.send("Not sent: " + refusal.getMessage() + "\n");
            return null;
        });
    }

    void leave(Connection connection) {
        rooms.leaveAll(connection);
    }

    @Override
    public void close() {
        rooms.close();
    }

    /** What guests read. Each is made once for all guests of a node. */
    private static final class Lines implements RoomFormat {
        @Override
        public ByteBuffer message(String room, Message message) {
            return UTF_8.encode(UTF_8.decode(message.data()) + "\n");
        }

        @Override
        public ByteBuffer entered(String room, Member member) {
            return UTF_8.encode(member.name() + " is here\n");
        }

        @Override
        public ByteBuffer left(String room, Member member) {
            return UTF_8.encode(member.name() + " has left\n");
        }

        @Override
        public ByteBuffer gap(String room, Gap gap) {
            return UTF_8.encode("(Some lines may be missing here.)\n");
        }
    }
}
