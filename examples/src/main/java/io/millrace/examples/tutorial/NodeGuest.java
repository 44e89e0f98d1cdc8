package io.millrace.examples.tutorial;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.backplane.Presence;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.Idle;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The handler of one connection, in step 9. */
final class NodeGuest implements ConnectionHandler {
    private static final int LONGEST_NAME = 20;

    private final SharedRoom room;
    private @Nullable String name;
    private @Nullable Presence presence;

    private NodeGuest(SharedRoom room) {
        this.room = room;
    }

    static ConnectionHandler in(SharedRoom room) {
        return Framing.lines(1024).within(Duration.ofSeconds(30)).frames(new NodeGuest(room));
    }

    @Override
    public void onConnect(Connection connection) {
        connection.send("Your name?\n");
    }

    @Override
    public void onData(Connection connection, ByteBuffer line) {
        String text = UTF_8.decode(line).toString().replaceAll("\\p{Cntrl}", "").strip();
        if (name != null) {
            room.say(connection, name + ": " + text);
        } else if (text.isEmpty() || text.length() > LONGEST_NAME) {
            connection.send("A name has 1 to " + LONGEST_NAME + " letters. Your name?\n");
        } else {
            name = text;
            presence = room.enter(connection, name);
        }
    }

    @Override
    public void onIdle(Connection connection, Idle kind) {
        connection.send("You have been silent for too long.\n");
        connection.close();
    }

    @Override
    public void onDisconnect(Connection connection) {
        room.leave(connection);
        if (presence != null) {
            presence.close();
        }
    }
}
