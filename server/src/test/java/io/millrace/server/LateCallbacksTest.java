package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.server.connection.StreamConnection;
import io.millrace.server.group.Connections;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
class LateCallbacksTest {
    static Stream<Arguments> offTheLoop() {
        return Stream.of(Dispatch.POOL, Dispatch.VIRTUAL)
                .flatMap(mode -> Stream.of("epoll", "nio").map(backend -> Arguments.of(mode, backend)));
    }

    @ParameterizedTest
    @MethodSource("offTheLoop")
    @DisplayName(
            "end-3: what is told after the deadline of a shutdown is told where callbacks run, and not on a loop that others need")
    void afterTheDeadline(Dispatch mode, String backend) throws Exception {
        CountDownLatch gate = new CountDownLatch(1);
        CountDownLatch connected = new CountDownLatch(1);
        CompletableFuture<Boolean> toldOnLoop = new CompletableFuture<>();
        try (Reactors manager =
                Reactors.builder().reactors(1).backend(backend).name("test").open()) {
            TcpServer server = TcpServer.builder()
                    .manager(manager)
                    .dispatch(mode, 1)
                    .start(new ConnectionHandler() {
                        @Override
                        public void onConnect(Connection connection) {
                            connected.countDown();
                        }

                        @Override
                        public void onData(Connection connection, ByteBuffer data) {}

                        @Override
                        public void onDisconnect(Connection connection) {
                            toldOnLoop.complete(manager.inManager());
                        }
                    });
            try (Socket socket = new Socket(
                    InetAddress.getLoopbackAddress(), server.address().getPort())) {
                assertThat(connected.await(10, TimeUnit.SECONDS)).isTrue();
                CountDownLatch held = new CountDownLatch(1);
                manager.execute(() -> {
                    held.countDown();
                    awaitOpen(gate);
                });
                assertThat(held.await(10, TimeUnit.SECONDS)).isTrue();
                assertThat(server.shutdown(Duration.ZERO).remaining()).hasSize(1);
                gate.countDown();
                assertThat(toldOnLoop.get(10, TimeUnit.SECONDS)).isFalse();
                assertThat(socket.getInputStream().read()).isEqualTo(-1);
            }
        } finally {
            gate.countDown();
        }
    }

    @ParameterizedTest
    @MethodSource("offTheLoop")
    @DisplayName(
            "end-3: a connection that has ended since is not named any more, though the server's loops have not ended")
    void endedSince(Dispatch mode, String backend) throws Exception {
        CountDownLatch handlerGate = new CountDownLatch(1);
        CountDownLatch loopGate = new CountDownLatch(1);
        CompletableFuture<StreamConnection> called = new CompletableFuture<>();
        CountDownLatch told = new CountDownLatch(1);
        TcpServer server = TcpServer.builder()
                .reactors(Reactors.builder().reactors(1).backend(backend).name("test"))
                .dispatch(mode, 1)
                .start(new ConnectionHandler() {
                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        called.complete((StreamConnection) connection);
                        awaitOpen(handlerGate);
                    }

                    @Override
                    public void onDisconnect(Connection connection) {
                        told.countDown();
                    }
                });
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.getOutputStream().write(1);
            StreamConnection connection = called.get(10, TimeUnit.SECONDS);
            // Runs in the last turn of the loop, and holds it.
            connection.loop().schedule(Duration.ofHours(1).toNanos(), fired -> awaitOpen(loopGate));
            assertThat(server.shutdown(Duration.ZERO).remaining())
                    .singleElement()
                    .asString()
                    .startsWith(connection.toString());
            handlerGate.countDown();
            assertThat(told.await(10, TimeUnit.SECONDS)).isTrue();
            await().until(() -> ((Connections) server.context()).unended().isEmpty());
            assertThat(server.shutdown(Duration.ZERO).remaining())
                    .singleElement()
                    .asString()
                    .doesNotContain(connection.toString())
                    .contains("loop");
            loopGate.countDown();
            await().until(() -> server.shutdown(Duration.ZERO).remaining().isEmpty());
        } finally {
            handlerGate.countDown();
            loopGate.countDown();
        }
    }

    private static void awaitOpen(CountDownLatch gate) {
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new AssertionError("nobody interrupts this", e);
        }
    }
}
