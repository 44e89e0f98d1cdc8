package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Dispatch;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.SendResult;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.Thrown;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("Boundaries of connections")
@Timeout(60)
class ConnectionBoundariesTest {
    private static final int LARGE = 16 << 20;
    /** For a look at one alone: {@code -Dmillrace.kinds=CHECKED}. */
    private static final String KINDS = System.getProperty("millrace.kinds", "");

    private enum Callback {
        CONNECT,
        DATA,
        END_OF_INPUT,
        WRITABLE,
        DISCONNECT,
        ERROR
    }

    /** Every call is counted and throws; the bytes are echoed before that. */
    private static final class Hostile implements ConnectionHandler {
        private final Thrown thrown;
        private final boolean errorsToo;
        private final AtomicInteger promised = new AtomicInteger();
        private final Map<Callback, AtomicInteger> calls = new EnumMap<>(Callback.class);

        Hostile(Thrown thrown, boolean errorsToo) {
            this.thrown = thrown;
            this.errorsToo = errorsToo;
            for (Callback callback : Callback.values()) {
                calls.put(callback, new AtomicInteger());
            }
        }

        private void called(Callback callback) {
            calls.get(callback).incrementAndGet();
            thrown.raise();
        }

        int count(Callback callback) {
            return calls.get(callback).get();
        }

        @Override
        public void onConnect(Connection connection) {
            calls.get(Callback.CONNECT).incrementAndGet(); // who throws here refuses the connection: srv-4
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            if (data.get(data.position()) == 'w') {
                // A peer that reads as fast as this writes may have it all taken at once.
                if (connection.send(ByteBuffer.allocate(LARGE)) == SendResult.ABOVE_HIGH_WATER) {
                    promised.incrementAndGet();
                }
            } else {
                connection.send(data);
            }
            called(Callback.DATA);
        }

        @Override
        public void onEndOfInput(Connection connection) {
            connection.close();
            called(Callback.END_OF_INPUT);
        }

        @Override
        public void onWritable(Connection connection) {
            called(Callback.WRITABLE);
        }

        @Override
        public void onDisconnect(Connection connection) {
            called(Callback.DISCONNECT);
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            calls.get(Callback.ERROR).incrementAndGet();
            if (errorsToo) {
                Thrown.<RuntimeException>sneak(failure); // the very same
            } else {
                thrown.raise();
            }
        }

        @Override
        public String toString() {
            throw new IllegalStateException("thrown by the toString of a test");
        }
    }

    static Stream<Arguments> cases() {
        return Managers.withDispatch()
                .filter(arguments ->
                        arguments.get()[0] != Managers.POLL && arguments.get()[0] != Managers.NIO)
                .flatMap(arguments -> Stream.of(Thrown.values())
                        .filter(thrown -> thrown.name().startsWith(KINDS))
                        .flatMap(thrown -> Stream.of(true, false)
                                .map(same -> Arguments.of(
                                        arguments.get()[0], arguments.get()[1], thrown, same))));
    }

    @ParameterizedTest(name = "{0} {1} {2}, onError rethrows the same: {3}")
    @MethodSource("cases")
    @DisplayName("end-1, mill-7: callbacks of a connection may throw anything, and each is called as if none did")
    void everyCallback(Managers kind, Dispatch dispatch, Thrown thrown, boolean same) throws Exception {
        Hostile handler = new Hostile(thrown, same);
        try (var manager = kind.open();
                TcpServer server = TcpServer.builder()
                        .manager(manager)
                        .dispatch(dispatch, 2)
                        .start(handler)) {
            for (int round = 1; round <= 2; round++) {
                try (Socket socket = connect(server)) {
                    for (int i = 0; i < 3; i++) {
                        socket.getOutputStream().write('e');
                        assertThat(socket.getInputStream().read()).isEqualTo('e');
                    }
                    socket.getOutputStream().write('w');
                    assertThat(socket.getInputStream().readNBytes(LARGE)).hasSize(LARGE);
                    socket.shutdownOutput();
                    assertThat(socket.getInputStream().read()).isEqualTo(-1);
                }
                int times = round;
                Await.until("told of the end", () -> handler.count(Callback.DISCONNECT) == times);
                assertThat(handler.count(Callback.CONNECT)).isEqualTo(times);
                assertThat(handler.count(Callback.END_OF_INPUT)).isEqualTo(times);
                Await.until(
                        "told that there is room", () -> handler.count(Callback.WRITABLE) >= handler.promised.get());
                assertThat(handler.count(Callback.DATA)).isGreaterThanOrEqualTo(4 * times);
            }
            // Except what onDisconnect throws, which is logged; a line a second at most for all connections: srv-4.
            Await.until("each is told to onError", () -> handler.count(Callback.ERROR) >= 2 * 5);
            assertThat(handler.count(Callback.DISCONNECT)).isEqualTo(2);
        }
    }

    private static Socket connect(TcpServer server) throws IOException {
        Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.address().getPort());
        socket.setSoTimeout(10_000);
        return socket;
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(Thrown.class)
    @DisplayName(
            "end-1, mr-9: a handler of frames may throw anything, and gets the next frame if its onError leaves the connection open")
    void frames(Thrown thrown) throws Exception {
        Framing lines = Framing.lines(64);
        AtomicInteger frames = new AtomicInteger();
        AtomicInteger errors = new AtomicInteger();
        try (var manager = Managers.EPOLL.open();
                TcpServer server = TcpServer.builder().manager(manager).start(lines.frames(new ConnectionHandler() {
                    @Override
                    public void onData(Connection connection, ByteBuffer line) {
                        frames.incrementAndGet();
                        connection.send(lines.encode(line));
                        thrown.raise();
                    }

                    @Override
                    public void onError(@Nullable Connection connection, Throwable failure) {
                        errors.incrementAndGet();
                    }
                }));
                Socket socket = connect(server)) {
            socket.getOutputStream().write("a\nb\nc\nd".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
            socket.getOutputStream().write('\n');
            assertThat(socket.getInputStream().readNBytes(8)).asString().isEqualTo("a\nb\nc\nd\n");
            assertThat(frames).hasValue(4);
            Await.until("told to onError", () -> errors.get() == 4);
        }
    }
}
