package io.millrace.examples.tutorial;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Step 2: whole lines, and each one to everybody. */
final class Chat2Lines {
    private Chat2Lines() {}

    /** The handler of one connection. The first line is the guest's name. */
    private static final class Guest implements ConnectionHandler {
        private @Nullable String name;

        @Override
        public void onConnect(Connection connection) {
            connection.send("Your name?\n");
        }

        @Override
        public void onData(Connection connection, ByteBuffer line) {
            String text = UTF_8.decode(line).toString();
            if (name == null) {
                name = text;
                tell(connection, name + " is here");
            } else {
                tell(connection, name + ": " + text);
            }
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

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        try (TcpServer server = TcpServer.builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .start(connection -> Framing.lines(1024).frames(new Guest()))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
