package io.millrace.examples.tutorial;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.backplane.Backplane;
import io.millrace.backplane.Presence;
import io.millrace.engine.EventLoop;
import io.millrace.engine.Reactors;
import io.millrace.net.SignalSource;
import io.millrace.poll.Interest;
import io.millrace.server.Connection;
import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import io.millrace.server.Framing;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Step 9: one room on several nodes. */
final class Direct9Nodes {
    private static final int LONGEST_NAME = 20;
    private static final Framing LINES = Framing.lines(1024).within(Duration.ofSeconds(30));

    private Direct9Nodes() {}

    static void talk(DirectSocket socket, SharedRoom room) throws IOException {
        socket.setReadTimeout(Duration.ofMinutes(10));
        try {
            socket.write("Your name?\n");
            String name = readLine(socket);
            while (name != null && (name.isEmpty() || name.length() > LONGEST_NAME)) {
                socket.write("A name has 1 to " + LONGEST_NAME + " letters. Your name?\n");
                name = readLine(socket);
            }
            if (name != null) {
                stay(socket, name, room);
            }
        } catch (SocketTimeoutException silent) {
            socket.write("You have been silent for too long.\n");
        }
    }

    private static void stay(DirectSocket socket, String name, SharedRoom room) throws IOException {
        Connection connection = socket.connection();
        Presence presence = room.enter(connection, name);
        try {
            for (String line = readLine(socket); line != null; line = readLine(socket)) {
                room.say(connection, name + ": " + line);
            }
        } finally {
            room.leave(connection);
            presence.close();
        }
    }

    private static @Nullable String readLine(DirectSocket socket) throws IOException {
        ByteBuffer line = socket.readFrame(LINES);
        return line == null
                ? null
                : UTF_8.decode(line).toString().replaceAll("\\p{Cntrl}", "").strip();
    }

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        String url = args.length < 2 ? "memory:" : args[1];
        CompletableFuture<DirectServer> started = new CompletableFuture<>();
        try (SignalSource signals = SignalSource.of("INT", "TERM");
                EventLoop loop = EventLoop.builder().workers(1).open();
                Reactors reactors = Reactors.open();
                Backplane backplane = Backplane.open(url, reactors);
                SharedRoom room = new SharedRoom(backplane, () -> started.join().context());
                DirectServer server = DirectServer.start(
                        Direct4Timeouts.settings(port).manager(reactors), socket -> talk(socket, room))) {
            started.complete(server);
            System.out.println(server + "; Ctrl-C ends it");
            loop.register(signals, 1, Interest.READABLE, (on, token, ready) -> {
                System.out.println("stopped by SIG" + signals.poll());
                on.stop();
            });
            loop.run();

            server.server().stopAccepting().join();
            server.context().broadcast(UTF_8.encode("This node ends now. Please come back.\n"));
            server.context().connections().forEach(Connection::close);
            System.out.println(server.shutdown(Duration.ofSeconds(5)));
        }
    }
}
