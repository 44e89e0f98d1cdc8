package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.net.Resolver;
import io.millrace.poll.ManualClock;
import io.millrace.server.group.Connections;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("srv-13: a connection that is kept up")
@Timeout(60)
class KeepConnectedTest {
    private static final Reconnect POLICY = Reconnect.backoff(Duration.ofSeconds(1), Duration.ofSeconds(8))
            .jitter(0)
            .resetAfter(Duration.ofSeconds(60));

    private final ManualClock clock = new ManualClock();
    private final Recording told = new Recording();
    private @Nullable Reactors opened;
    private @Nullable SocketChannel held;

    @AfterEach
    void closeLoops() throws IOException {
        if (opened != null) {
            opened.close();
        }
        if (held != null) {
            held.close();
        }
    }

    private InetSocketAddress heldPort() throws IOException {
        SocketChannel holder = Addresses.heldPort("127.0.0.1");
        held = holder;
        return (InetSocketAddress) holder.getLocalAddress();
    }

    static Stream<Arguments> modesAndBackends() {
        return Stream.of(Dispatch.values())
                .flatMap(mode -> Stream.of("epoll", "poll", "nio").map(backend -> Arguments.of(mode, backend)));
    }

    /** Logs everything; fails where it is told to. */
    private static class Recording implements ConnectionHandler {
        final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();

        @Override
        public void onConnect(Connection connection) throws Exception {
            log.add("connect");
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            log.add("data " + StandardCharsets.US_ASCII.decode(data));
        }

        @Override
        public void onDisconnect(Connection connection) {
            log.add("disconnect");
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            log.add("error " + failure.getMessage());
        }

        String next() throws InterruptedException {
            return String.valueOf(log.poll(20, TimeUnit.SECONDS));
        }
    }

    private Reactors loops(String backend) {
        Reactors loops = Reactors.builder()
                .reactors(2)
                .backend(backend)
                .clock(clock)
                .withoutWatchdog()
                .name("test")
                .open();
        opened = loops;
        return loops;
    }

    /** On its own loops and the system's clock. */
    private static TcpServer server(int port) throws IOException {
        return TcpServer.builder()
                .reactors(Reactors.builder().reactors(1).withoutWatchdog().name("server"))
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .start((connection, data) -> connection.send(data));
    }

    private static TcpClient client(Reactors loops, Dispatch mode) {
        return TcpClient.builder().manager(loops).dispatch(mode, 1).open();
    }

    private static int unended(TcpClient client) {
        return ((Connections) client.context()).remaining().size();
    }

    private static void awaitState(KeptConnection kept, KeptConnection.State state) {
        await().until(() -> kept.state() == state);
    }

    /** No wait is shorter than this. */
    private void notWithin(KeptConnection kept, Duration wait) {
        awaitState(kept, KeptConnection.State.WAITING);
        clock.advance(wait.minusNanos(1));
        turned();
        assertThat(kept.state()).isEqualTo(KeptConnection.State.WAITING);
        clock.advance(Duration.ofNanos(1));
    }

    private void turned() {
        Reactors loops = java.util.Objects.requireNonNull(opened);
        for (int i = 0; i < 8; i++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            loops.execute(() -> done.complete(null));
            done.join();
        }
    }

