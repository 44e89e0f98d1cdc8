package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Clock;
import io.millrace.poll.ManualClock;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.Relay;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("What a peer sees of the end of a connection, on every backend, dispatch and manager")
@Timeout(60)
@SuppressWarnings("try") // closed early, on purpose
class EndsTest {
    private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final CountDownLatch sent = new CountDownLatch(1);
    private final CompletableFuture<Connection> connected = new CompletableFuture<>();

    static List<ServerSetting> settings() {
        return ServerSetting.chosen();
    }

    @AfterEach
    void closeAll() throws Exception {
        sent.countDown();
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    /** On a clock that stands still: no connection is old, and no peer is given up. */
    private Socket connect(ServerSetting setting, ConnectionHandler handler) throws IOException {
        ServerSetting.Opened manager = setting.open(new ManualClock());
        opened.add(manager);
        TcpServer server = manager.server().start(handler);
        opened.add(server);
        Socket socket = new Socket();
        opened.add(socket);
        socket.setSoTimeout(20_000);
        socket.setTcpNoDelay(true);
        socket.setReceiveBufferSize(64 << 10);
        socket.connect(server.address());
        return secured(setting, socket);
    }

    private Socket secured(ServerSetting setting, Socket connected) throws IOException {
        if (!setting.tls()) {
            return connected;
        }
        TlsSocket socket = TlsSocket.client(connected);
        opened.add(socket);
        return socket;
    }

    private String next() throws InterruptedException {
        return String.valueOf(log.poll(20, TimeUnit.SECONDS));
    }

    /** Says goodbye to whoever comes. */
    private class Farewell implements ConnectionHandler {
        @Override
        public void onConnect(Connection connection) throws Exception {
            connection.send("bye");
            connection.close();
            connected.complete(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            log.add("data");
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
    @DisplayName("mill-8, mill-12: a peer gets the farewell of onConnect, though its first bytes were already there")
    void farewellToOneWhoHasSent(ServerSetting setting) throws Exception {
        Socket socket = connect(setting, new Farewell() {
            @Override
            public void onConnect(Connection connection) throws Exception {
                sent.await();
                super.onConnect(connection);
            }
        });
        socket.getOutputStream().write(new byte[1000]);
        sent.countDown();
        assertThat(socket.getInputStream().readAllBytes()).asString(US_ASCII).isEqualTo("bye");
        socket.close();
        assertThat(next()).isEqualTo("disconnect");
        assertThat(log).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName(
            "mill-8, mill-12: a close of a paused connection is no reset, though bytes of its peer are already there")
    void closedWhilePaused(ServerSetting setting) throws Exception {
        Socket socket = connect(setting, new Farewell() {
            @Override
            public void onConnect(Connection connection) throws Exception {
                sent.await();
                connection.pauseReads();
                connection.close();
            }
        });
        socket.getOutputStream().write(new byte[1000]);
        sent.countDown();
        assertThat(socket.getInputStream().read()).isEqualTo(-1);
        socket.close();
        assertThat(next()).isEqualTo("disconnect");
        assertThat(log).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("mill-8, mill-12: a peer gets the farewell of onConnect, though its first bytes come behind it")
    void farewellToOneWhoSends(ServerSetting setting) throws Exception {
        Socket socket = connect(setting, new Farewell());
        Connection connection = connected.get(10, TimeUnit.SECONDS);
        // It is closed as far as it will be before its peer ends.
        for (int i = 0; i < 10; i++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            try {
                connection.execute(() -> done.complete(null));
                done.get(10, TimeUnit.SECONDS);
            } catch (RejectedExecutionException e) {
                break; // closed too early: the peer will see it
            }
        }
        for (int i = 0; i < 3; i++) {
            socket.getOutputStream().write(new byte[1000]);
        }
        assertThat(socket.getInputStream().readAllBytes()).asString(US_ASCII).isEqualTo("bye");
        socket.close();
        assertThat(next()).isEqualTo("disconnect");
        assertThat(log).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("end-9: what an aborting callback has sent and does not go out is no regular end")
    void abortInACallback(ServerSetting setting) throws Exception {
        Socket socket = connect(setting, new Farewell() {
            @Override
            public void onConnect(Connection connection) {
                connection.send(ByteBuffer.allocate(16 << 20)); // more than the system takes
                connection.abort();
            }
        });
        assertThat(next()).isEqualTo("disconnect");
        assertThatThrownBy(() -> socket.getInputStream().readAllBytes()).isInstanceOf(IOException.class);
        assertThat(log).isEmpty();
    }

    /** Catches what connections log. */
    private static final class Lines extends Handler implements AutoCloseable {
        private final Logger logger = Logger.getLogger("io.millrace.server");
        private final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();

        Lines() {
            logger.addHandler(this);
        }

        @Override
        public void publish(LogRecord line) {
            Throwable thrown = line.getThrown();
            lines.add(line.getLevel() + " " + line.getMessage() + " with " + thrown);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            logger.removeHandler(this);
        }
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("mill-7, srv-4, end-1: what onDisconnect throws is logged as a warning, and told to nobody")
    void theLastCall(ServerSetting setting) throws Exception {
        ServerSetting.Opened manager = setting.open(Clock.system());
        opened.add(manager);
        TcpServer server = manager.server().start(new Farewell() {
            @Override
            public void onDisconnect(Connection connection) {
                log.add("disconnect");
                throw new IllegalStateException("thrown at the end, " + setting);
            }

            @Override
            public String toString() {
                return "the handler";
            }
        });
        opened.add(server);
        String expected =
                "WARNING onDisconnect of the handler threw, for connection \\d+ .*IllegalStateException: thrown at the end, "
                        + setting;
        try (Lines lines = new Lines()) {
            Await.until("it is logged", () -> {
                try (Socket plain = new Socket()) {
                    plain.connect(server.address()); // one in a second is logged
                    secured(setting, plain).getInputStream().readAllBytes();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                return lines.lines.stream().anyMatch(line -> line.matches(expected));
            });
        }
        assertThat(log).isNotEmpty().containsOnly("disconnect");
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-8, end-9: what a relay has kept of a connection that is gone is no regular end for the other one")
    void earlyBytesOfTheGone(ServerSetting setting) throws Exception {
        ServerSetting.Opened manager = setting.open(new ManualClock());
        opened.add(manager);
        CompletableFuture<ConnectionHandler> relay = new CompletableFuture<>();
        TcpServer server = manager.server().start(new Farewell() {
            @Override
            public void onConnect(Connection connection) {
                connection.setFraming(Framing.fixed(1));
                connected.complete(connection);
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {
                relay.complete(Relay.to(connection)); // which gets what is behind this frame
            }
        });
        opened.add(server);
        ServerSocket upstream = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        opened.add(upstream);
        TcpClient client = manager.client().open();
        opened.add(client);
        Socket plain = new Socket();
        opened.add(plain);
        plain.connect(server.address());
        Socket near = secured(setting, plain);
        near.getOutputStream().write(new byte[] {1, 2});
        ConnectionHandler joins = relay.get(10, TimeUnit.SECONDS);
        Connection gone = connected.get(10, TimeUnit.SECONDS);
        CompletableFuture<Void> kept = new CompletableFuture<>();
        gone.execute(() -> kept.complete(null));
        kept.get(10, TimeUnit.SECONDS);
        gone.close();
        near.close();
        assertThat(next()).isEqualTo("disconnect");
        client.connect((InetSocketAddress) upstream.getLocalSocketAddress(), joins);
        try (Socket accepted = upstream.accept()) {
            accepted.setSoTimeout(20_000);
            assertThatThrownBy(() -> {
                        Socket far = setting.tls() ? TlsSocket.server(accepted) : accepted;
                        far.getInputStream().readAllBytes();
                    })
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(SocketTimeoutException.class);
        }
    }
}
