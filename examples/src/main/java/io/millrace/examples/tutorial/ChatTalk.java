package io.millrace.examples.tutorial;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.server.DirectSocket;
import io.millrace.server.Framing;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The conversation with one guest, from step 4 on. */
final class ChatTalk {
    private static final int LONGEST_NAME = 20;
    private static final Framing LINES = Framing.lines(1024).within(Duration.ofSeconds(30));

    private final DirectSocket socket;

    private ChatTalk(DirectSocket socket) {
        this.socket = socket;
    }

    static void talk(DirectSocket socket, Duration patience) throws IOException {
        socket.setReadTimeout(patience);
        try {
            new ChatTalk(socket).talk();
        } catch (SocketTimeoutException silent) {
            socket.write("You have been silent for too long.\n");
        }
    }

    private void talk() throws IOException {
        socket.write("Your name?\n");
        String name = readLine();
        while (name != null && (name.isEmpty() || name.length() > LONGEST_NAME)) {
            socket.write("A name has 1 to " + LONGEST_NAME + " letters. Your name?\n");
            name = readLine();
        }
        if (name == null) {
            return;
        }
        tell(name + " is here");
        try {
            for (String line = readLine(); line != null; line = readLine()) {
                tell(name + ": " + line);
            }
        } finally {
            tell(name + " has left");
        }
    }

    private @Nullable String readLine() throws IOException {
        ByteBuffer line = socket.readFrame(LINES);
        return line == null
                ? null
                : UTF_8.decode(line).toString().replaceAll("\\p{Cntrl}", "").strip();
    }

    private void tell(String line) {
        socket.connection().server().broadcast(UTF_8.encode(line + "\n"));
    }
}
