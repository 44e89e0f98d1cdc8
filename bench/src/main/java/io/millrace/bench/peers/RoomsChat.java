package io.millrace.bench.peers;

import io.millrace.backplane.Backplane;
import io.millrace.backplane.Gap;
import io.millrace.backplane.Message;
import io.millrace.backplane.RoomFormat;
import io.millrace.backplane.Rooms;
import io.millrace.backplane.Subscription;
import io.millrace.backplane.Topic;
import io.millrace.engine.Reactors;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * A chat that follows many rooms and talks in one of them: what do those cost in which nobody says anything? {@code
 * ./millrace serve chat} has one room only. No presence.
 *
 * <p>{@code --backplane URL}, {@code --rooms N} (1), {@code --port P} (0: the kernel chooses).
 */
public final class RoomsChat implements ConnectionHandler {
    private static final int LONGEST_LINE = 1_024;

    private final Topic room;
    private final Rooms rooms;

    private RoomsChat(Topic room, Rooms rooms) {
        this.room = room;
        this.rooms = rooms;
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        String usage = "RoomsChat --backplane URL [--rooms N] [--port P]";
        Options options = new Options(arguments, usage, "--backplane", "--rooms", "--port");
        CompletableFuture<TcpServer> started = new CompletableFuture<>();
        Reactors reactors = Reactors.builder().reactors(1).open();
        Backplane backplane = Backplane.builder(options.text("--backplane", "memory:"), reactors)
                .namespace("millrace-rooms")
                .open();
        Rooms rooms = Rooms.on(backplane, () -> started.join().context(), new Lines());
        long count = options.number("--rooms", 1, 1, 1_000_000);
        List<Subscription> quiet = new ArrayList<>();
        for (long i = 1; i < count; i++) {
            quiet.add(backplane.topic("quiet-" + i).subscribe(message -> {}));
        }
        TcpServer server = TcpServer.builder()
                .manager(reactors)
                .address(new InetSocketAddress(
                        InetAddress.getLoopbackAddress(), (int) options.number("--port", 0, 0, 65_535)))
                .start(Framing.lines(LONGEST_LINE).frames(new RoomsChat(backplane.topic("talk"), rooms)));
        started.complete(server);
        while (!quiet.stream().allMatch(one -> one.position() != null)) {
            Thread.sleep(20); // it follows them all when it says that it listens
        }
        System.out.printf(
                "listening on 127.0.0.1:%d (chat that follows %d rooms, %s)%n",
                ((InetSocketAddress) server.address()).getPort(), count, backplane);
        Thread.currentThread().join();
    }

    @Override
    public void onData(Connection connection, ByteBuffer line) {
        String text = StandardCharsets.UTF_8.decode(line).toString();
        if (connection.attachment() instanceof String name) {
            room.publish(name + ": " + text).exceptionally(refusal -> {
                connection.send("* not sent: " + refusal.getMessage() + "\n");
                return null;
            });
        } else {
            connection.setAttachment(text);
            rooms.join(connection, room.name());
        }
    }

    @Override
    public void onDisconnect(Connection connection) {
        rooms.leaveAll(connection);
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
            return StandardCharsets.UTF_8.encode("* lines are missing here\n");
        }
    }
}
