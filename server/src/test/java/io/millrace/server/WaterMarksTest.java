package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("Water marks")
@Timeout(60)
class WaterMarksTest {
    private static final int HIGH = 8 << 20;
    private static final int SENT = 32 << 20;

    private final LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
    private final CompletableFuture<Connection> connected = new CompletableFuture<>();

    private final ConnectionHandler handler = new ConnectionHandler() {
        @Override
        public void onConnect(Connection connection) {
            connected.complete(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            told.add("data");
        }

        @Override
        public void onWritable(Connection connection) {
            told.add("writable");
        }
    };

    /** Several turns of the loop, and the callbacks that they brought about. */
    private static void turns(Reactors loops) throws Exception {
        for (int i = 0; i < 4; i++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            loops.execute(() -> done.complete(null));
            done.get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    @DisplayName("srv-15: a builder that is changed later changes neither servers nor clients that are open")
    void buildersAreCopied() throws Exception {
        try (Reactors loops = Reactors.builder().reactors(1).name("test").open()) {
            TcpServer.Builder serving = TcpServer.builder().manager(loops);
            TcpClient.Builder connecting = TcpClient.builder().manager(loops);
            try (TcpServer server = serving.start(handler);
                    TcpClient client = connecting.open()) {
                serving.waterMarks(0, 0, 100);
                connecting.waterMarks(0, 0, 100);
                Connection made = client.connect(server.address(), (connection, data) -> {})
                        .get(10, TimeUnit.SECONDS);
                assertThat(made.send(ByteBuffer.allocate(1))).isEqualTo(SendResult.QUEUED);
                assertThat(connected.get(10, TimeUnit.SECONDS).send(ByteBuffer.allocate(1)))
                        .isEqualTo(SendResult.QUEUED);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-9: a client is read while it is above its high water, unless it is told otherwise")
    void clientsAreReadWhileFull(Dispatch mode) throws Exception {
        try (Reactors loops = Reactors.builder().reactors(1).name("test").open();
                ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                TcpClient client =
                        TcpClient.builder().manager(loops).dispatch(mode, 1).open()) {
            var connecting = client.connect((InetSocketAddress) listener.getLocalSocketAddress(), handler);
            try (Socket peer = listener.accept()) {
                Connection connection = connecting.get(10, TimeUnit.SECONDS);
                assertThat(connection.send(ByteBuffer.allocate(SENT))).isEqualTo(SendResult.ABOVE_HIGH_WATER);
                turns(loops);
                assertThat(connection.isWritable()).isFalse();
                peer.getOutputStream().write(1);
                assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("data");
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName(
            "mill-8, mill-9: from the high water on it is not read, and at the low water it is, and told once that it may send")
    void onceForEachCrossing(Dispatch mode) throws Exception {
        try (Reactors loops = Reactors.builder().reactors(1).name("test").open();
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .dispatch(mode, 1)
                        .waterMarks(0, HIGH, SENT)
                        .sendBuffer(64 << 10) // or the system takes all of the rest at once
                        .start(handler);
                Socket socket = new Socket()) {
            socket.setReceiveBufferSize(64 << 10);
            socket.connect(server.address());
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            assertThat(connection.send(ByteBuffer.allocate(SENT))).isEqualTo(SendResult.ABOVE_HIGH_WATER);
            await().until(() -> connection.queuedBytes() < SENT);
            turns(loops);
            socket.getOutputStream().write(1);
            turns(loops);
            assertThat(told).as("above the high water").isEmpty();
            int read = 0;
            while (connection.queuedBytes() > HIGH / 2) {
                socket.getInputStream().skipNBytes(16 << 10);
                read += 16 << 10;
            }
            turns(loops);
            assertThat(connection.queuedBytes()).isPositive();
            assertThat(told).as("between the water marks").isEmpty();
            socket.getInputStream().skipNBytes(SENT - read);
            assertThat(told.poll(10, TimeUnit.SECONDS)).isNotNull();
            assertThat(told.poll(10, TimeUnit.SECONDS)).isNotNull();
            // What does not cross the high water is not told of.
            connection.send(ByteBuffer.allocate(1000));
            socket.getInputStream().skipNBytes(1000);
            socket.getOutputStream().write(1);
            assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("data");
            turns(loops);
            assertThat(told).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("mill-8: a connection whose reads are paused hears nothing, and everything when they are resumed")
    void pausedByItsUser(Dispatch mode) throws Exception {
        try (Reactors loops = Reactors.builder().reactors(1).name("test").open();
                TcpServer server =
                        TcpServer.builder().manager(loops).dispatch(mode, 1).start(handler);
                Socket socket = new Socket()) {
            socket.connect(server.address());
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            socket.getOutputStream().write(1);
            assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("data");
            connection.pauseReads();
            turns(loops);
            socket.getOutputStream().write(1);
            turns(loops);
            assertThat(server.bytesReceived()).isEqualTo(1);
            assertThat(told).isEmpty();
            connection.resumeReads();
            assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("data");
        }
    }
}