    private void noAlarmIsLeft() {
        await().until(() -> {
            turned();
            return java.util.Objects.requireNonNull(opened).metrics().alarmsPending() == 0;
        });
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("srv-13: a server that comes back is connected to again")
    void comesBack(Dispatch mode, String backend) throws Exception {
        InetSocketAddress address = heldPort();
        TcpServer first = server(address.getPort());
        try (TcpClient client = client(loops(backend), mode)) {
            KeptConnection kept = client.keepConnected(address, told, POLICY);
            assertThat(told.next()).isEqualTo("connect");
            assertThat(kept.state()).isEqualTo(KeptConnection.State.CONNECTED);
            first.close();
            assertThat(told.next()).isEqualTo("disconnect");
            notWithin(kept, Duration.ofSeconds(1));
            assertThat(told.next()).contains("cannot connect to").contains("refused");
            notWithin(kept, Duration.ofSeconds(2));
            assertThat(told.next()).contains("refused");
            assertThat(kept.connection()).isNull();
            try (TcpServer second = server(address.getPort())) {
                notWithin(kept, Duration.ofSeconds(4));
                assertThat(told.next()).isEqualTo("connect");
                Connection connection = java.util.Objects.requireNonNull(kept.connection());
                assertThat(client.context().connections()).hasSize(1);
                connection.send("again");
                assertThat(told.next()).isEqualTo("data again");
                kept.close();
                assertThat(told.next()).isEqualTo("disconnect");
                await().until(() -> second.context().connections().isEmpty());
            }
            assertThat(kept.state()).isEqualTo(KeptConnection.State.ENDED);
            await().until(() -> unended(client) == 0);
            noAlarmIsLeft();
            assertThat(told.log).isEmpty();
        }
    }

    @Test
    @DisplayName("srv-13: a name is resolved again for each attempt")
    void resolvesAgain() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        Resolver resolver = Resolver.over(name -> {
            asked.incrementAndGet();
            throw new java.net.UnknownHostException(name);
        });
        try (TcpClient client =
                TcpClient.builder().manager(loops("epoll")).resolver(resolver).open()) {
            KeptConnection kept = client.keepConnected("moves.test", 80, told, POLICY);
            assertThat(told.next()).contains("moves.test");
            notWithin(kept, Duration.ofSeconds(1));
            assertThat(told.next()).contains("moves.test");
            assertThat(asked).hasValue(2);
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-13: waits begin anew after a connection that stood for a while, and only then")
    void reset(Dispatch mode) throws Exception {
        try (TcpServer server = server(0);
                TcpClient client = client(loops("epoll"), mode)) {
            KeptConnection kept = client.keepConnected(server.address(), told, POLICY);
            for (int seconds : new int[] {1, 2, 4}) {
                assertThat(told.next()).isEqualTo("connect");
                clock.advance(Duration.ofSeconds(60).minusMillis(1));
                end(kept);
                notWithin(kept, Duration.ofSeconds(seconds));
            }
            assertThat(told.next()).isEqualTo("connect");
            clock.advance(Duration.ofSeconds(60));
            end(kept);
            notWithin(kept, Duration.ofSeconds(1));
            assertThat(told.next()).isEqualTo("connect");
        }
    }

    private void end(KeptConnection kept) throws Exception {
        java.util.Objects.requireNonNull(kept.connection()).abort();
        assertThat(told.next()).isEqualTo("disconnect");
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-13: it gives up after as many attempts as it was allowed, and says so")
    void givesUp(Dispatch mode) throws Exception {
        InetSocketAddress nobody = heldPort();
        try (TcpClient client = client(loops("epoll"), mode)) {
            KeptConnection kept = client.keepConnected(nobody, told, POLICY.maxAttempts(2));
            assertThat(told.next()).contains("refused");
            notWithin(kept, Duration.ofSeconds(1));
            assertThat(told.next()).contains("refused");
            assertThat(told.next()).contains("gave up connecting to").contains("after 2 attempts");
            assertThat(kept.state()).isEqualTo(KeptConnection.State.ENDED);
            await().until(() -> unended(client) == 0);
            noAlarmIsLeft();
        }
    }

    /** Stays in onError until it is let out. */
    private static final class Slow extends Recording {
        final CountDownLatch let = new CountDownLatch(1);

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            super.onError(connection, failure);
            try {
                let.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            log.add("told");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POOL", "VIRTUAL"})
    @DisplayName("srv-13: the next attempt waits until the failure of the last one was told")
    void toldBeforeTheNextAttempt(Dispatch mode) throws Exception {
        InetSocketAddress address = heldPort();
        Slow slow = new Slow();
        try (TcpClient client = client(loops("epoll"), mode)) {
            KeptConnection kept = client.keepConnected(address, slow, POLICY);
            assertThat(slow.next()).contains("refused");
            try (TcpServer server = server(address.getPort())) {
                turned();
                clock.advance(Duration.ofMinutes(1));
                turned();
                assertThat(kept.state()).isEqualTo(KeptConnection.State.CONNECTING);
                assertThat(server.connectionsOpened()).isZero();
                slow.let.countDown();
                assertThat(slow.next()).isEqualTo("told");
                notWithin(kept, Duration.ofSeconds(1));
                assertThat(slow.next()).isEqualTo("connect");
            } finally {
                slow.let.countDown();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"POOL", "VIRTUAL"})
    @DisplayName(
            "srv-13: a client that is closed while a failure is being told waits for that, and then nothing is told")
    void toldBeforeTheEnd(Dispatch mode) throws Exception {
        InetSocketAddress nobody = heldPort();
        Slow slow = new Slow();
        TcpClient client = client(loops("epoll"), mode);
        KeptConnection kept = client.keepConnected(nobody, slow, POLICY);
        assertThat(slow.next()).contains("refused");
        CompletableFuture<Void> closing = CompletableFuture.runAsync(client::close);
        awaitState(kept, KeptConnection.State.ENDED);
        turned();
        assertThat(unended(client)).isEqualTo(1);
        assertThat(closing).isNotDone();
        slow.let.countDown();
        closing.get(20, TimeUnit.SECONDS);
        assertThat(slow.log).containsExactly("told");
        assertThat(unended(client)).isZero();
        noAlarmIsLeft();
    }

    @ParameterizedTest
    @EnumSource(names = {"POOL", "VIRTUAL"})
    @DisplayName("srv-13: a client waits until it was told that the last attempt was the last")
    void toldThatItGaveUp(Dispatch mode) throws Exception {
        InetSocketAddress nobody = heldPort();
        Slow slow = new Slow();
        TcpClient client = client(loops("epoll"), mode);
        KeptConnection kept = client.keepConnected(
                nobody,
                new ConnectionHandler() {
                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}

                    @Override
                    public void onError(@Nullable Connection connection, Throwable failure) {
                        if (failure.getMessage().contains("gave up")) {
                            slow.onError(connection, failure);
                        }
                    }
                },
                POLICY.maxAttempts(1));
        assertThat(slow.next()).contains("gave up");
        assertThat(kept.state()).isEqualTo(KeptConnection.State.ENDED);
        turned();
        assertThat(unended(client)).isEqualTo(1);
        slow.let.countDown();
        client.close();
        assertThat(slow.log).containsExactly("told");
        assertThat(unended(client)).isZero();
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-13: a connection that onConnect refuses is told once, and ends before the next attempt")
    void refusedByHandler(Dispatch mode) throws Exception {
        Recording refusing = new Recording() {
            @Override
            public void onConnect(Connection connection) {
                log.add("connect");
                throw new IllegalStateException("not you");
            }
        };
        try (TcpServer server = server(0);
                TcpClient client = client(loops("epoll"), mode)) {
            KeptConnection kept = client.keepConnected(server.address(), refusing, POLICY);
            for (int seconds : new int[] {1, 2}) {
                assertThat(refusing.next()).isEqualTo("connect");
                assertThat(refusing.next()).isEqualTo("error not you");
                assertThat(refusing.next()).isEqualTo("disconnect");
                notWithin(kept, Duration.ofSeconds(seconds));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-13: a close ends the wait, and so does the end of the client")
    void closedWhileWaiting(Dispatch mode) throws Exception {
        InetSocketAddress nobody = heldPort();
        TcpClient client = client(loops("epoll"), mode);
        KeptConnection first = client.keepConnected(nobody, told, POLICY);
        KeptConnection second = client.keepConnected(nobody, told, POLICY);
        awaitState(first, KeptConnection.State.WAITING);
        awaitState(second, KeptConnection.State.WAITING);
        first.close();
        await().until(() -> unended(client) == 1);
        client.close();
        assertThat(unended(client)).isZero();
        assertThat(second.state()).isEqualTo(KeptConnection.State.ENDED);
        noAlarmIsLeft();
        clock.advance(Duration.ofMinutes(1));
        turned();
        assertThat(told.log).hasSize(2).allMatch(entry -> entry.contains("refused"));
        assertThatThrownBy(() -> client.keepConnected(nobody, told, POLICY)).hasMessageContaining("closed");
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-13: a close while it connects, or is connected, ends it; so does the end of the client")
    void closedWhileConnected(Dispatch mode) throws Exception {
        CompletableFuture<java.util.List<InetAddress>> answer = new CompletableFuture<>();
        TcpClient client = TcpClient.builder()
                .manager(loops("epoll"))
                .dispatch(mode, 1)
                .resolver(Resolver.over(name -> answer.join()))
                .open();
        try (TcpServer server = server(0)) {
            KeptConnection connecting = client.keepConnected("slow.test", 80, told, POLICY);
            await().until(() -> unended(client) == 2);
            assertThat(connecting.state()).isEqualTo(KeptConnection.State.CONNECTING);
            connecting.close();
            await().until(() -> unended(client) == 0);
            KeptConnection connected = client.keepConnected(server.address(), told, POLICY);
            assertThat(told.next()).isEqualTo("connect");
            client.close();
            assertThat(told.next()).isEqualTo("disconnect");
            assertThat(unended(client)).isZero();
            assertThat(connected.state()).isEqualTo(KeptConnection.State.ENDED);
            assertThat(connected.connection()).isNull();
            noAlarmIsLeft();
            assertThat(told.log).isEmpty();
        } finally {
            answer.complete(java.util.List.of());
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-13: it ends with its manager")
    void endsWithItsManager(Dispatch mode) throws Exception {
        InetSocketAddress nobody = heldPort();
        try (TcpServer server = server(0)) {
            Reactors loops = loops("epoll");
            TcpClient client = client(loops, mode);
            KeptConnection waiting = client.keepConnected(nobody, new Recording(), POLICY);
            KeptConnection connected = client.keepConnected(server.address(), told, POLICY);
            awaitState(waiting, KeptConnection.State.WAITING);
            assertThat(told.next()).isEqualTo("connect");
            loops.close();
            awaitState(waiting, KeptConnection.State.ENDED);
            awaitState(connected, KeptConnection.State.ENDED);
            client.close();
            assertThat(unended(client)).isZero();
        }
    }
}
