package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.net.KeepAlive;
import io.millrace.net.ListenOptions;
import io.millrace.server.connection.ConnectionDispatcher;
import io.millrace.server.support.ServerSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("An accepted connection")
@Timeout(30)
class AcceptedTest {
    /** Tells a connection when it is over. */
    private static final class Ends implements ConnectionHandler {
        final CompletableFuture<Connection> over = new CompletableFuture<>();
        volatile @Nullable InetSocketAddress asked;
        private final boolean asks;

        Ends(boolean asks) {
            this.asks = asks;
        }

        @Override
        public void onConnect(Connection connection) {
            if (asks) {
                asked = connection.localAddress();
            }
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {}

        @Override
        public void onDisconnect(Connection connection) {
            over.complete(connection);
        }
    }

    private static TcpServer serve(String backend, ConnectionHandler handler) throws IOException {
        return TcpServer.builder()
                .reactors(Reactors.builder().reactors(1).backend(backend))
                .start(handler);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("srv-18: the system is not asked for a local address that nobody wants")
    void localAddressOnDemand(String backend) throws Exception {
        Ends handler = new Ends(false);
        try (TcpServer server = serve(backend, handler)) {
            new Socket(server.address().getAddress(), server.address().getPort()).close();
            Connection over = handler.over.get(10, TimeUnit.SECONDS);
            assertThatThrownBy(over::localAddress)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("nobody had asked before; ask in onConnect");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("srv-18: a local address that somebody wanted is known after the end too")
    void localAddressIsKept(String backend) throws Exception {
        Ends handler = new Ends(true);
        try (TcpServer server = serve(backend, handler)) {
            new Socket(server.address().getAddress(), server.address().getPort()).close();
            Connection over = handler.over.get(10, TimeUnit.SECONDS);
            assertThat(handler.asked).isEqualTo(server.address());
            assertThat(over.localAddress()).isEqualTo(server.address());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("mill-7: one that is closed before its loop got to it is not told of, and its peer sees the end")
    void closedBeforeItsLoopGotToIt(String backend) throws Exception {
        LinkedBlockingQueue<Long> told = new LinkedBlockingQueue<>();
        CountDownLatch open = new CountDownLatch(1);
        ConnectionHandler holding = new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) throws Exception {
                told.add(connection.id());
                if (connection.id() == 2) {
                    open.await(); // holds the second loop, which does not accept
                }
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}
        };
        List<Socket> sockets = new ArrayList<>();
        try (TcpServer server = TcpServer.builder()
                .reactors(Reactors.builder().reactors(2).backend(backend))
                .reusePort(false)
                .start(holding)) {
            for (long id = 1; id <= 4; id++) {
                sockets.add(new Socket(
                        server.address().getAddress(), server.address().getPort()));
                if (id < 4) {
                    long wanted = id;
                    await().until(() -> server.context().connection(wanted) != null);
                }
            }
            await().until(() -> server.context().connection(4) != null);
            assertThat(server.context().close(4)).isTrue();
            open.countDown();
            assertThat(sockets.get(3).getInputStream().read()).isEqualTo(-1);
            await().until(() -> told.size() == 3);
            assertThat(told).containsExactlyInAnyOrder(1L, 2L, 3L);
        } finally {
            open.countDown();
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    @Test
    @DisplayName("srv-18: on the loop no executor is made for it")
    void noExecutorOnTheLoop() {
        ServerSettings settings = new ServerSettings();
        try (ConnectionDispatcher loop = ConnectionDispatcher.of("test", settings)) {
            assertThat(loop.serial(1, null)).isNull();
        }
        settings.setDispatch(Dispatch.POOL, 1);
        try (ConnectionDispatcher pool = ConnectionDispatcher.of("test", settings)) {
            assertThat(pool.serial(1, null)).isNotNull();
        }
    }

    @Test
    @DisplayName("srv-18: its options are asked of the listener")
    void optionsOfTheListener() {
        ServerSettings settings = new ServerSettings();
        ListenOptions standard = ListenOptions.standard();
        assertThat(settings.listening(standard))
                .isEqualTo(standard.withNoDelay(true).withKeepAlive(KeepAlive.after(Duration.ofSeconds(60))));
        settings.setNoDelay(false);
        settings.setKeepAlive(null);
        assertThat(settings.listening(standard)).isEqualTo(standard);
        settings.setSendBuffer(1_000);
        settings.setReceiveBuffer(2_000);
        settings.setTrafficClass(8);
        settings.setLinger(Duration.ZERO);
        assertThat(settings.listening(standard))
                .isEqualTo(standard.withSendBuffer(1_000)
                        .withReceiveBuffer(2_000)
                        .withTrafficClass(8)
                        .withLinger(Duration.ZERO));
    }
}
