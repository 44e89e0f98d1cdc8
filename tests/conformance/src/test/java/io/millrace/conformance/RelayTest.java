package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.poll.Clock;
import io.millrace.poll.ManualClock;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.HandlerFactory;
import io.millrace.server.Idle;
import io.millrace.server.Relay;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.server.connection.StreamConnection;
import io.millrace.testkit.HeldPort;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("A relay joins two connections, on every backend, dispatch and manager, on one loop or two")
@Timeout(60)
class RelayTest {
    private static final int MEGA = 1 << 20;
    private static final long LOW = 16 << 10;
    private static final long HIGH = 32 << 10;
    private static final int READ = 16 << 10;

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final LinkedBlockingQueue<Connection> accepted = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<Connection> made = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
    private ServerSocket upstream;
    private TcpClient client;
    private boolean tls;

    static List<ServerSetting> settings() {
        return ServerSetting.chosen();
    }

    /** Once with both sides on one manager, and on one loop if callbacks run there; once on two managers. A build has only the latter of most. */
    static List<Arguments> loops() {
        return ServerSetting.chosen().stream()
                .flatMap(setting -> ServerSetting.isFull() || (setting.on().equals("epoll") && !setting.tls())
                        ? Stream.of(Arguments.of(setting, 1), Arguments.of(setting, 2))
                        : Stream.of(Arguments.of(setting, 2)))
                .toList();
    }

    @BeforeEach
    void listen() throws IOException {
        upstream = new ServerSocket();
        upstream.setReceiveBufferSize(64 << 10);
        upstream.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1000);
        opened.add(upstream);
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    // ---- Starting ----

    private InetSocketAddress address() {
        return (InetSocketAddress) upstream.getLocalSocketAddress();
    }

    private TcpServer start(ServerSetting setting, HandlerFactory handlers) throws IOException {
        return start(setting, Clock.system(), Duration.ZERO, handlers);
    }

    private TcpServer start(ServerSetting setting, Clock clock, Duration idle, HandlerFactory handlers)
            throws IOException {
        return start(setting, 1, clock, idle, handlers);
    }

    private TcpServer start(ServerSetting setting, int managers, Clock clock, Duration idle, HandlerFactory handlers)
            throws IOException {
        tls = setting.tls();
        ServerSetting.Opened manager = setting.open(clock);
        opened.add(manager);
        ServerSetting.Opened far = managers == 1 ? manager : setting.open(clock);
        opened.add(far);
        client = far.client()
                .waterMarks(LOW, HIGH, HIGH)
                .bufferSize(READ)
                .idleTimeout(idle)
                .connectTimeout(Duration.ZERO) // what fails is found out without it
                .open();
        opened.add(client);
        TcpServer server =
                manager.server().waterMarks(LOW, HIGH, HIGH).bufferSize(READ).start(handlers);
        opened.add(server);
        return server;
    }

    /** A proxy that shows the two connections of each pair. */
    private TcpServer proxy(ServerSetting setting, int managers) throws IOException {
        return start(setting, managers, Clock.system(), Duration.ZERO, connection -> new Pair());
    }

    /** Tells what is told to handlers that a relay has taken over from. */
    private final class Told implements ConnectionHandler {
        private final String name;

        Told(String name) {
            this.name = name;
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            log.add(name + " data");
        }

        @Override
        public void onWritable(Connection connection) {
            log.add(name + " writable");
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            log.add(name + " error");
        }

        @Override
        public void onDisconnect(Connection connection) {
            log.add(name + " disconnect");
        }
    }

    /** Tells what a user's own handler hears of a side. */
    private class Heard implements ConnectionHandler {
        private final String name;

        Heard(String name) {
            this.name = name;
        }

        @Override
        public void onConnect(Connection connection) throws Exception {
            log.add(name + " connect");
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            log.add(name + " data");
        }

        @Override
        public void onEndOfInput(Connection connection) {
            log.add(name + " end");
        }

        @Override
        public void onIdle(Connection connection, Idle kind) throws Exception {
            log.add(name + " idle");
            ConnectionHandler.super.onIdle(connection, kind);
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            log.add(name + " error " + failure.getMessage());
        }

