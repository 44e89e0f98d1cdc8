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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Rooms over several engines, each room on one of them. A line begins with the name of a room; the first one for a room joins it.
 */
public final class SplitRooms implements ConnectionHandler, AutoCloseable {
    private final List<Backplane> engines;
    private final List<Rooms> rooms;
    private final CompletableFuture<TcpServer> started = new CompletableFuture<>();

    private SplitRooms(List<String> urls, Reactors reactors) {
        this.engines = urls.stream().map(url -> Backplane.open(url, reactors)).toList();
        this.rooms = new ArrayList<>();
        for (Backplane engine : engines) {
            rooms.add(Rooms.on(engine, () -> started.join().context(), new Lines()));
        }
    }

    /** Every node must choose alike, so the engines' order is a part of the configuration. */
    int engineOf(String room) {
        return Math.floorMod(room.hashCode(), engines.size());
    }

    @Override
    public void onData(Connection connection, ByteBuffer line) {
        String text = UTF_8.decode(line).toString();
        String room = text.split(" ", 2)[0];
        if (room.isEmpty() || room.startsWith("$") || room.length() > 100) {
            connection.send("which room?\n");
            return;
        }
        rooms.get(engineOf(room)).join(connection, room, 10); // nothing happens if it is there already
        engines.get(engineOf(room)).topic(room).publish(text).exceptionally(refusal -> {
            connection.send("not sent: " + refusal.getMessage() + "\n");
            return null;
        });
    }

    @Override
    public void onDisconnect(Connection connection) {
        rooms.forEach(each -> each.leaveAll(connection));
    }

    @Override
    public void close() {
        rooms.forEach(Rooms::close);
        engines.forEach(Backplane::close);
    }

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
            return UTF_8.encode("(you may have missed something in " + room + ")\n");
        }
    }

    /**
     * Serves until somebody presses Enter.
     *
     * @param args the port to listen on, 0 for any, and the URLs of the engines
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        List<String> urls = List.of(args).subList(1, args.length);
        try (Reactors reactors = Reactors.open();
                SplitRooms handler = new SplitRooms(urls, reactors);
                TcpServer server = TcpServer.builder()
                        .manager(reactors)
                        .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])))
                        .start(Framing.lines(1024).frames(handler))) {
            handler.started.complete(server);
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
