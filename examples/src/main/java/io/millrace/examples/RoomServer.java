package io.millrace.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.backplane.Backplane;
import io.millrace.backplane.Gap;
import io.millrace.backplane.Message;
import io.millrace.backplane.RoomFormat;
import io.millrace.backplane.Rooms;
import io.millrace.engine.Reactors;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/** A room on several nodes: start this two times with the same {@code redis://} URL, and a line sent to one reaches the clients of both. */
public final class RoomServer implements ConnectionHandler {
    private final Backplane backplane;
    private final Rooms rooms;

    private RoomServer(Backplane backplane, Rooms rooms) {
        this.backplane = backplane;
        this.rooms = rooms;
    }

    @Override
    public void onConnect(Connection connection) {
        rooms.join(connection, "lobby", 10); // the last ten messages, then what follows
    }

    @Override
    public void onData(Connection connection, ByteBuffer line) {
        backplane.topic("lobby").publish(line).exceptionally(refusal -> {
            connection.send("not sent: " + refusal.getMessage() + "\n");
            return null;
        });
    }

    @Override
    public void onDisconnect(Connection connection) {
        rooms.leaveAll(connection);
    }

    /** Written once for all connections of a node. */
    private static final class Lines implements RoomFormat {
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
            return UTF_8.encode("(you may have missed something)\n");
        }
    }

    /**
     * Serves until somebody presses Enter.
     *
     * @param args the port to listen on, 0 for any, and the URL of the engine; or none, for one node alone
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        String url = args.length < 2 ? "memory:" : args[1];
        CompletableFuture<TcpServer> started = new CompletableFuture<>();
        try (Reactors reactors = Reactors.open();
                Backplane backplane = Backplane.open(url, reactors);
                Rooms rooms = Rooms.on(backplane, () -> started.join().context(), new Lines());
                TcpServer server = TcpServer.builder()
                        .manager(reactors)
                        .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                        .start(Framing.lines(1024).frames(new RoomServer(backplane, rooms)))) {
            started.complete(server);
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
