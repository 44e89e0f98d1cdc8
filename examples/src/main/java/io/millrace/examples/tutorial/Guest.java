package io.millrace.examples.tutorial;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Idle;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The handler of one connection, from step 3 on. */
final class Guest implements ConnectionHandler {
    private static final int LONGEST_NAME = 20;

    private @Nullable String name;

    @Override
    public void onConnect(Connection connection) {
        connection.send("Your name?\n");
    }

    @Override
    public void onData(Connection connection, ByteBuffer line) {
        String text = UTF_8.decode(line).toString().replaceAll("\\p{Cntrl}", "").strip();
        if (name != null) {
            tell(connection, name + ": " + text);
        } else if (text.isEmpty() || text.length() > LONGEST_NAME) {
            connection.send("A name has 1 to " + LONGEST_NAME + " letters. Your name?\n");
        } else {
            name = text;
            tell(connection, name + " is here");
        }
    }

    @Override
    public void onIdle(Connection connection, Idle kind) {
        connection.send("You have been silent for too long.\n");
        connection.close();
    }

    @Override
    public void onDisconnect(Connection connection) {
        if (name != null) {
            tell(connection, name + " has left");
        }
    }

    private static void tell(Connection connection, String line) {
        connection.server().broadcast(UTF_8.encode(line + "\n"));
    }
}
