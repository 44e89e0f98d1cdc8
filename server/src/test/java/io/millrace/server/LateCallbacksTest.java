package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
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

    private static void awaitOpen(CountDownLatch gate) {
        try {
            gate.await();
        } catch (InterruptedException e) {
            throw new AssertionError("nobody interrupts this", e);
        }
    }
}
