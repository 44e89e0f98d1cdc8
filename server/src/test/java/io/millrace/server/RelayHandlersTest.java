package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Relays, their handlers, and connections that have one")
@Timeout(30)
class RelayHandlersTest {
    /** Says nothing of failures, which the tests provoke. */
    private static final ConnectionHandler QUIET = new ConnectionHandler() {
        @Override
        public void onData(Connection connection, ByteBuffer data) {}

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {}
    };

    private TcpServer server;
    private TcpClient client;

    @BeforeEach
    void open() throws Exception {
        server = TcpServer.builder().start(QUIET);
        client = TcpClient.open();
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private Connection connect(ConnectionHandler handler) throws Exception {
        return client.connect(server.address(), handler).get(10, TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("srv-8: what Relay.to makes is for one connection, and a second one is refused")
    void oneHandlerForOneConnection() throws Exception {
        ConnectionHandler joining = Relay.to(connect(QUIET), QUIET);
        connect(joining);
        assertThatThrownBy(() -> connect(joining)).hasMessageContaining("this handler is for one connection");
    }

    @Test
    @DisplayName("srv-8: who is joined with a connection that has its relay already is closed, and not left alone")
    void joinedWithOneThatIsRelayed() throws Exception {
        Connection relayed = connect(QUIET);
        Relay.between(relayed, connect(QUIET));
        Connection late = connect(QUIET);
        Relay.between(relayed, late);
        await().until(late::isClosed);
    }

    @Test
    @DisplayName("srv-8, srv-12: the silence of a relayed connection is told to its own handler")
    void silence() throws Exception {
        CompletableFuture<Idle> told = new CompletableFuture<>();
        Connection silent = connect(new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {}

            @Override
            public void onIdle(Connection connection, Idle kind) {
                told.complete(kind);
            }
        });
        Relay.between(silent, connect(QUIET));
        silent.setReadIdleTimeout(Duration.ofMillis(20));
        assertThat(told.get(10, TimeUnit.SECONDS)).isEqualTo(Idle.READ);
    }

    @Test
    @DisplayName("srv-8: for a client that a proxy's handler has closed, nothing is connected")
    void closedByItsHandler() throws Exception {
        AtomicInteger connected = new AtomicInteger();
        AtomicInteger clients = new AtomicInteger();
        ConnectionHandler echo = new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                connected.incrementAndGet();
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.send(data);
            }
        };
        ConnectionHandler picky = new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                if (clients.incrementAndGet() == 1) {
                    connection.close();
                }
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}
        };
        // On one loop, where connections are accepted in their order.
        try (Reactors reactors = Reactors.builder().reactors(1).open();
                TcpServer upstream = TcpServer.builder().manager(reactors).start(echo);
                TcpClient near = TcpClient.builder().manager(reactors).open();
                TcpServer proxy = TcpServer.builder()
                        .manager(reactors)
                        .start(Relay.proxy(near, upstream.address(), connection -> picky))) {
            try (Socket unwanted = connect(proxy)) {
                assertThat(unwanted.getInputStream().read()).isEqualTo(-1);
            }
            try (Socket wanted = connect(proxy)) {
                wanted.getOutputStream().write('x');
                assertThat(wanted.getInputStream().read()).isEqualTo('x');
            }
            assertThat(connected).hasValue(1);
        }
    }

    private static Socket connect(TcpServer server) throws IOException {
        return new Socket(server.address().getAddress(), server.address().getPort());
    }
}
