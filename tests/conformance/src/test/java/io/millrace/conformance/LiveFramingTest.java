package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.poll.Clock;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.FrameBytes;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("Framings that are switched on a live connection, on every backend, dispatch and manager")
@Timeout(60)
class LiveFramingTest {
    private static final Framing HEAD = Framing.delimited("\r\n\r\n".getBytes(US_ASCII), 100);

    static List<ServerSetting> settings() {
        return ServerSetting.withUnix();
    }

    /** Frames with a length of three bytes in a header of nine, as HTTP/2 has them: a framing from outside the library. */
    record Http2Frames(int maxBytes) implements Framing {
        @Override
        public void find(FrameBytes bytes) {
            if (bytes.size() >= 9) {
                bytes.frame(9 + bytes.unsigned(0, 3, ByteOrder.BIG_ENDIAN));
            }
        }
    }

    /** A head, then its body, and so on; a body that asks for an upgrade is followed by HTTP/2 frames. */
    private static final class Session implements ConnectionHandler {
        private final LinkedBlockingQueue<String> log;
        private @Nullable String head;

        Session(LinkedBlockingQueue<String> log) {
            this.log = log;
        }

        @Override
        public void onConnect(Connection connection) {
            connection.setFraming(HEAD);
        }

        @Override
        public void onData(Connection connection, ByteBuffer frame) {
            String text = US_ASCII.decode(frame).toString();
            log.add(text);
            if (head == null) {
                head = text;
                connection.setFraming(Framing.exactly(text.charAt(text.length() - 1) - '0'));
            } else if (text.equals("upgrade")) {
                connection.setFraming(new Http2Frames(100));
            } else if (!head.equals("upgraded")) {
                head = null;
                connection.setFraming(HEAD);
            }
            if (text.equals("upgrade")) {
                head = "upgraded";
            }
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            log.add("error " + failure);
        }

        @Override
        public void onDisconnect(Connection connection) {
            log.add("disconnect");
        }
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName(
            "srv-11: heads and bodies, an upgrade in the middle of a read, and a framing of the user's, however the"
                    + " reads are cut")
    void headsBodiesUpgrade(ServerSetting setting) throws Exception {
        String wire = "POST 5\r\n\r\nhelloGET 0\r\n\r\nPUT 7\r\n\r\nupgrade\0\0\2......ab\0\0\0empty!\0\0\1......c";
        String[] expected = {
            "POST 5", "hello", "GET 0", "", "PUT 7", "upgrade", "\0\0\2......ab", "\0\0\0empty!", "\0\0\1......c"
        };
        LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
        try (ServerSetting.Opened manager = setting.open(Clock.system())) {
            for (int buffer = 1; buffer <= wire.length() + 1; buffer++) {
                try (TcpServer server = manager.server().bufferSize(buffer).start(connection -> new Session(log));
                        Socket socket = connect(server, setting)) {
                    socket.getOutputStream().write(wire.getBytes(US_ASCII));
                    socket.shutdownOutput();
                    for (String frame : expected) {
                        assertThat(next(log)).as("%s bytes at once", buffer).isEqualTo(frame);
                    }
                    assertThat(next(log)).isEqualTo("disconnect");
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-11: another thread switches between two callbacks, and nothing that came is lost")
    void fromAnotherThread(ServerSetting setting) throws Exception {
        LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
        LinkedBlockingQueue<Connection> connections = new LinkedBlockingQueue<>();
        try (ServerSetting.Opened manager = setting.open(Clock.system());
                TcpServer server = manager.server().start(Framing.lines(100).frames(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        connections.add(connection);
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer frame) {
                        log.add(US_ASCII.decode(frame).toString());
                    }
                }));
                Socket socket = connect(server, setting)) {
            Connection connection = connections.poll(10, TimeUnit.SECONDS);
            socket.getOutputStream().write("line\nabcdefg".getBytes(US_ASCII));
            assertThat(next(log)).isEqualTo("line");
            connection.setFraming(Framing.fixed(3));
            assertThat(next(log)).isEqualTo("abc");
            assertThat(next(log)).isEqualTo("def");
            connection.setFraming(Framing.none());
            assertThat(next(log)).isEqualTo("g");
        }
    }

    private static Socket connect(TcpServer server, ServerSetting setting) throws IOException {
        Socket socket = UnixSocket.connect(server);
        return setting.tls() ? TlsSocket.client(socket) : socket;
    }

    private static String next(LinkedBlockingQueue<String> log) throws InterruptedException {
        return String.valueOf(log.poll(20, TimeUnit.SECONDS));
    }
}
