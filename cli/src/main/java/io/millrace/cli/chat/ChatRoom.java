package io.millrace.cli.chat;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.ServerContext;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * A chat room. A client's first line is its name, and each further line goes to everyone, including the sender, in one
 * order. {@code nc} works as a client.
 *
 * <p>A line is encoded once, regardless of how many receive it. It waits at each connection separately: a client that
 * does not read is disconnected when too much is waiting ({@link #MOST_WAITING}), and the others are not affected. What
 * strangers write reaches terminals, so it is cleaned by {@link Plain}.
 */
public final class ChatRoom implements ConnectionHandler {
    /** How many bytes may wait for a client that does not read. */
    public static final int MOST_WAITING = 1 << 20;

    static final int LONGEST_LINE = 1024;
    private static final int LONGEST_NAME = 32;
    static final String NO_NAME = "* a name has 1 to " + LONGEST_NAME + " letters, and no * or / first; your name?\n";

    private final Supplier<ServerContext> context;
    private final Map<String, Connection> members = new TreeMap<>();

    private ChatRoom(Supplier<ServerContext> context) {
        this.context = context;
    }

    /**
     * Creates the handler of an empty room.
     *
     * @param context the connections
     * @param lineLimit how long a client may take for one line
     * @return the handler for a server
     */
    public static ConnectionHandler create(Supplier<ServerContext> context, Duration lineLimit) {
        return Framing.lines(LONGEST_LINE).within(lineLimit).frames(new ChatRoom(context));
    }

    @Override
    public void onConnect(Connection connection) {
        connection.send("* your name?\n");
    }

    @Override
    public void onData(Connection connection, ByteBuffer line) {
        String text = Plain.of(line);
        if (connection.attachment() instanceof String name) {
            speak(connection, name, text);
        } else {
            enter(connection, text);
        }
    }

    private void enter(Connection connection, String name) {
        if (!isName(name)) {
            connection.send(NO_NAME);
            return;
        }
        // The broadcast is inside, too, so that all loops get the lines in the same order.
        synchronized (members) {
            if (members.putIfAbsent(name, connection) != null) {
                connection.send("* " + name + " is here already; your name?\n");
                return;
            }
            connection.setAttachment(name);
            tellAll("* " + name + " joined, " + members.size() + " here\n");
        }
    }

    static boolean isName(String name) {
        return !name.isEmpty() && name.length() <= LONGEST_NAME && !name.startsWith("*") && !name.startsWith("/");
    }

    private void speak(Connection connection, String name, String text) {
        switch (text) {
            case "" -> {}
            case "/quit" -> connection.close();
            case "/who" -> {
                synchronized (members) {
                    connection.send("* here: " + String.join(", ", members.keySet()) + "\n");
                }
            }
            default -> {
                synchronized (members) {
                    tellAll(name + ": " + text + "\n");
                }
            }
        }
    }

    @Override
    public void onDisconnect(Connection connection) {
        if (connection.attachment() instanceof String name) {
            synchronized (members) {
                if (members.remove(name, connection)) {
                    tellAll("* " + name + " left, " + members.size() + " here\n");
                }
            }
        }
    }

    private void tellAll(String line) {
        context.get().broadcast(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
    }

    @Override
    public String toString() {
        return "chat";
    }
}
