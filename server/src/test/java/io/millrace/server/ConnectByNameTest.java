package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.net.Resolver;
import io.millrace.poll.ManualClock;
import io.millrace.server.Addresses.BlackHole;
import io.millrace.server.group.Connections;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** On Linux, where all of 127.0.0.0/8 is this machine's, and a listener with a full backlog does not answer. */
@DisplayName("srv-13: connecting by name")
@EnabledOnOs(OS.LINUX)
@Timeout(60)
@SuppressWarnings("try") // closed early, on purpose
class ConnectByNameTest {
    private static final Duration ATTEMPT_DELAY = Duration.ofMillis(250);

    private final ManualClock clock = new ManualClock();
    private final Recording told = new Recording();

    static Stream<Arguments> modesAndBackends() {
        return Stream.of(Dispatch.values())
                .flatMap(mode -> Stream.of("epoll", "poll", "nio").map(backend -> Arguments.of(mode, backend)));
    }

    private static final class Recording implements ConnectionHandler {
        private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();

        @Override
        public void onConnect(Connection connection) {
            log.add("connect " + connection.remoteAddress().getAddress().getHostAddress());
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            log.add("data");
        }

        @Override
        public void onDisconnect(Connection connection) {
            log.add("disconnect");
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            log.add("error " + failure);
        }
    }

    private Reactors loops(String backend) {
        return Reactors.builder()
                .reactors(1)
                .backend(backend)
                .clock(clock)
                .withoutWatchdog()
                .name("test")
                .open();
    }

    private static TcpServer server(Reactors loops, String address, int port) throws Exception {
        return TcpServer.builder()
                .manager(loops)
                .address(new InetSocketAddress(Addresses.address(address), port))
                .start((connection, data) -> connection.send(data));
    }

    private static TcpClient client(Reactors loops, Dispatch mode, Resolver resolver) {
        return TcpClient.builder()
                .manager(loops)
                .dispatch(mode, 1)
                .resolver(resolver)
                .open();
    }

    private static int unended(TcpClient client) {
        return ((Connections) client.context()).remaining().size();
    }

    private static int attempts(TcpClient client) {
        return ((Connections) client.context()).unended().size();
    }

    /** Runs something on the loop, and returns when it was run. */
    private static void turned(Reactors loops) throws Exception {
        for (int i = 0; i < 2; i++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            loops.execute(() -> done.complete(null));
            done.get(10, TimeUnit.SECONDS);
        }
    }

    private static void nothingIsLeft(Reactors loops, TcpClient client) {
        await().until(() -> unended(client) == 0);
        await().until(() -> {
            turned(loops);
            return loops.metrics().alarmsPending() == 0;
        });
    }

