package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventManager;
import io.millrace.server.Connection;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.Background;
import io.millrace.testkit.OpenFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("After a close nothing opens")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class NothingOpensAfterCloseTest {
    /** {@code -Dmillrace.races=} for another number. */
    private static final int RACES =
            Integer.getInteger("millrace.races", Boolean.getBoolean("millrace.soak") ? 10_000 : 1_000);

    private static final int CONNECTS = 2;

    /**
     * Where no other test listens: a port of the usual address could be another test's the moment after its server was
     * closed, and whoever connects then would be that one's. Only Linux has all of 127.0.0.0/8 without being told.
     */
    private static final InetAddress OWN = System.getProperty("os.name").equals("Linux")
            ? InetAddress.ofLiteral("127.31.41.59")
            : InetAddress.getLoopbackAddress();

    /** Counts calls that begin when none may any more. */
    private static final class Watched extends Calls {
        private volatile boolean closed;
        private final AtomicInteger late = new AtomicInteger();

        private void called() {
            if (closed) {
                late.incrementAndGet();
            }
        }

        @Override
        public void onConnect(Connection connection) throws Exception {
            called();
            super.onConnect(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            called();
        }

        @Override
        public void onDisconnect(Connection connection) throws Exception {
            called();
            super.onDisconnect(connection);
        }

        void check() {
            assertThat(late).as("calls that began after the close").hasValue(0);
            assertThat(disconnected()).as("all are told of their end").isEqualTo(connected());
            awaitAllEnded();
        }
    }

    static Stream<Arguments> cases() {
        return Stream.of(
                Arguments.of(Managers.EPOLL, Dispatch.LOOP, RACES),
                Arguments.of(Managers.EPOLL, Dispatch.POOL, RACES / 5),
                Arguments.of(Managers.EPOLL, Dispatch.VIRTUAL, RACES / 5),
                Arguments.of(Managers.NIO, Dispatch.LOOP, RACES / 10),
                Arguments.of(Managers.FOREIGN, Dispatch.LOOP, RACES / 10),
                Arguments.of(Managers.COMPLETION, Dispatch.LOOP, RACES / 10));
    }

    @ParameterizedTest(name = "{0} {1}, {2} times")
    @MethodSource("cases")
    @DisplayName("end-4: a client's close races its connects: each fails or is closed, and no call begins later")
    void clientCloseRacesConnect(Managers kind, Dispatch dispatch, int races) throws Exception {
        try (EventManager manager = kind.open();
                TcpServer server = TcpServer.builder().manager(manager).start((connection, data) -> {})) {
            for (int i = 0; i < races; i++) {
                TcpClient client = TcpClient.builder()
                        .manager(manager)
                        .dispatch(dispatch, 1)
                        .open();
                Watched calls = new Watched();
                CyclicBarrier start = new CyclicBarrier(2);
                int pause = i % 50;
                Background<List<CompletableFuture<Connection>>> connecting = Background.call(() -> {
                    List<CompletableFuture<Connection>> made = new ArrayList<>();
                    start.await();
                    for (int j = 0; j < CONNECTS; j++) {
                        made.add(client.connect(server.address(), calls));
                    }
                    return made;
                });
                start.await();
                Await.spin(pause * 100);
                client.close();
                calls.closed = true;
                for (CompletableFuture<Connection> made : connecting.result()) {
                    Await.until("each attempt has an end", made::isDone);
                    if (!made.isCompletedExceptionally()) {
                        assertThat(made.get().isClosed()).isTrue();
                    }
                }
                calls.check();
                assertThat(client.context().connections()).isEmpty();
            }
        }
    }

    @ParameterizedTest(name = "{0} {1}, {2} times")
    @MethodSource("cases")
    @DisplayName("end-4: a server's close races those who connect: each is closed, and no call begins later")
    void serverCloseRacesConnect(Managers kind, Dispatch dispatch, int races) throws Exception {
        try (EventManager manager = kind.open()) {
            for (int i = 0; i < races; i++) {
                Watched calls = new Watched();
                TcpServer server = TcpServer.builder()
                        .manager(manager)
                        .address(new InetSocketAddress(OWN, 0))
                        .dispatch(dispatch, 1)
                        .start(calls);
                CyclicBarrier start = new CyclicBarrier(2);
                Background<List<Socket>> connecting = Background.call(() -> {
                    List<Socket> made = new ArrayList<>();
                    start.await();
                    for (int j = 0; j < CONNECTS; j++) {
                        try {
                            made.add(new Socket(OWN, server.address().getPort()));
                        } catch (IOException e) {
                            // Too late.
                        }
                    }
                    return made;
                });
                start.await();
                Await.spin(i % 50 * 100);
                server.close();
                calls.closed = true;
                for (Socket socket : connecting.result()) {
                    socket.setSoTimeout((int) Await.DEADLINE.toMillis());
                    try {
                        // A handshake that met the close of its listener is over for this system, which has told
                        // nobody: Linux does so with
                        // any listener. Who writes hears of it.
                        socket.getOutputStream().write(1);
                        assertThat(socket.getInputStream().read()).isEqualTo(-1);
                    } catch (java.net.SocketTimeoutException e) {
                        throw new AssertionError("a connection is open after the close", e);
                    } catch (IOException e) {
                        // Reset, which is an end too.
                    }
                    socket.close();
                }
                calls.check();
                assertThat(server.context().connections()).isEmpty();
            }
        }
    }

    @Test
    @DisplayName(
            "end-4: connects that are queued behind a blocked loop fail when the client is closed, and nothing opens when the loop goes on")
    void queuedConnectsFail() throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch entered = new CountDownLatch(1);
        Calls served = new Calls();
        try (EventManager manager = Managers.EPOLL
                        .reactors(io.millrace.poll.Clock.system())
                        .reactors(1)
                        .open();
                EventManager other = Managers.EPOLL.open();
                TcpServer server = TcpServer.builder().manager(other).start(served)) {
            Map<String, Integer> before = OpenFiles.count();
            TcpClient client = TcpClient.builder().manager(manager).open();
            Calls calls = new Calls();
            manager.execute(() -> {
                entered.countDown();
                try {
                    gate.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            entered.await();
            List<CompletableFuture<Connection>> queued = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                queued.add(client.connect(server.address(), calls));
            }
            Background.run(client::close).result();
            for (CompletableFuture<Connection> attempt : queued) {
                assertThatThrownBy(() -> attempt.get(10, TimeUnit.SECONDS))
                        .isInstanceOf(ExecutionException.class)
                        .hasMessageContaining("the client was closed");
            }
            gate.countDown();
            CountDownLatch turn = new CountDownLatch(1);
            manager.execute(turn::countDown);
            turn.await();
            assertThat(calls.connected() + served.connected()).isZero();
            assertThat(OpenFiles.areNoMoreThan(before))
                    .as("%s, not %s", OpenFiles.count(), before)
                    .isTrue();
        } finally {
            gate.countDown();
        }
    }

    @Test
    @DisplayName("end-4: a client that is closed refuses to connect, and says why; so does one whose manager has ended")
    void connectAfterClose() throws Exception {
        InetSocketAddress nowhere = new InetSocketAddress(InetAddress.getLoopbackAddress(), 9);
        EventManager manager = Managers.EPOLL.open();
        TcpClient client = TcpClient.builder().manager(manager).open();
        client.close();
        assertThatThrownBy(() -> client.connect(nowhere, new Calls()).get())
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("cannot connect to")
                .hasMessageContaining("the client is closed");
        try (TcpClient other = TcpClient.builder().manager(manager).open()) {
            manager.close();
            assertThatThrownBy(() -> other.connect(nowhere, new Calls()).get())
                    .isInstanceOf(ExecutionException.class)
                    .hasMessageContaining("shut down");
        }
    }
}
