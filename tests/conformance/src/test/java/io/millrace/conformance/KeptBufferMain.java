package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.millrace.engine.Dispatch;
import io.millrace.poll.Clock;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import io.millrace.testkit.TestConnection;
import java.lang.ref.WeakReference;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** What {@link KeptBufferTest} runs with {@code -Dmillrace.debug=buffers}. Prints what it finds. */
final class KeptBufferMain {
    private KeptBufferMain() {}

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "kept" -> keep(arguments[1], false);
            case "framed" -> keep(arguments[1], true);
            case "copied" -> copy();
            case "many" -> many(Integer.parseInt(arguments[1]));
            case "late" -> useLater();
            case "switch" -> switchFraming(Dispatch.valueOf(arguments[1]));
            case "echo" -> echo(arguments[1], Dispatch.valueOf(arguments[2]));
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    /** Keeps what it should not. */
    static final class Keeper implements ConnectionHandler {
        final List<ByteBuffer> kept = new ArrayList<>();
        private final boolean slices;

        Keeper(boolean slices) {
            this.slices = slices;
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            kept.add(slices ? data.slice() : data);
            System.out.println("got " + US_ASCII.decode(data.duplicate()));
        }
    }

    private static void keep(String dispatch, boolean framed) {
        Keeper keeper = new Keeper(framed);
        ConnectionHandler handler = framed ? Framing.lines(80).frames(keeper) : keeper;
        TcpServer.Builder settings = TcpServer.builder().dispatch(Dispatch.valueOf(dispatch), 1);
        try (TestConnection peer = TestConnection.open(settings, handler)) {
            if (framed) {
                peer.receive("whole\npa"); // one frame where it was read, and one in pieces
                peer.receive("rts\n");
            } else {
                peer.receive("first");
            }
            for (ByteBuffer kept : keeper.kept) {
                try {
                    System.out.println("read " + kept.get(0));
                } catch (IllegalStateException e) {
                    System.out.println("refused");
                }
            }
            collect();
            peer.receive("next\n");
        }
    }

    /** Garbage was collected when something is that nobody holds. */
    private static void collect() {
        WeakReference<Object> nobodys = new WeakReference<>(new Object());
        while (!nobodys.refersTo(null)) {
            System.gc();
        }
    }

    private static void copy() {
        List<byte[]> copies = new ArrayList<>();
        try (TestConnection peer = TestConnection.open((connection, data) -> {
            byte[] copy = new byte[data.remaining()];
            data.get(copy);
            copies.add(copy);
        })) {
            for (int i = 0; i < 5000; i++) {
                peer.receive("x");
            }
            collect();
            peer.receive("x");
        }
        System.out.println("copied " + copies.size());
    }

    /** So many calls that garbage is collected at every place of one. */
    private static void many(int calls) {
        AtomicLong seen = new AtomicLong();
        try (TestConnection peer = TestConnection.open((connection, data) -> seen.addAndGet(data.remaining()))) {
            for (int i = 0; i < calls; i++) {
                peer.receive("x");
            }
        }
        System.out.println("saw " + seen);
    }

    /** Uses it in a task, after the call has returned. */
    static final class Procrastinator implements ConnectionHandler {
        @Override
        public void onData(Connection connection, ByteBuffer data) {
            connection.execute(() -> connection.send(data));
        }
    }

    private static void useLater() {
        try (TestConnection peer = TestConnection.open(new Procrastinator())) {
            peer.receive("x");
            peer.endOfInput();
            System.out.println("sent " + peer.sent().length + ", closed " + peer.isClosed());
        }
    }

    /** Takes the first byte and sets a framing for the rest. */
    private static void switchFraming(Dispatch dispatch) {
        ConnectionHandler handler = (connection, data) -> {
            if (data.get(data.position()) == '!') {
                data.get();
                connection.setFraming(Framing.lines(80));
            } else {
                System.out.println("line " + US_ASCII.decode(data));
            }
        };
        try (TestConnection peer = TestConnection.open(TcpServer.builder().dispatch(dispatch, 1), handler)) {
            peer.receive("!one\ntw");
            peer.receive("o\n");
        }
    }

    private static void echo(String backend, Dispatch dispatch) throws Exception {
        byte[] sent = new byte[300_000];
        new Random(16).nextBytes(sent);
        Framing frames = Framing.lengthPrefixed(4, 1 << 20);
        for (boolean framed : new boolean[] {false, true}) {
            ConnectionHandler echo = (connection, data) -> connection.send(framed ? frames.encode(data) : data);
            try (ServerSetting.Opened manager = new ServerSetting(backend, dispatch).open(Clock.system());
                    TcpServer server = manager.server().start(framed ? frames.frames(echo) : echo);
                    Socket socket = new Socket(
                            server.address().getAddress(), server.address().getPort())) {
                for (int size : new int[] {1, 5000, sent.length}) {
                    ByteBuffer message = ByteBuffer.allocate(size + 4);
                    message.putInt(size).put(sent, 0, size);
                    Thread writer = Thread.ofPlatform().start(() -> {
                        try {
                            socket.getOutputStream().write(message.array());
                        } catch (Exception e) {
                            e.printStackTrace();
                        }
                    });
                    byte[] back = socket.getInputStream().readNBytes(size + 4);
                    writer.join();
                    System.out.println((Arrays.equals(back, message.array()) ? "same " : "other ") + size);
                }
            }
        }
    }
}