    /** How many this process has open. There may be fewer later, if others have left some to the garbage collector. */
    private static long sockets() throws IOException {
        long count = 0;
        try (DirectoryStream<Path> links = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path link : links) {
                count += isSocket(link) ? 1 : 0;
            }
        }
        return count;
    }

    private static boolean isSocket(Path link) {
        try {
            return Files.readSymbolicLink(link).toString().startsWith("socket:");
        } catch (IOException e) {
            return false; // closed meanwhile
        }
    }

    private static Throwable failure(CompletableFuture<Connection> made) throws Exception {
        try {
            made.get(20, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            return e.getCause();
        }
        throw new AssertionError("connected");
    }

    // ---- One that answers ----

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("srv-13: if the first address refuses, the next one is tried at once")
    void refusedFirst(Dispatch mode, String backend) throws Exception {
        try (Reactors loops = loops(backend);
                TcpServer server = server(loops, "127.0.0.1", 0);
                TcpClient client = client(loops, mode, Addresses.resolver("127.0.0.3", "127.0.0.1"))) {
            Connection connection =
                    client.connect("two.test", server.address().getPort(), told).get(20, TimeUnit.SECONDS);
            assertThat(connection.remoteAddress()).isEqualTo(server.address());
            assertThat(told.log).containsExactly("connect 127.0.0.1");
            nothingIsLeftBut(connection, loops, client);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("srv-13: if the system knows at once that an address cannot be reached, the next one is tried at once")
    void unreachableFirst(String backend) throws Exception {
        try (Reactors loops = loops(backend);
                TcpServer server = server(loops, "127.0.0.1", 0);
                TcpClient client = client(loops, Dispatch.LOOP, Addresses.resolver("127.255.255.255", "127.0.0.1"))) {
            Connection connection =
                    client.connect("two.test", server.address().getPort(), told).get(20, TimeUnit.SECONDS);
            assertThat(connection.remoteAddress()).isEqualTo(server.address());
            nothingIsLeftBut(connection, loops, client);
        }
    }

    private static void nothingIsLeftBut(Connection connection, Reactors loops, TcpClient client) {
        assertThat(client.context().connections()).hasSize(1);
        await().until(() -> unended(client) == 1);
        connection.abort();
        nothingIsLeft(loops, client);
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("srv-13: if the first address does not answer, the next one is tried a quarter of a second later")
    void deadFirst(Dispatch mode, String backend) throws Exception {
        try (Reactors loops = loops(backend);
                TcpServer server = server(loops, "127.0.0.1", 0);
                BlackHole dead = new BlackHole("127.0.0.2", server.address().getPort());
                TcpClient client = client(loops, mode, Addresses.resolver("127.0.0.2", "127.0.0.1"))) {
            long before = sockets();
            CompletableFuture<Connection> made = client.connect("two.test", dead.port(), told);
            await().until(() -> attempts(client) == 1);
            clock.advance(ATTEMPT_DELAY.minusNanos(1));
            turned(loops);
            assertThat(made).isNotDone();
            assertThat(client.context().connections())
                    .as("only connections that stand are seen")
                    .isEmpty();
            clock.advance(Duration.ofNanos(1));
            Connection connection = made.get(20, TimeUnit.SECONDS);
            assertThat(told.log).containsExactly("connect 127.0.0.1");
            nothingIsLeftBut(connection, loops, client);
            assertThat(told.log).containsExactly("connect 127.0.0.1", "disconnect");
            await().until(() -> sockets() <= before);
        }
    }

    @Test
    @DisplayName("srv-13: the families take turns, and IPv6 is first")
    void mixedFamilies() throws Exception {
        try (Reactors loops = loops("epoll");
                TcpServer six = server(loops, "::1", 0);
                // Not 127.0.0.1, where some other program's connection may have the port.
                TcpServer four = server(loops, "127.0.0.4", six.address().getPort());
                TcpClient client = client(loops, Dispatch.LOOP, Addresses.resolver("127.0.0.4", "::1"))) {
            int port = six.address().getPort();
            assertThat(client.connect("both.test", port, told)
                            .get(20, TimeUnit.SECONDS)
                            .remoteAddress())
                    .isEqualTo(six.address());
            six.close();
            assertThat(client.connect("both.test", port, told)
                            .get(20, TimeUnit.SECONDS)
                            .remoteAddress())
                    .isEqualTo(four.address());
        }
    }

    /** The system tries again after a second or more: so not all combinations. */
    static Stream<Arguments> someModesAndBackends() {
        return modesAndBackends().filter(both -> both.get()[0] == Dispatch.LOOP || both.get()[1].equals("epoll"));
    }

    @ParameterizedTest
    @MethodSource("someModesAndBackends")
    @DisplayName("srv-13: if two addresses answer at once, the handler is told of one connection")
    void bothAnswer(Dispatch mode, String backend) throws Exception {
        int free = Addresses.portFreeAt("127.0.0.1", "127.0.0.2");
        try (BlackHole first = new BlackHole("127.0.0.1", free);
                BlackHole second = new BlackHole("127.0.0.2", free);
                Reactors loops = loops(backend);
                TcpClient client = client(loops, mode, Addresses.resolver("127.0.0.1", "127.0.0.2"))) {
            CompletableFuture<Connection> made = client.connect("two.test", first.port(), told);
            await().until(() -> attempts(client) == 1);
            clock.advance(ATTEMPT_DELAY);
            await().until(() -> attempts(client) == 2);
            CountDownLatch held = new CountDownLatch(1);
            loops.execute(() -> awaitUninterrupted(held));
            // Each is let in when the system tries again, while the loop looks away: so it finds both.
            try {
                CompletableFuture<InetSocketAddress> other = CompletableFuture.supplyAsync(() -> accept(second));
                accept(first);
                other.get(30, TimeUnit.SECONDS);
            } finally {
                held.countDown();
            }
            Connection connection = made.get(20, TimeUnit.SECONDS);
            nothingIsLeftBut(connection, loops, client);
            assertThat(told.log)
                    .containsExactly(
                            "connect " + connection.remoteAddress().getAddress().getHostAddress(), "disconnect");
        }
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static InetSocketAddress accept(BlackHole hole) {
        try {
            return hole.acceptNew();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @DisplayName("srv-13: an unresolved address is a name, too")
    void unresolved() throws Exception {
        try (Reactors loops = loops("epoll");
                TcpServer server = server(loops, "127.0.0.1", 0);
                TcpClient client = client(loops, Dispatch.LOOP, Addresses.resolver("127.0.0.1"))) {
            InetSocketAddress name = InetSocketAddress.createUnresolved(
                    "one.test", server.address().getPort());
            assertThat(client.connect(name, told).get(20, TimeUnit.SECONDS).remoteAddress())
                    .isEqualTo(server.address());
        }
    }

    @Test
    @DisplayName("srv-13: the system's resolver is the default")
    void localhost() throws Exception {
        try (Reactors loops = loops("epoll");
                TcpServer server = server(loops, "127.0.0.1", 0);
                TcpClient client = TcpClient.builder().manager(loops).open()) {
            assertThat(client.connect("localhost", server.address().getPort(), told)
                            .get(20, TimeUnit.SECONDS)
                            .remoteAddress())
                    .isEqualTo(server.address());
        }
    }

    // ---- None that answers ----

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("srv-13: if all addresses fail, the exception says which they were, and why each failed")
    void allRefuse(Dispatch mode, String backend) throws Exception {
        try (SocketChannel held = Addresses.heldPort("127.0.0.2");
                Reactors loops = loops(backend);
                TcpClient client = client(loops, mode, Addresses.resolver("127.0.0.2", "127.0.0.3", "::1"))) {
            int port = held.socket().getLocalPort();
            Throwable failure = failure(client.connect("three.test", port, told));
            assertThat(failure)
                    .isInstanceOf(ConnectException.class)
                    .hasMessageContaining("three.test:" + port)
                    .hasMessageContaining("[0:0:0:0:0:0:0:1]:" + port + ": ")
                    .hasMessageContaining("127.0.0.2:" + port + ": ")
                    .hasMessageContaining("127.0.0.3:" + port + ": ")
                    .hasMessageContaining("refused")
                    .hasCauseInstanceOf(ConnectException.class);
            assertThat(failure.getSuppressed()).hasSize(2);
            nothingIsLeft(loops, client);
            assertThat(told.log).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("srv-13: one deadline covers all addresses, and the exception says how far each came")
    void allDead(Dispatch mode, String backend) throws Exception {
        int free = Addresses.portFreeAt("127.0.0.2", "127.0.0.3");
        try (BlackHole first = new BlackHole("127.0.0.2", free);
                BlackHole second = new BlackHole("127.0.0.3", free);
                Reactors loops = loops(backend);
                TcpClient client = TcpClient.builder()
                        .manager(loops)
                        .dispatch(mode, 1)
                        .resolver(Addresses.resolver("127.0.0.4", "127.0.0.2", "127.0.0.3", "127.0.0.5"))
                        .connectTimeout(Duration.ofMillis(400))
                        .open()) {
            CompletableFuture<Connection> made = client.connect("dead.test", second.port(), told);
            await().until(() -> attempts(client) == 1);
            clock.advance(ATTEMPT_DELAY);
            await().until(() -> attempts(client) == 2);
            clock.advance(Duration.ofMillis(150).minusNanos(1));
            turned(loops);
            assertThat(made).isNotDone();
            clock.advance(Duration.ofNanos(1));
            assertThat(failure(made))
                    .isInstanceOf(SocketTimeoutException.class)
                    .hasMessageContaining("dead.test:" + first.port())
                    .hasMessageContaining("within 400 ms")
                    .hasMessageContaining("127.0.0.4:" + first.port() + ": ")
                    .hasMessageContaining("127.0.0.2:" + first.port() + ": no answer yet")
                    .hasMessageContaining("127.0.0.3:" + first.port() + ": no answer yet")
                    .hasMessageContaining("127.0.0.5:" + first.port() + ": not tried yet");
            nothingIsLeft(loops, client);
            assertThat(told.log).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-13: a name that does not exist is named")
    void unknownHost(Dispatch mode) throws Exception {
        Resolver nobody = Resolver.over(name -> {
            throw new UnknownHostException(name);
        });
        try (Reactors loops = loops("epoll");
                TcpClient client = client(loops, mode, nobody)) {
            assertThat(failure(client.connect("nobody.test", 80, told)))
                    .isInstanceOf(UnknownHostException.class)
                    .hasMessageContaining("nobody.test");
            nothingIsLeft(loops, client);
        }
    }

    /** A directory that answers when it is told to. */
    private static final class SlowDirectory implements Resolver.Directory {
        private final CountDownLatch asked = new CountDownLatch(1);
        private final CompletableFuture<List<InetAddress>> answer = new CompletableFuture<>();

        @Override
        public List<InetAddress> addressesOf(String name) {
            asked.countDown();
            return answer.join();
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("srv-13: a name is resolved off the loop, and the deadline covers that, too")
    void slowName(Dispatch mode, String backend) throws Exception {
        SlowDirectory slow = new SlowDirectory();
        try (Reactors loops = loops(backend);
                TcpServer server = server(loops, "127.0.0.1", 0);
                TcpClient client = client(loops, mode, Resolver.over(slow))) {
            CompletableFuture<Connection> made =
                    client.connect("slow.test", server.address().getPort(), told);
            assertThat(slow.asked.await(20, TimeUnit.SECONDS)).isTrue();
            turned(loops);
            clock.advance(Duration.ofSeconds(10));
            assertThat(failure(made))
                    .isInstanceOf(SocketTimeoutException.class)
                    .hasMessageContaining("slow.test")
                    .hasMessageContaining("has not been resolved");
            nothingIsLeft(loops, client);
            slow.answer.complete(List.of(Addresses.address("127.0.0.1")));
            turned(loops);
            assertThat(told.log).isEmpty();
        }
    }

    @Test
    @DisplayName("srv-13: if the manager ends while a name is resolved, the connect fails")
    void managerEnds() throws Exception {
        for (Duration timeout : List.of(Duration.ofSeconds(10), Duration.ZERO)) {
            SlowDirectory slow = new SlowDirectory();
            Reactors loops = loops("epoll");
            try (TcpClient client = TcpClient.builder()
                    .manager(loops)
                    .connectTimeout(timeout)
                    .resolver(Resolver.over(slow))
                    .open()) {
                CompletableFuture<Connection> made = client.connect("slow.test", 80, told);
                assertThat(slow.asked.await(20, TimeUnit.SECONDS)).isTrue();
                loops.close();
                assertThat(failure(made)).hasMessageContaining("slow.test").hasMessageContaining("manager has ended");
            } finally {
                slow.answer.complete(List.of());
            }
        }
    }

    // ---- Given up ----

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("srv-13: a cancel ends all attempts, and so does a close of the client")
    void cancelled(Dispatch mode, String backend) throws Exception {
        int free = Addresses.portFreeAt("127.0.0.2", "127.0.0.3");
        try (BlackHole first = new BlackHole("127.0.0.2", free);
                BlackHole second = new BlackHole("127.0.0.3", free);
                Reactors loops = loops(backend)) {
            Resolver resolver = Addresses.resolver("127.0.0.2", "127.0.0.3", "127.0.0.4");
            TcpClient client = client(loops, mode, resolver);
            long before = sockets();
            CompletableFuture<Connection> made = client.connect("dead.test", second.port(), told);
            await().until(() -> attempts(client) == 1);
            clock.advance(ATTEMPT_DELAY);
            await().until(() -> attempts(client) == 2);
            made.cancel(true);
            nothingIsLeft(loops, client);
            assertThat(sockets()).isLessThanOrEqualTo(before);
            CompletableFuture<Connection> another = client.connect("dead.test", second.port(), told);
            await().until(() -> attempts(client) == 1);
            client.close();
            assertThat(failure(another))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
            assertThat(unended(client)).isZero();
            assertThat(sockets()).isLessThanOrEqualTo(before);
            turned(loops);
            assertThat(loops.metrics().alarmsPending()).isZero();
            assertThat(told.log).isEmpty();
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-13: a cancel or a close while the name is resolved ends everything")
    void cancelledWhileResolving(Dispatch mode) throws Exception {
        SlowDirectory slow = new SlowDirectory();
        try (Reactors loops = loops("epoll");
                TcpServer server = server(loops, "127.0.0.1", 0)) {
            TcpClient client = client(loops, mode, Resolver.over(slow));
            int port = server.address().getPort();
            CompletableFuture<Connection> cancelled = client.connect("slow.test", port, told);
            CompletableFuture<Connection> closed = client.connect("slow.test", port, told);
            await().until(() -> unended(client) == 2);
            cancelled.cancel(true);
            await().until(() -> unended(client) == 1);
            client.close();
            assertThat(failure(closed)).hasMessageContaining("closed");
            assertThat(unended(client)).isZero();
            slow.answer.complete(List.of(Addresses.address("127.0.0.1")));
            turned(loops);
            assertThat(loops.metrics().alarmsPending()).isZero();
            assertThat(told.log).isEmpty();
            assertThatThrownBy(() -> client.connect("slow.test", port, told).get(20, TimeUnit.SECONDS))
                    .hasMessageContaining("slow.test:" + port + ": the client is closed");
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-13: a deadline that passes while onConnect runs does not end the connection")
    void slowOnConnect(Dispatch mode) throws Exception {
        try (Reactors loops = loops("epoll");
                TcpServer server = server(loops, "127.0.0.1", 0);
                TcpClient client = client(loops, mode, Addresses.resolver("127.0.0.1"))) {
            Connection connection = client.connect("one.test", server.address().getPort(), new ConnectionHandler() {
                        @Override
                        public void onConnect(Connection made) {
                            clock.advance(Duration.ofSeconds(11));
                        }

                        @Override
                        public void onData(Connection made, ByteBuffer data) {}
                    })
                    .get(20, TimeUnit.SECONDS);
            turned(loops);
            assertThat(connection.isClosed()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-13, mill-7: a cancel while onConnect runs ends the connection")
    void cancelledInOnConnect(Dispatch mode) throws Exception {
        CompletableFuture<CompletableFuture<Connection>> attempt = new CompletableFuture<>();
        CompletableFuture<Void> ended = new CompletableFuture<>();
        try (Reactors loops = loops("epoll");
                TcpServer server = server(loops, "127.0.0.1", 0);
                TcpClient client = client(loops, mode, Addresses.resolver("127.0.0.1"))) {
            attempt.complete(client.connect("one.test", server.address().getPort(), new ConnectionHandler() {
                @Override
                public void onConnect(Connection made) {
                    attempt.join().cancel(true);
                }

                @Override
                public void onData(Connection made, ByteBuffer data) {}

                @Override
                public void onDisconnect(Connection made) {
                    ended.complete(null);
                }
            }));
            ended.get(20, TimeUnit.SECONDS);
            assertThat(attempt.join()).isCancelled();
        }
    }

    @Test
    @DisplayName("srv-13, end-7: a client keeps nothing of attempts that are over")
    void attemptsAreForgotten() throws Exception {
        List<WeakReference<Object>> over = new ArrayList<>();
        try (Reactors loops = loops("epoll");
                TcpServer server = server(loops, "127.0.0.1", 0);
                TcpClient client = client(loops, Dispatch.LOOP, Addresses.resolver("127.0.0.1"))) {
            for (int i = 0; i < 3; i++) {
                CompletableFuture<Connection> made =
                        client.connect("one.test", server.address().getPort(), new Recording());
                made.get(20, TimeUnit.SECONDS).abort();
                over.add(new WeakReference<>(made));
            }
            await().until(() -> client.context().connections().isEmpty());
            // The last one may still be on a stack.
            await().until(() -> {
                System.gc();
                return over.stream().filter(each -> each.get() != null).count() <= 1;
            });
        }
    }

    @Test
    @DisplayName("srv-13: a port that does not exist is refused at once")
    void badPort() {
        try (TcpClient client = TcpClient.open()) {
            assertThatThrownBy(() -> client.connect("one.test", 65_536, told))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
