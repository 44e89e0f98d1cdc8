package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Metrics;
import io.millrace.engine.Reactors;
import io.millrace.poll.Clock;
import io.millrace.poll.ManualClock;
import io.millrace.server.Addresses.BlackHole;
import io.millrace.server.connection.ConnectionProbe;
import io.millrace.server.group.Connections;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
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

@DisplayName("Timeouts of connections")
@Timeout(30)
@SuppressWarnings("try") // closed early, on purpose
class TimeoutsTest {
    private final ManualClock clock = new ManualClock();
    private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
    private final CompletableFuture<Connection> connected = new CompletableFuture<>();

    private static Reactors loops(String backend, Clock clock) {
        return Reactors.builder()
                .reactors(1)
                .backend(backend)
                .clock(clock)
                .withoutWatchdog()
                .name("test")
                .open();
    }

    private static Socket connect(TcpServer server) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(64 << 10);
        socket.connect(server.address());
        return socket;
    }

    static Stream<Arguments> modesAndBackends() {
        return Stream.of(Dispatch.values())
                .flatMap(mode -> Stream.of("epoll", "poll", "nio").map(backend -> Arguments.of(mode, backend)));
    }

    private final class Recording implements ConnectionHandler {
        @Override
        public void onConnect(Connection connection) {
            connected.complete(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            log.add("data " + StandardCharsets.US_ASCII.decode(data));
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            log.add("error " + failure.getMessage());
        }

        @Override
        public void onDisconnect(Connection connection) {
            log.add("disconnect");
        }
    }

    private String next() throws InterruptedException {
        return String.valueOf(log.poll(10, TimeUnit.SECONDS));
    }

    /** Runs something on the loop, and returns when it was run. */
    private static void onLoop(Reactors loops, Runnable what) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        loops.execute(() -> {
            what.run();
            done.complete(null);
        });
        done.get(10, TimeUnit.SECONDS);
    }

    private static void drained(Reactors loops) throws Exception {
        onLoop(loops, () -> {});
        onLoop(loops, () -> {});
    }

    /** A manual clock that does something when the loop has woken and looks at it: after it has taken the events from the system, and before it runs the alarms that are due. */
    private final class Interposed implements Clock {
        private final AtomicReference<@Nullable Runnable> next = new AtomicReference<>();

        @Override
        public long nanoTime() {
            if (Thread.currentThread().getName().startsWith("test")) {
                Runnable hook = next.getAndSet(null);
                if (hook != null) {
                    hook.run();
                }
            }
            return clock.nanoTime();
        }

        @Override
        public Runnable subscribe(Runnable onJump) {
            return clock.subscribe(onJump);
        }
    }

    /** As if the process were stopped for six seconds, in which something arrives; and woken by something else. */
    private void pause(Reactors loops, Interposed interposed, Socket socket, String meanwhile) {
        await().until(() -> loops.dump().contains("sleeps"));
        interposed.next.set(() -> {
            write(socket, meanwhile);
            clock.advance(Duration.ofSeconds(6));
        });
        loops.execute(() -> {});
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("mill-10: a pause of the process does not make a connection idle whose input has arrived")
    void idleAfterAPause(Dispatch mode, String backend) throws Exception {
        Interposed interposed = new Interposed();
        try (Reactors loops = loops(backend, interposed);
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .dispatch(mode, 1)
                        .idleTimeout(Duration.ofSeconds(3))
                        .start(new Recording());
                Socket socket = connect(server)) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            drained(loops);
            pause(loops, interposed, socket, "alive");
            assertThat(next()).isEqualTo("data alive");
            drained(loops);
            assertThat(connection.isClosed()).isFalse();
            clock.advance(Duration.ofSeconds(3));
            assertThat(next()).contains("idle for 3000 ms");
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("mill-11: a pause of the process does not make a frame late whose rest has arrived")
    void frameAfterAPause(Dispatch mode, String backend) throws Exception {
        Interposed interposed = new Interposed();
        try (Reactors loops = loops(backend, interposed);
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .dispatch(mode, 1)
                        .start(Framing.lines(100).within(Duration.ofSeconds(3)).frames(new Recording()));
                Socket socket = connect(server)) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            write(socket, "first\nha");
            assertThat(next()).isEqualTo("data first");
            await().until(() -> isKept(connection));
            drained(loops);
            pause(loops, interposed, socket, "lf\nthi");
            assertThat(next()).isEqualTo("data half");
            await().until(() -> isKept(connection));
            drained(loops);
            assertThat(connection.isClosed()).isFalse();
            clock.advance(Duration.ofSeconds(3));
            assertThat(next()).contains("took longer than 3000 ms");
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("mr-9: every frame has its time from its own first byte on, whatever became of those before")
    void everyFrameHasItsTime(Dispatch mode) throws Exception {
        try (Reactors loops = loops("epoll", clock);
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .dispatch(mode, 1)
                        .start(Framing.lines(100).within(Duration.ofSeconds(3)).frames(new Recording()));
                Socket socket = connect(server)) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            write(socket, "fir");
            await().until(() -> isKept(connection));
            advance(loops, Duration.ofSeconds(1));
            write(socket, "st\nsec");
            assertThat(next()).isEqualTo("data first");
            await().until(() -> isKept(connection));
            advance(loops, Duration.ofMillis(2_100)); // the alarm of the first, 2.1 s after the second began
            write(socket, "ond\n");
            assertThat(next()).isEqualTo("data second");
            advance(loops, Duration.ofSeconds(10)); // that of the second, and nothing is there
            write(socket, "third");
            await().until(() -> isKept(connection));
            advance(loops, Duration.ofMillis(2_900));
            assertThat(log).isEmpty();
            advance(loops, Duration.ofMillis(200));
            assertThat(next()).contains("took longer than 3000 ms");
        }
    }

    private void advance(Reactors loops, Duration by) throws Exception {
        drained(loops);
        clock.advance(by);
        drained(loops);
    }

    private static boolean isKept(Connection connection) {
        return ConnectionProbe.isWatched(connection);
    }

    private static void write(Socket socket, String text) {
        try {
            socket.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("mill-11: the write timeout of a new backlog counts from its own beginning, not from an older one's")
    void aSecondBacklog(String backend) throws Exception {
        try (Reactors loops = loops(backend, clock);
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .writeTimeout(Duration.ofSeconds(10))
                        .start(new Recording());
                Socket socket = connect(server)) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            // A first backlog, at 0 s, which is taken within a second.
            connection.send(ByteBuffer.allocate(8 << 20));
            await().until(() -> connection.queuedBytes() > 0 && connection.queuedBytes() < 8 << 20);
            clock.advance(Duration.ofSeconds(1));
            socket.getInputStream().skipNBytes(8 << 20);
            await().until(() -> connection.queuedBytes() == 0);
            drained(loops);
            // A second one, at 9 s.
            onLoop(loops, () -> {
                clock.advance(Duration.ofSeconds(8)); // a long turn: it began at 1 s
                connection.send(ByteBuffer.allocate(8 << 20));
            });
            await().until(() -> connection.queuedBytes() > 0 && connection.queuedBytes() < 8 << 20);
            for (int second = 10; second < 19; second++) {
                clock.advance(Duration.ofSeconds(1));
                drained(loops);
                assertThat(log).as("at %s s", second).isEmpty();
            }
            clock.advance(Duration.ofSeconds(1));
            assertThat(next()).contains("took nothing for 10000 ms");
        }
    }

    private TcpServer.Builder idleAfter(Reactors loops, int seconds) {
        return TcpServer.builder().manager(loops).idleTimeout(Duration.ofSeconds(seconds));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("mill-10: what is received or sent puts the idle timeout off, and it counts anew from there")
    void activityPutsItOff(boolean sends) throws Exception {
        try (Reactors loops = loops("epoll", clock);
                TcpServer server = idleAfter(loops, 10).start(new Recording());
                Socket socket = connect(server)) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            drained(loops);
            for (int i = 0; i < 3; i++) {
                clock.advance(Duration.ofSeconds(6));
                drained(loops);
                if (sends) {
                    connection.send(ByteBuffer.allocate(1));
                    socket.getInputStream().readNBytes(1);
                } else {
                    write(socket, "a");
                    assertThat(next()).isEqualTo("data a");
                }
                drained(loops);
            }
            clock.advance(Duration.ofMillis(9_900));
            drained(loops);
            assertThat(log).isEmpty();
            clock.advance(Duration.ofMillis(200));
            assertThat(next()).contains("idle for 10000 ms");
            assertThat(next()).isEqualTo("disconnect");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 20})
    @DisplayName("mill-10: an idle timeout that is set later replaces the one before, and counts from then on")
    void setLater(int first) throws Exception {
        try (Reactors loops = loops("epoll", clock);
                TcpServer server = idleAfter(loops, first).start(new Recording());
                Socket socket = connect(server)) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            clock.advance(Duration.ofSeconds(8));
            connection.setIdleTimeout(Duration.ofSeconds(5));
            drained(loops);
            clock.advance(Duration.ofMillis(4_900));
            drained(loops);
            assertThat(log).isEmpty();
            connection.setIdleTimeout(Duration.ZERO);
            drained(loops);
            clock.advance(Duration.ofHours(1));
            drained(loops);
            assertThat(log).isEmpty();
            connection.setIdleTimeout(Duration.ofSeconds(5));
            drained(loops);
            clock.advance(Duration.ofMillis(5_100));
            assertThat(next()).contains("idle for 5000 ms");
            assertThat(socket.isConnected()).isTrue();
        }
    }

    @Test
    @DisplayName("mill-11: a peer that took a little has the write timeout once more, and then it is closed")
    void progressPutsItOff() throws Exception {
        try (Reactors loops = loops("epoll", clock);
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .writeTimeout(Duration.ofSeconds(10))
                        .start(new Recording());
                Socket socket = connect(server)) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            connection.send(ByteBuffer.allocate(32 << 20));
            await().until(() -> connection.queuedBytes() < 32 << 20);
            drained(loops);
            clock.advance(Duration.ofSeconds(6));
            drained(loops);
            long before = connection.queuedBytes();
            socket.getInputStream().skipNBytes(4 << 20);
            await().until(() -> connection.queuedBytes() < before);
            drained(loops);
            clock.advance(Duration.ofMillis(9_900));
            drained(loops);
            assertThat(log).isEmpty();
            for (int i = 0; i < 4; i++) { // what came to the peer a moment later may have put it off once more
                clock.advance(Duration.ofSeconds(6));
                drained(loops);
            }
            assertThat(next()).contains("took nothing for 10000 ms");
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("end-7: a connection that is over leaves no alarm behind, of whatever timeout")
    void noAlarmIsLeft(Dispatch mode) throws Exception {
        try (Reactors loops = loops("epoll", clock);
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .dispatch(mode, 1)
                        .idleTimeout(Duration.ofHours(1))
                        .writeTimeout(Duration.ofHours(1))
                        .start(Framing.lines(100).within(Duration.ofHours(1)).frames(new Recording()));
                TcpClient client = TcpClient.builder()
                        .manager(loops)
                        .connectTimeout(Duration.ofHours(1))
                        .open()) {
            Socket socket = connect(server);
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            write(socket, "half a frame");
            await().until(() -> isKept(connection));
            connection.send(ByteBuffer.allocate(32 << 20));
            await().until(() -> turned(loops).alarmsPending() == 3);
            socket.close();
            await().until(() -> turned(loops).alarmsPending() == 0);
            Connection made = client.connect(server.address(), new Recording()).get(10, TimeUnit.SECONDS);
            await().until(() -> !server.context().connections().isEmpty());
            made.abort();
            await().until(() -> server.context().connections().isEmpty());
            await().until(() -> turned(loops).alarmsPending() == 0);
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("end-7, mill-12: a farewell that the peer has answered leaves no alarm behind")
    void noAlarmOfAFarewellIsLeft(Dispatch mode) throws Exception {
        try (Reactors loops = loops("epoll", clock);
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .dispatch(mode, 1)
                        .start((connection, data) -> connection.close());
                Socket socket = connect(server)) {
            write(socket, "x");
            await().until(() -> turned(loops).alarmsPending() == 1);
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
            socket.close();
            await().until(() -> server.context().connections().isEmpty());
            assertThat(turned(loops).alarmsPending()).isZero();
        }
    }

    @Test
    @DisplayName("srv-12, end-7: an onIdle that sets another timeout leaves one alarm, not two")
    void onIdleSetsAnother() throws Exception {
        CompletableFuture<Void> told = new CompletableFuture<>();
        ConnectionHandler resetting = new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                connected.complete(connection);
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}

            @Override
            public void onIdle(Connection connection, Idle kind) {
                connection.setIdleTimeout(Duration.ofSeconds(2));
                told.complete(null);
            }
        };
        try (Reactors loops = loops("epoll", clock);
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .idleTimeout(Duration.ofSeconds(5))
                        .start(resetting);
                Socket socket = connect(server)) {
            connected.get(10, TimeUnit.SECONDS);
            drained(loops);
            clock.advance(Duration.ofSeconds(5));
            told.get(10, TimeUnit.SECONDS);
            assertThat(turned(loops).alarmsPending()).isEqualTo(1);
            assertThat(socket.isConnected()).isTrue();
        }
    }

    @Test
    @DisplayName("srv-13, end-7: a connect that is cancelled before its loop gets to it leaves nothing behind")
    void cancelledBeforeItBegan() throws Exception {
        CountDownLatch open = new CountDownLatch(1);
        try (Reactors loops = loops("epoll", clock);
                TcpServer server = TcpServer.builder().manager(loops).start(new Recording());
                TcpClient client = TcpClient.builder().manager(loops).open()) {
            loops.execute(() -> {
                try {
                    open.await();
                } catch (InterruptedException e) {
                    throw new AssertionError("nobody interrupts this", e);
                }
            });
            CompletableFuture<Connection> made = client.connect(server.address(), new Recording());
            made.cancel(false);
            open.countDown();
            assertThat(turned(loops).alarmsPending()).isZero();
            assertThat(server.connectionsOpened()).isZero();
            assertThat(connected).isNotDone();
        } finally {
            open.countDown();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("srv-8, end-7: a proxy gives up its attempt for a client that has gone")
    void attemptOfAProxy() throws Exception {
        try (BlackHole upstream = new BlackHole("127.0.0.1", 0);
                Reactors loops = loops("epoll", clock);
                TcpClient client = TcpClient.builder().manager(loops).open();
                TcpServer server = TcpServer.builder().manager(loops).start(Relay.proxy(client, upstream.where()));
                Socket socket = connect(server)) {
            await().until(() -> turned(loops).alarmsPending() == 1); // the deadline of the connect
            server.context().connections().forEach(Connection::abort);
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
            await().until(() -> turned(loops).alarmsPending() == 0);
        }
    }

    /** What it counts, after a turn: a metric is that of the last one. */
    private static Metrics turned(Reactors loops) throws Exception {
        drained(loops);
        return loops.metrics();
    }

    /** Reads nothing more after its first data. */
    private final class Pausing implements ConnectionHandler {
        private final Recording recording = new Recording();

        @Override
        public void onConnect(Connection connection) {
            recording.onConnect(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            connection.pauseReads();
            recording.onData(connection, data);
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            recording.onError(connection, failure);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("mill-10: a peer that sends while its reads are paused is not idle; one that does not, is")
    void idleWhilePaused(String backend) throws Exception {
        try (Reactors loops = loops(backend, clock);
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .idleTimeout(Duration.ofSeconds(3))
                        .start(new Pausing());
                Socket socket = connect(server)) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            write(socket, "one");
            assertThat(next()).isEqualTo("data one");
            write(socket, "two");
            for (int i = 0; i < 3; i++) {
                drained(loops);
                clock.advance(Duration.ofSeconds(3));
            }
            drained(loops);
            assertThat(connection.isClosed()).isFalse();
            connection.resumeReads();
            assertThat(next()).isEqualTo("data two");
            drained(loops);
            clock.advance(Duration.ofSeconds(3));
            assertThat(next()).contains("idle for 3000 ms");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName(
            "mr-3, mr-9: a frame that has begun on a paused connection costs nothing, and is judged when it is read")
    void frameWhilePaused(String backend) throws Exception {
        try (Reactors loops = loops(backend, clock);
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .start(Framing.lines(100).within(Duration.ofSeconds(3)).frames(new Pausing()));
                Socket socket = connect(server)) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            write(socket, "first\nsec");
            assertThat(next()).isEqualTo("data first");
            write(socket, "ond\nthi");
            drained(loops);
            clock.advance(Duration.ofSeconds(3));
            drained(loops);
            clock.advance(Duration.ofSeconds(3));
            drained(loops);
            assertThat(loops.dump()).doesNotContain("alarms are pending");
            assertThat(log).isEmpty();
            // In time, as far as we can know.
            connection.resumeReads();
            assertThat(next()).isEqualTo("data second");
            // The third has begun, but nobody has looked at it yet.
            write(socket, "rd");
            drained(loops);
            clock.advance(Duration.ofSeconds(4));
            drained(loops);
            assertThat(loops.dump()).doesNotContain("alarms are pending");
            connection.resumeReads();
            drained(loops);
            clock.advance(Duration.ofMillis(2999));
            drained(loops);
            assertThat(log).isEmpty();
            clock.advance(Duration.ofMillis(1));
            assertThat(next()).contains("took longer than 3000 ms");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("mill-10: an idle timeout that is set while a connection is being made has one alarm")
    void setWhileConnecting(String backend) throws Exception {
        try (Reactors loops = loops(backend, clock);
                ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                TcpClient client = TcpClient.builder().manager(loops).open()) {
            CompletableFuture<Void> set = new CompletableFuture<>();
            CompletableFuture<Connection> made = new CompletableFuture<>();
            loops.execute(() -> {
                client.connect((InetSocketAddress) listener.getLocalSocketAddress(), new Recording())
                        .thenAccept(made::complete);
                // Behind the task that begins to connect, and before the loop is told that it is there.
                loops.execute(() -> {
                    for (Connection connection : ((Connections) client.context()).unended()) {
                        connection.setIdleTimeout(Duration.ofSeconds(5));
                    }
                    set.complete(null);
                });
            });
            set.get(10, TimeUnit.SECONDS);
            made.get(10, TimeUnit.SECONDS);
            await().untilAsserted(
                            () -> assertThat(loops.metrics().alarmsPending()).isEqualTo(1));
        }
    }
}
