package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.server.group.Connections;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("The graceful end of a client")
@Timeout(60)
@SuppressWarnings("try") // closed early, on purpose
class ClientShutdownTest {
    private static final int MUCH = 16 << 20;

    static Stream<Arguments> modesAndBackends() {
        return Stream.of(Dispatch.values())
                .flatMap(mode -> Stream.of("epoll", "poll", "nio").map(backend -> Arguments.of(mode, backend)));
    }

    private static Reactors loops(String backend) {
        return Reactors.builder()
                .reactors(2)
                .backend(backend)
                .withoutWatchdog()
                .name("test")
                .open();
    }

    /** Counts its ends. */
    private static final class Ends implements ConnectionHandler {
        final CountDownLatch ended = new CountDownLatch(1);

        @Override
        public void onData(Connection connection, ByteBuffer data) {}

        @Override
        public void onDisconnect(Connection connection) {
            ended.countDown();
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("mill-12: what a client has sent arrives before its shutdown returns")
    void drains(Dispatch mode, String backend) throws Exception {
        Ends handler = new Ends();
        try (Reactors loops = loops(backend);
                ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                TcpClient client =
                        TcpClient.builder().manager(loops).dispatch(mode, 1).open()) {
            Connection connection = client.connect((InetSocketAddress) listener.getLocalSocketAddress(), handler)
                    .get(20, TimeUnit.SECONDS);
            try (Socket peer = listener.accept()) {
                assertThat(connection.send(ByteBuffer.allocate(MUCH))).isNotEqualTo(SendResult.CLOSED);
                CompletableFuture<ShutdownResult> how =
                        CompletableFuture.supplyAsync(() -> client.shutdown(Duration.ofSeconds(30)));
                InputStream in = peer.getInputStream();
                assertThat(in.readAllBytes()).hasSize(MUCH);
                peer.close();
                ShutdownResult result = how.get(40, TimeUnit.SECONDS);
                assertThat(result.drained()).isTrue();
                assertThat(result.remaining()).isEmpty();
                assertThat(handler.ended.getCount()).isZero();
                assertThat(client.connect((InetSocketAddress) listener.getLocalSocketAddress(), handler))
                        .isCompletedExceptionally();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("mill-12: a client's shutdown cuts off at its deadline what a peer does not take")
    void cutsOff(Dispatch mode) throws Exception {
        Ends handler = new Ends();
        try (Reactors loops = loops("epoll");
                ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
                TcpClient client =
                        TcpClient.builder().manager(loops).dispatch(mode, 1).open()) {
            Connection connection = client.connect((InetSocketAddress) listener.getLocalSocketAddress(), handler)
                    .get(20, TimeUnit.SECONDS);
            connection.send(ByteBuffer.allocate(MUCH));
            ShutdownResult result = client.shutdown(Duration.ofMillis(50));
            assertThat(result.drained()).isFalse();
            assertThat(result.cutOff())
                    .singleElement()
                    .asString()
                    .contains("connection 1")
                    .contains("bytes");
            assertThat(handler.ended.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    @DisplayName("mill-12: a client's shutdown fails what is still connecting, and stops what reconnects")
    void connecting() throws Exception {
        CompletableFuture<java.util.List<InetAddress>> answer = new CompletableFuture<>();
        try (Reactors loops = loops("epoll");
                TcpClient client = TcpClient.builder()
                        .manager(loops)
                        .resolver(io.millrace.net.Resolver.over(name -> answer.join()))
                        .open()) {
            CompletableFuture<Connection> made = client.connect("slow.test", 80, new Ends());
            KeptConnection kept = client.keepConnected(
                    "slow.test", 80, new Ends(), Reconnect.backoff(Duration.ofSeconds(1), Duration.ofSeconds(1)));
            await().until(() -> ((Connections) client.context()).remaining().size() == 3);
            assertThat(client.shutdown(Duration.ofSeconds(20)).drained()).isTrue();
            assertThat(made).isCompletedExceptionally();
            assertThat(kept.state()).isEqualTo(KeptConnection.State.ENDED);
            assertThat(((Connections) client.context()).remaining()).isEmpty();
        } finally {
            answer.complete(java.util.List.of());
        }
    }
}
