package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventManager;
import io.millrace.engine.transport.ServerLoop;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Relay;
import io.millrace.server.ServerContext;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.server.connection.StreamConnection;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("srv-7: affinity")
@Timeout(60)
@SuppressWarnings("try") // what is only to be closed has no use
class AffinityTest {
    /** More than there are loops, several times over. */
    private static final int PROXIED = 12;

    private static TcpServer echo(EventManager manager) throws Exception {
        return TcpServer.builder().manager(manager).start((connection, data) -> connection.send(data));
    }

    /** Says on which thread it was told of the connection. */
    private static final class Where implements ConnectionHandler {
        final CompletableFuture<Thread> thread = new CompletableFuture<>();

        @Override
        public void onConnect(Connection connection) {
            thread.complete(Thread.currentThread());
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {}
    }

    private record Ends(Thread front, Thread back) {}

    @ParameterizedTest
    @MethodSource("io.millrace.conformance.Managers#ours")
    @DisplayName("srv-7: a connect made on a loop stays on it: both ends of a proxy are on one thread")
    void connectOnALoop(Managers kind) throws Exception {
        LinkedBlockingQueue<CompletableFuture<Ends>> proxied = new LinkedBlockingQueue<>();
        try (EventManager manager = kind.open();
                TcpServer back = echo(manager);
                TcpClient client = TcpClient.builder().manager(manager).open();
                TcpServer front = TcpServer.builder().manager(manager).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        Thread here = Thread.currentThread();
                        Where where = new Where();
                        var ignored = client.connect(back.address(), where);
                        proxied.add(where.thread.thenApply(there -> new Ends(here, there)));
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}
                })) {
            for (int i = 0; i < PROXIED; i++) {
                try (Socket ignored =
                        new Socket(front.address().getAddress(), front.address().getPort())) {
                    Ends ends = proxied.take().get(20, TimeUnit.SECONDS);
                    assertThat(ends.back()).isSameAs(ends.front());
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.millrace.conformance.Managers#ours")
    @DisplayName("srv-7: near(connection) connects on the loop of that connection, from any thread")
    void near(Managers kind) throws Exception {
        LinkedBlockingQueue<Connection> accepted = new LinkedBlockingQueue<>();
        LinkedBlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
        try (EventManager manager = kind.open();
                TcpServer back = echo(manager);
                TcpClient client = TcpClient.builder().manager(manager).open();
                TcpServer front = TcpServer.builder().manager(manager).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        threads.add(Thread.currentThread());
                        accepted.add(connection);
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}
                })) {
            for (int i = 0; i < PROXIED; i++) {
                try (Socket ignored =
                        new Socket(front.address().getAddress(), front.address().getPort())) {
                    Connection first = accepted.take();
                    Thread loop = threads.take();
                    Where byAddress = new Where();
                    Connection second =
                            client.connect(back.address(), byAddress, first).get(20, TimeUnit.SECONDS);
                    assertThat(byAddress.thread.join()).isSameAs(loop);
                    Where byName = new Where();
                    client.connect("localhost", back.address().getPort(), byName, second)
                            .get(20, TimeUnit.SECONDS);
                    assertThat(byName.thread.join()).isSameAs(loop);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Managers.class)
    @DisplayName("srv-7: near a connection of another manager is refused, with the remedy")
    void nearAnotherManager(Managers kind) throws Exception {
        try (EventManager manager = kind.open();
                EventManager other = kind.open();
                TcpServer server = echo(manager);
                TcpClient here = TcpClient.builder().manager(manager).open();
                TcpClient elsewhere = TcpClient.builder().manager(other).open()) {
            Connection connection = here.connect(server.address(), new Where()).get(20, TimeUnit.SECONDS);
            assertThatThrownBy(() -> elsewhere.connect(server.address(), new Where(), connection))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("near connection")
                    .hasMessageContaining("open the client with the manager of");
        }
    }

    // ---- On a manager that is not ours, servers and clients have a loop each, and threads say nothing ----

    /** Stays in its first callback until it is let go, if it is told to stay. */
    private static class Staying implements ConnectionHandler {
        final CountDownLatch inside = new CountDownLatch(1);
        final CountDownLatch go = new CountDownLatch(1);
        final CompletableFuture<Connection> connected = new CompletableFuture<>();

        @Override
        public void onConnect(Connection connection) {
            connected.complete(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) throws Exception {
            inside.countDown();
            go.await();
        }
    }

    @ParameterizedTest
    @CsvSource({"FOREIGN, false", "FOREIGN, true", "COMPLETION, false", "COMPLETION, true"})
    @DisplayName("srv-7: on a manager that is not ours, too, near(connection) and a connect on a loop share that loop")
    void onAForeignManager(Managers kind, boolean inCallback) throws Exception {
        CompletableFuture<Runnable> connects = new CompletableFuture<>();
        Staying staying = new Staying() {
            @Override
            public void onConnect(Connection connection) {
                if (inCallback) {
                    connects.join().run();
                }
                super.onConnect(connection);
            }
        };
        Staying following = new Staying();
        try (EventManager manager = kind.open();
                TcpServer back = TcpServer.builder().manager(manager).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        connection.send("x");
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}
                });
                TcpServer front = TcpServer.builder().manager(manager).start(staying);
                TcpClient client = TcpClient.builder().manager(manager).open();
                Socket socket =
                        new Socket(front.address().getAddress(), front.address().getPort())) {
            connects.complete(() -> client.connect(back.address(), following));
            Connection connection = staying.connected.get(20, TimeUnit.SECONDS);
            try {
                if (!inCallback) {
                    client.connect(back.address(), following, connection).get(20, TimeUnit.SECONDS);
                }
                assertThat(following.inside.await(20, TimeUnit.SECONDS)).isTrue();
                socket.getOutputStream().write(1);
                assertThat(staying.inside.await(300, TimeUnit.MILLISECONDS))
                        .as("two callbacks of one loop at once")
                        .isFalse();
                following.go.countDown();
                assertThat(staying.inside.await(20, TimeUnit.SECONDS)).isTrue();
            } finally {
                following.go.countDown();
                staying.go.countDown();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Managers.class)
    @DisplayName("srv-7, srv-8: a proxy connects near each client, though callbacks run on a pool")
    void proxyOnAPool(Managers kind) throws Exception {
        try (EventManager manager = kind.open();
                TcpServer back = echo(manager);
                TcpClient client = TcpClient.builder()
                        .manager(manager)
                        .dispatch(Dispatch.POOL, 1)
                        .open();
                TcpServer front = TcpServer.builder()
                        .manager(manager)
                        .dispatch(Dispatch.POOL, 1)
                        .start(Relay.proxy(client, back.address()))) {
            for (int i = 0; i < PROXIED; i++) {
                try (Socket socket =
                        new Socket(front.address().getAddress(), front.address().getPort())) {
                    socket.getOutputStream().write(7);
                    assertThat(socket.getInputStream().read()).isEqualTo(7);
                    assertThat(loop(client.context())).isSameAs(loop(front.context()));
                }
                await().until(() -> front.context().connections().isEmpty()
                        && client.context().connections().isEmpty());
            }
        }
    }

    private static ServerLoop loop(ServerContext context) {
        return ((StreamConnection) context.connections().iterator().next()).loop();
    }

    @ParameterizedTest
    @EnumSource(names = {"FOREIGN", "COMPLETION"})
    @DisplayName(
            "srv-7, end-3: a client that is closed in a callback on a loop that it shares does not wait for itself")
    void closedOnASharedLoop(Managers kind) throws Exception {
        Staying front = new Staying();
        CompletableFuture<Boolean> closed = new CompletableFuture<>();
        CompletableFuture<Void> ended = new CompletableFuture<>();
        try (EventManager manager = kind.open();
                TcpServer server = TcpServer.builder().manager(manager).start(front);
                TcpClient client = TcpClient.builder().manager(manager).open();
                Socket ignored = new Socket(
                        server.address().getAddress(), server.address().getPort())) {
            front.go.countDown();
            Connection near = front.connected.get(20, TimeUnit.SECONDS);
            ConnectionHandler closing = new ConnectionHandler() {
                @Override
                public void onConnect(Connection connection) {
                    connection.execute(() -> {
                        client.close();
                        closed.complete(ended.isDone());
                    });
                }

                @Override
                public void onData(Connection connection, ByteBuffer data) {}

                @Override
                public void onDisconnect(Connection connection) {
                    ended.complete(null);
                }
            };
            client.connect(server.address(), closing, near).get(20, TimeUnit.SECONDS);
            assertThat(closed.get(5, TimeUnit.SECONDS))
                    .as("a call inside another")
                    .isFalse();
            ended.get(20, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FOREIGN", "COMPLETION"})
    @DisplayName("srv-7: a client that is closed twice gives back the loops that it shares once")
    void closedTwice(Managers kind) throws Exception {
        CompletableFuture<Connection> accepted = new CompletableFuture<>();
        CompletableFuture<Void> ended = new CompletableFuture<>();
        ConnectionHandler front = new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                accepted.complete(connection);
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}

            @Override
            public void onDisconnect(Connection connection) {
                ended.complete(null);
            }
        };
        try (EventManager others = Managers.EPOLL.open();
                TcpServer back = echo(others)) {
            EventManager manager = kind.open();
            TcpServer server = TcpServer.builder().manager(manager).start(front);
            TcpClient client = TcpClient.builder().manager(manager).open();
            try (Socket ignored =
                    new Socket(server.address().getAddress(), server.address().getPort())) {
                Connection near = accepted.get(20, TimeUnit.SECONDS);
                client.connect(back.address(), new Where(), near).get(20, TimeUnit.SECONDS);
                client.close();
                client.close();
                assertThat(ended).isNotDone();
                manager.close();
                ended.get(20, TimeUnit.SECONDS); // since the loop still has its server's end to tell
            }
            server.close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"FOREIGN", "COMPLETION"})
    @DisplayName("srv-7: a connection near one of a server that is closed still ends with its manager")
    void outlivesTheServer(Managers kind) throws Exception {
        Staying front = new Staying();
        CompletableFuture<Void> ended = new CompletableFuture<>();
        ConnectionHandler told = new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {}

            @Override
            public void onDisconnect(Connection connection) {
                ended.complete(null);
            }
        };
        try (EventManager others = Managers.EPOLL.open();
                TcpServer back = echo(others)) {
            EventManager manager = kind.open();
            TcpClient client = TcpClient.builder().manager(manager).open();
            TcpServer server = TcpServer.builder().manager(manager).start(front);
            InetSocketAddress address = server.address();
            Connection made;
            try (Socket ignored = new Socket(address.getAddress(), address.getPort())) {
                Connection near = front.connected.get(20, TimeUnit.SECONDS);
                made = client.connect(back.address(), told, near).get(20, TimeUnit.SECONDS);
                server.close();
                assertThat(client.connect(back.address(), new Where(), near))
                        .as("near one that has ended")
                        .succeedsWithin(20, TimeUnit.SECONDS);
            }
            assertThat(made.isClosed()).isFalse();
            manager.close();
            ended.get(20, TimeUnit.SECONDS);
            client.close();
        }
    }
}
