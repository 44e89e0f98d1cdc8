package io.millrace.examples;

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

/** A chat: each connection has a handler of its own, whose field is what is known of the guest. The first line is the guest's name. */
public final class ChatServer implements ConnectionHandler {
    private @Nullable String name;

    private ChatServer() {}

    @Override
    public void onData(Connection connection, ByteBuffer line) {
        String text = UTF_8.decode(line).toString();
        if (name == null) {
            name = text;
            text = "is here";
        }
        connection.server().broadcast(UTF_8.encode(name + ": " + text + "\n"));
    }

    @Override
    public void onDisconnect(Connection connection) {
        connection.server().broadcast(UTF_8.encode(name + ": has left\n"));
    }

    /**
     * Serves until somebody presses Enter.
     *
     * @param args the port to listen on, or none for any
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        try (TcpServer server = TcpServer.builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .start(connection -> Framing.lines(1024).frames(new ChatServer()))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