        @Override
        public void onDisconnect(Connection connection) {
            log.add(name + " disconnect");
        }
    }

    private class Pair implements ConnectionHandler {
        @Override
        public void onConnect(Connection connection) throws Exception {
            accepted.add(connection);
            var ignored = client.connect(address(), Relay.to(connection)).whenComplete((there, failure) -> {
                if (failure == null) {
                    made.add(there);
                } else {
                    connection.close();
                }
            });
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            log.add("not relayed: " + data);
        }
    }

    private Socket connect(TcpServer server) throws IOException {
        Socket socket = new Socket();
        opened.add(socket);
        socket.setReceiveBufferSize(64 << 10);
        socket.connect(server.address());
        return tls ? secured(TlsSocket.client(socket)) : socket;
    }

    private Socket accept() throws IOException {
        Socket socket = upstream.accept();
        opened.add(socket);
        return tls ? secured(TlsSocket.server(socket)) : socket;
    }

    private Socket secured(TlsSocket socket) {
        opened.add(socket);
        return socket;
    }

    private HeldPort heldPort() throws IOException {
        HeldPort port = HeldPort.open();
        opened.add(port);
        return port;
    }

    private static Connection take(LinkedBlockingQueue<Connection> from) throws InterruptedException {
        Connection connection = from.poll(20, TimeUnit.SECONDS);
        assertThat(connection).isNotNull();
        return connection;
    }

    private String next() throws InterruptedException {
        return String.valueOf(log.poll(20, TimeUnit.SECONDS));
    }

    private static byte[] random(int size, int seed) {
        byte[] bytes = new byte[size];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    private static <T> CompletableFuture<T> async(Callable<T> work) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                result.complete(work.call());
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        return result;
    }

    private static CompletableFuture<Void> sending(Socket socket, byte[] bytes, boolean andEnd) {
        return async(() -> {
            OutputStream out = socket.getOutputStream();
            out.write(bytes);
            if (andEnd) {
                socket.shutdownOutput();
            }
            return null;
        });
    }

    private static void assertReads(Socket socket, byte[] expected) throws IOException {
        byte[] got = socket.getInputStream().readNBytes(expected.length);
        assertThat(got.length).as("bytes until the end of input").isEqualTo(expected.length);
        assertThat(Arrays.mismatch(got, expected))
                .as("the first byte that differs")
                .isEqualTo(-1);
    }

    private void assertBothGone(TcpServer server) {
        await().until(() -> server.context().connections().isEmpty()
                && client.context().connections().isEmpty());
    }

    // ---- Bytes ----

