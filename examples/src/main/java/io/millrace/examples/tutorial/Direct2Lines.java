package io.millrace.examples.tutorial;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import java.io.IOException;

/** Step 2: whole lines, and each one to everybody. */
final class Direct2Lines {
    private Direct2Lines() {}

    /** The conversation with one guest. */
    private static void chat(DirectSocket socket) throws IOException {
        socket.write("Your name?\n");
        String name = socket.readLine(1024);
        if (name == null) {
            return;
        }
        tell(socket, name + " is here");
        try {
            for (String line = socket.readLine(1024); line != null; line = socket.readLine(1024)) {
                tell(socket, name + ": " + line);
            }
        } finally {
            tell(socket, name + " has left");
        }
    }

    private static void tell(DirectSocket socket, String line) {
        socket.connection().server().broadcast(UTF_8.encode(line + "\n"));
    }

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        try (DirectServer server = DirectServer.listen(port, Direct2Lines::chat)) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