    @ParameterizedTest
    @MethodSource("loops")
    @DisplayName("srv-8: a half close is passed on behind all bytes, the answer comes, and then both end")
    void halfClose(ServerSetting setting, int managers) throws Exception {
        TcpServer server = proxy(setting, managers);
        byte[] request = random(setting.share(3 * MEGA), 1);
        byte[] answer = random(setting.share(3 * MEGA), 2);
        for (int i = 0; i < 3; i++) {
            Socket near = connect(server);
            CompletableFuture<Void> sent = sending(near, request, true);
            Socket far = accept();
            assertThat(far.getInputStream().readAllBytes()).isEqualTo(request);
            sent.get(20, TimeUnit.SECONDS);
            CompletableFuture<Void> answered = sending(far, answer, true);
            assertThat(near.getInputStream().readAllBytes()).isEqualTo(answer);
            answered.get(20, TimeUnit.SECONDS);
            assertBothGone(server);
        }
        assertThat(log).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("loops")
    @DisplayName("srv-8: the upstream ends its output first, and still gets what the client sends")
    void halfCloseOfUpstream(ServerSetting setting, int managers) throws Exception {
        TcpServer server = proxy(setting, managers);
        Socket near = connect(server);
        Socket far = accept();
        far.getOutputStream().write("bye".getBytes(US_ASCII));
        far.shutdownOutput();
        assertThat(near.getInputStream().readAllBytes()).asString(US_ASCII).isEqualTo("bye");
        byte[] rest = random(setting.share(3 * MEGA), 3);
        CompletableFuture<Void> sent = sending(near, rest, true);
        assertThat(far.getInputStream().readAllBytes()).isEqualTo(rest);
        sent.get(20, TimeUnit.SECONDS);
        assertBothGone(server);
    }

    @ParameterizedTest
    @MethodSource("loops")
    @DisplayName("srv-8: 20 MB come down while 30 MB go up, before the client reads any of them")
    void duplex(ServerSetting setting, int managers) throws Exception {
        TcpServer server = proxy(setting, managers);
        byte[] up = random(setting.share(30) * MEGA, 4);
        byte[] down = random(setting.share(20) * MEGA, 5);
        Socket near = connect(server);
        Socket far = accept();
        CompletableFuture<Void> coming = sending(far, down, false);
        CompletableFuture<byte[]> arrived = async(() -> far.getInputStream().readNBytes(up.length));
        near.getOutputStream().write(up); // all of it, before anything is read
        assertReads(near, down);
        coming.get(30, TimeUnit.SECONDS);
        assertThat(arrived.get(30, TimeUnit.SECONDS)).isEqualTo(up);
    }

    @ParameterizedTest
    @MethodSource("loops")
    @DisplayName("srv-8: a side that does not read stops the other, with little in between, and gets all when it reads")
    void slowSides(ServerSetting setting, int managers) throws Exception {
        TcpServer server = proxy(setting, managers);
        byte[] bytes = random(24 * MEGA, 6);
        Socket near = connect(server);
        Socket far = accept();
        Connection inside = take(accepted);
        Connection outside = take(made);
        for (boolean upwards : List.of(true, false)) {
            Socket from = upwards ? near : far;
            Socket to = upwards ? far : near;
            Connection full = upwards ? outside : inside;
            CompletableFuture<Void> sent = sending(from, bytes, false);
            // It stops between the two marks, or above: as much as the kernel takes after the pause may go.
            await().until(() -> full.queuedBytes() > LOW);
            long most = 0;
            for (int i = 0; i < 200; i++) {
                most = Math.max(most, full.queuedBytes());
                Thread.onSpinWait();
            }
            // One read; with callbacks elsewhere also what is on its way to them, and one read for a resume that came
            // late.
            assertThat(most).isLessThanOrEqualTo(HIGH + 10L * READ);
            assertThat(sent).isNotDone();
            assertReads(to, bytes);
            sent.get(20, TimeUnit.SECONDS);
        }
    }

    // ---- Before it stands ----

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName(
            "srv-8: what the client sends before the upstream is there arrives, behind what a handler has read and sent itself")
    void earlyBytes(ServerSetting setting) throws Exception {
        byte[] body = random(setting.share(MEGA), 7);
        TcpServer server = start(setting, connection -> (same, data) -> {
            byte first = data.get();
            byte[] rest = new byte[data.remaining()];
            data.get(rest);
            var ignored = client.connect(address(), Relay.to(connection));
            headRest.add(first == '!' ? rest : new byte[0]);
        });
        for (int i = 0; i < 10; i++) {
            Socket near = connect(server);
            near.getOutputStream().write('!');
            CompletableFuture<Void> sent = sending(near, body, true);
            Socket far = accept();
            byte[] rest = headRest.poll(20, TimeUnit.SECONDS);
            assertThat(rest).isNotNull();
            byte[] got = far.getInputStream().readAllBytes();
            assertThat(rest.length + got.length).isEqualTo(body.length);
            byte[] all = new byte[body.length];
            System.arraycopy(rest, 0, all, 0, rest.length);
            System.arraycopy(got, 0, all, rest.length, got.length);
            assertThat(all).isEqualTo(body);
            sent.get(20, TimeUnit.SECONDS);
            near.close();
            far.close();
        }
    }

    private final LinkedBlockingQueue<byte[]> headRest = new LinkedBlockingQueue<>();

    @ParameterizedTest
    @MethodSource("loops")
    @DisplayName("srv-8: an upstream that speaks first is heard, and one that has ended at once, too")
    void upstreamSpeaksFirst(ServerSetting setting, int managers) throws Exception {
        TcpServer server = proxy(setting, managers);
        CompletableFuture<Void> greeting = async(() -> {
            for (int i = 0; i < 30; i++) {
                try (Socket far = accept()) {
                    far.getOutputStream().write("220 ready".getBytes(US_ASCII));
                }
            }
            return null;
        });
        for (int i = 0; i < 30; i++) {
            try (Socket near = connect(server)) {
                assertThat(near.getInputStream().readAllBytes())
                        .asString(US_ASCII)
                        .isEqualTo("220 ready");
            }
        }
        greeting.get(20, TimeUnit.SECONDS);
        assertBothGone(server);
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName(
            "srv-8: if an upstream cannot be reached, the next one gets everything; if none can, the client is closed")
    void nextUpstream(ServerSetting setting) throws Exception {
        InetSocketAddress dead = heldPort().address();
        TcpServer server = start(setting, connection -> new ConnectionHandler() {
            @Override
            public void onConnect(Connection same) {
                var ignored = client.connect(dead, Relay.to(same)).whenComplete((there, failure) -> {
                    assertThat(failure).isNotNull();
                    var next = client.connect(address(), Relay.to(same));
                });
            }

            @Override
            public void onData(Connection same, ByteBuffer data) {
                log.add("not relayed: " + data);
            }
        });
        byte[] bytes = random(MEGA, 8);
        Socket near = connect(server);
        CompletableFuture<Void> sent = sending(near, bytes, true);
        assertThat(accept().getInputStream().readAllBytes()).isEqualTo(bytes);
        sent.get(20, TimeUnit.SECONDS);

        TcpServer none = start(setting, (HandlerFactory)
                connection -> Relay.proxy(client, dead).handlerFor(connection));
        Socket unlucky = connect(none);
        assertThat(unlucky.getInputStream().read()).isEqualTo(-1);
        assertThat(log).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName(
            "srv-8: what was on its way to the handler when the relay took over goes to the upstream that is found in the end")
    void keptForTheNext(ServerSetting setting) throws Exception {
        InetSocketAddress dead = heldPort().address();
        CompletableFuture<Void> entered = new CompletableFuture<>();
        CompletableFuture<Void> allRead = new CompletableFuture<>();
        boolean mayWait = setting.dispatch() != Dispatch.LOOP;
        TcpServer server = start(setting, connection -> (same, data) -> {
            entered.complete(null);
            if (mayWait) {
                allRead.get(20, TimeUnit.SECONDS);
            }
            var ignored = client.connect(dead, Relay.to(same))
                    .whenComplete((there, failure) -> client.connect(address(), Relay.to(same)));
        });
        Socket near = connect(server);
        near.getOutputStream().write('!');
        entered.get(20, TimeUnit.SECONDS);
        byte[] rest = "behind the head".getBytes(US_ASCII);
        near.getOutputStream().write(rest);
        await().until(() -> !mayWait || server.bytesReceived() == rest.length + 1);
        allRead.complete(null);
        near.shutdownOutput();
        assertThat(accept().getInputStream().readAllBytes()).isEqualTo(rest);
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName(
            "srv-8: two connections that are there are joined from any thread; one that has ended closes the other")
    void between(ServerSetting setting) throws Exception {
        TcpServer server = start(setting, connection -> new ConnectionHandler() {
            @Override
            public void onConnect(Connection same) {
                same.pauseReads();
                accepted.add(same);
            }

            @Override
            public void onData(Connection same, ByteBuffer data) {
                log.add("not relayed: " + data);
            }
        });
        Socket one = connect(server);
        Connection first = take(accepted);
        Socket other = connect(server);
        Connection second = take(accepted);
        first.written().get(10, TimeUnit.SECONDS);
        second.written().get(10, TimeUnit.SECONDS);
        one.getOutputStream().write("to the other".getBytes(US_ASCII));
        other.getOutputStream().write("to the one".getBytes(US_ASCII));
        Relay.between(first, second);
        assertReads(other, "to the other".getBytes(US_ASCII));
        assertReads(one, "to the one".getBytes(US_ASCII));
        assertThatThrownBy(() -> Relay.between(first, first)).isInstanceOf(IllegalArgumentException.class);
        one.close();
        assertThat(other.getInputStream().read()).isEqualTo(-1);
        other.close();
        await().until(() -> server.context().connections().isEmpty());

        for (boolean inOrder : List.of(true, false)) {
            Socket alive = connect(server);
            Connection waits = take(accepted);
            if (inOrder) {
                Relay.between(first, waits);
            } else {
                Relay.between(waits, first);
            }
            assertThat(alive.getInputStream().read()).isEqualTo(-1);
        }
    }

    // ---- Ends ----

    @ParameterizedTest
    @MethodSource("loops")
    @DisplayName("srv-8: a reset of either side is a reset of the other, never a regular end")
    void resets(ServerSetting setting, int managers) throws Exception {
        TcpServer server = proxy(setting, managers);
        for (boolean upwards : List.of(true, false)) {
            Socket near = connect(server);
            Socket far = accept();
            Socket from = upwards ? near : far;
            Socket to = upwards ? far : near;
            from.getOutputStream().write(7);
            assertThat(to.getInputStream().read()).isEqualTo(7);
            from.setSoLinger(true, 0);
            from.close();
            InputStream in = to.getInputStream();
            assertThatThrownBy(in::read).isInstanceOf(IOException.class).hasMessageContaining("reset");
            assertBothGone(server);
        }
    }

    @ParameterizedTest
    @MethodSource("loops")
    @DisplayName(
            "srv-8: an upstream that answers and breaks while the client still sends: the client gets the whole answer")
    void earlyAnswer(ServerSetting setting, int managers) throws Exception {
        ManualClock clock = new ManualClock(); // the client has all the time it wants
        TcpServer server = start(setting, managers, clock, Duration.ZERO, connection -> new Pair());
        byte[] answer = random(256 << 10, 9); // of which the client has read nothing when its sender breaks
        Socket near = connect(server);
        Socket far = accept();
        Connection inside = take(accepted);
        Connection outside = take(made);
        CompletableFuture<Void> sent = sending(near, new byte[64 * MEGA], false);
        far.getInputStream().readNBytes(100);
        far.getOutputStream().write(answer);
        far.shutdownOutput();
        // Neither isWritable nor a send would do: the one takes the relay's call, the other is subject to the limit.
        await("the relay has read the end of the answer").until(((StreamConnection) inside)::refuses);
        far.close(); // with unread bytes, so this is a reset
        await().until(outside::isClosed);
        assertReads(near, answer);
        assertThat(near.getInputStream().read()).isEqualTo(-1);
        near.close();
        sent.exceptionally(failure -> null).get(20, TimeUnit.SECONDS);
        assertBothGone(server);
    }

    @ParameterizedTest
    @MethodSource("loops")
    @DisplayName("srv-8: a close of one side closes the other behind its output; an abort resets it")
    void closedByTheProgram(ServerSetting setting, int managers) throws Exception {
        TcpServer server = proxy(setting, managers);
        byte[] bytes = random(MEGA, 10);
        for (boolean upwards : List.of(true, false)) {
            for (boolean abort : List.of(true, false)) {
                Socket near = connect(server);
                Socket far = accept();
                Connection inside = take(accepted);
                Connection outside = take(made);
                Socket to = upwards ? far : near;
                Connection from = upwards ? inside : outside;
                Connection last = upwards ? outside : inside;
                last.send(ByteBuffer.wrap(bytes));
                if (abort) {
                    from.abort();
                    assertThatThrownBy(() -> to.getInputStream().readAllBytes())
                            .isInstanceOf(IOException.class)
                            .hasMessageContaining("reset");
                } else {
                    from.close();
                    assertThat(to.getInputStream().readAllBytes()).isEqualTo(bytes);
                }
                near.close();
                far.close();
                assertBothGone(server);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-8: the handlers hear of failures and the end, and of nothing that is the relay's")
    void handlersAreTold(ServerSetting setting) throws Exception {
        TcpServer server = start(setting, connection -> {
            accepted.add(connection);
            return new Told("near");
        });
        Socket near = connect(server);
        Connection inside = take(accepted);
        CompletableFuture<Connection> connecting = client.connect(address(), new Told("far"));
        Socket far = accept();
        Connection outside = connecting.get(10, TimeUnit.SECONDS);
        Relay.between(inside, outside);
        byte[] bytes = random(2 * MEGA, 11);
        CompletableFuture<Void> sent = sending(near, bytes, false);
        await().until(() -> outside.queuedBytes() > HIGH || sent.isDone());
        assertReads(far, bytes);
        inside.execute(() -> {
            throw new IllegalStateException("of a task");
        });
        assertThat(next()).isEqualTo("near error");
        near.setSoLinger(true, 0);
        near.close();
        List<String> told = new ArrayList<>(List.of(next(), next(), next()));
        assertThat(told).containsExactlyInAnyOrder("near error", "near disconnect", "far disconnect");
        assertThat(log).isEmpty();
        assertBothGone(server);
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-8: a handler of the user's hears of each client of a proxy, for an access log")
    void handlersOfAProxy(ServerSetting setting) throws Exception {
        TcpServer server = start(setting, (HandlerFactory) connection ->
                Relay.proxy(client, address(), same -> new Heard("near")).handlerFor(connection));
        Socket near = connect(server);
        Socket far = accept();
        near.getOutputStream().write(1);
        near.shutdownOutput();
        assertThat(far.getInputStream().readAllBytes()).containsExactly(1);
        far.close();
        assertThat(near.getInputStream().read()).isEqualTo(-1);
        assertThat(List.of(next(), next())).containsExactly("near connect", "near disconnect");

        Socket broken = connect(server);
        Socket its = accept();
        broken.getOutputStream().write(1);
        assertThat(its.getInputStream().read()).isEqualTo(1);
        broken.setSoLinger(true, 0);
        broken.close();
        assertThat(List.of(next(), next(), next()))
                .element(1)
                .asString()
                .startsWith("near error ")
                .containsIgnoringCase("reset");
        assertBothGone(server);
        assertThat(log).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName(
            "srv-8: a handler of the user's is told that the upstream cannot be reached, and may refuse a client itself")
    void handlersOfAProxyWithoutUpstream(ServerSetting setting) throws Exception {
        InetSocketAddress dead = heldPort().address();
        TcpServer server = start(setting, (HandlerFactory) connection ->
                Relay.proxy(client, dead, same -> new Heard("near")).handlerFor(connection));
        Socket near = connect(server);
        assertThat(near.getInputStream().read()).isEqualTo(-1);
        assertThat(next()).isEqualTo("near connect");
        assertThat(next()).startsWith("near error ").contains("cannot be relayed to " + dead);
        assertThat(next()).isEqualTo("near disconnect");

        TcpServer picky =
                start(setting, (HandlerFactory) connection -> Relay.proxy(client, address(), same -> new Heard("near") {
                            @Override
                            public void onConnect(Connection refused) throws Exception {
                                super.onConnect(refused);
                                refused.close();
                            }
                        })
                        .handlerFor(connection));
        Socket unwanted = connect(picky);
        assertThat(unwanted.getInputStream().read()).isEqualTo(-1);
        assertThat(List.of(next(), next())).containsExactly("near connect", "near disconnect");
        await().until(() -> picky.context().connections().isEmpty());
        assertThat(client.context().connections()).isEmpty();
        assertThat(log).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName(
            "srv-8: a handler of the user's hears of the connection to the upstream, sends first, and may refuse it")
    void handlerOfTheOther(ServerSetting setting) throws Exception {
        TcpServer server = start(setting, connection -> new ConnectionHandler() {
            @Override
            public void onConnect(Connection same) {
                ConnectionHandler refusing = new Heard("first") {
                    @Override
                    public void onConnect(Connection there) {
                        throw new IllegalStateException("not you");
                    }
                };
                ConnectionHandler taking = new Heard("second") {
                    @Override
                    public void onConnect(Connection there) throws Exception {
                        super.onConnect(there);
                        there.send("PROXY\r\n");
                    }
                };
                var ignored = client.connect(address(), Relay.to(same, refusing))
                        .whenComplete((there, failure) -> client.connect(address(), Relay.to(same, taking)));
            }

            @Override
            public void onData(Connection same, ByteBuffer data) {
                log.add("not relayed: " + data);
            }
        });
        Socket near = connect(server);
        near.getOutputStream().write("question".getBytes(US_ASCII));
        near.shutdownOutput();
        Socket refused = accept();
        try {
            assertThat(refused.getInputStream().read()).isEqualTo(-1);
        } catch (SocketException e) {
            assertThat(tls)
                    .as("a reset, because the tickets of this side were not read")
                    .isTrue();
        }
        Socket far = accept();
        assertThat(far.getInputStream().readAllBytes()).asString(US_ASCII).isEqualTo("PROXY\r\nquestion");
        far.close();
        assertThat(near.getInputStream().read()).isEqualTo(-1);
        assertBothGone(server);
        List<String> told = List.of(next(), next(), next(), next());
        assertThat(told)
                .containsExactlyInAnyOrder(
                        "first error not you", "first disconnect", "second connect", "second disconnect")
                .containsSubsequence("first error not you", "first disconnect")
                .containsSubsequence("second connect", "second disconnect");
        assertThat(log).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-8, srv-12: a side that is silent for too long ends both, regularly")
    void idle(ServerSetting setting) throws Exception {
        ManualClock clock = new ManualClock();
        TcpServer server = start(setting, clock, Duration.ofSeconds(10), connection -> new Pair());
        Socket near = connect(server);
        Socket far = accept();
        near.getOutputStream().write(1);
        assertThat(far.getInputStream().read()).isEqualTo(1);
        take(made).written().get(10, TimeUnit.SECONDS);
        clock.advance(Duration.ofSeconds(10));
        assertThat(near.getInputStream().read()).isEqualTo(-1);
        assertThat(far.getInputStream().read()).isEqualTo(-1);
        near.close();
        far.close();
        clock.advance(Duration.ofSeconds(2));
        assertBothGone(server);
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-8: a connection has one relay")
    void relayedTwice(ServerSetting setting) throws Exception {
        TcpServer server = proxy(setting, 1);
        Socket near = connect(server);
        accept();
        Connection inside = take(accepted);
        take(made);
        Socket third = connect(server);
        accept();
        Connection other = take(accepted);
        take(made);
        CompletableFuture<Void> refused = new CompletableFuture<>();
        inside.execute(() -> {
            try {
                Relay.between(inside, other);
                refused.complete(null);
            } catch (IllegalStateException e) {
                refused.completeExceptionally(e);
            }
        });
        assertThatThrownBy(() -> refused.get(10, TimeUnit.SECONDS)).hasMessageContaining("already relayed");
        Relay.between(inside, other);
        assertThat(near.getInputStream().read()).isEqualTo(-1);
        assertThat(third.getInputStream().read()).isEqualTo(-1);
    }

    @ParameterizedTest
    @MethodSource("loops")
    @DisplayName("srv-8: a loop that looks ahead looks at both sides, and comes to an end")
    void prefetch(ServerSetting setting, int managers) throws Exception {
        TcpServer server = proxy(setting, managers);
        Socket near = connect(server);
        Socket far = accept();
        near.getOutputStream().write(1);
        assertThat(far.getInputStream().read()).isEqualTo(1);
        for (Connection side : List.of(take(accepted), take(made))) {
            CompletableFuture<Integer> loaded = new CompletableFuture<>();
            side.execute(() -> loaded.complete(((StreamConnection) side).prefetch()));
            assertThat(loaded.get(20, TimeUnit.SECONDS)).isNotNegative();
        }
    }

    // ---- Many ----

    @ParameterizedTest
    @MethodSource("loops")
    @DisplayName("srv-8: no resume is lost: pairs on two loops whose sides fill up all the time move everything")
    void manyPairs(ServerSetting setting, int managers) throws Exception {
        TcpServer server = proxy(setting, managers);
        int pairs = setting.tls() ? 4 : 24;
        byte[] bytes = random(MEGA, 12);
        List<CompletableFuture<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < pairs; i++) {
            Socket near = connect(server);
            Socket far = accept();
            sending(near, bytes, true);
            sending(far, bytes, true);
            all.add(async(() -> Arrays.equals(near.getInputStream().readAllBytes(), bytes)));
            all.add(async(() -> Arrays.equals(far.getInputStream().readAllBytes(), bytes)));
        }
        for (CompletableFuture<Boolean> one : all) {
            assertThat(one.get(40, TimeUnit.SECONDS)).isTrue();
        }
        assertBothGone(server);
    }
}
