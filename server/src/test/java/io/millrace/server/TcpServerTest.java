package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.server.group.Connections;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A TCP server")
@Timeout(60)
class TcpServerTest {
    private static final ConnectionHandler ECHO = (connection, data) -> connection.send(data);

    private static TcpServer.Builder on(String backend, int loops) {
        return TcpServer.builder()
                .reactors(Reactors.builder().reactors(loops).backend(backend).name("test"));
    }

    private static Socket connect(TcpServer server) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), server.address().getPort());
    }

    static Stream<Arguments> modesAndBackends() {
        return Stream.of(Dispatch.values())
                .flatMap(mode -> Stream.of("epoll", "poll", "nio").map(backend -> Arguments.of(mode, backend)));
    }

    /** Writes what is long, on a thread of its own, while the test reads. */
    private static Thread write(Socket socket, byte[] bytes) {
        return Thread.ofVirtual().start(() -> {
            try {
                OutputStream out = socket.getOutputStream();
                out.write(bytes);
                socket.shutdownOutput();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName(
            "mill-8, mill-13: echoes 4 MiB in order through 8 KiB buffers, in every dispatch mode on every backend")
    void echoes(Dispatch mode, String backend) throws Exception {
        byte[] sent = new byte[4 << 20];
        new Random(7).nextBytes(sent);
        try (TcpServer server = on(backend, 2).dispatch(mode, 2).start(ECHO);
                Socket socket = connect(server)) {
            Thread writer = write(socket, sent);
            byte[] got = socket.getInputStream().readAllBytes();
            assertThat(got.length).isEqualTo(sent.length);
            assertThat(Arrays.equals(got, sent)).isTrue();
            writer.join();
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("mill-12: a server that has stopped accepting serves the connections it has, and its port is free")
    void stopsAccepting(Dispatch mode, String backend) throws Exception {
        try (SocketChannel held = Addresses.heldPort("127.0.0.1")) {
            InetSocketAddress address = (InetSocketAddress) held.getLocalAddress();
            try (TcpServer server =
                            on(backend, 2).dispatch(mode, 2).address(address).start(ECHO);
                    Socket before = connect(server)) {
                server.stopAccepting().get(20, TimeUnit.SECONDS);
                assertThatThrownBy(() -> connect(server)).isInstanceOf(ConnectException.class);
                assertThat(server.stopAccepting()).as("again").isCompleted();
                assertThat(server.stopAccepting().cancel(true)).isFalse();
                try (TcpServer next = on(backend, 1).address(address).start(ECHO);
                        Socket later = connect(next)) {
                    for (Socket socket : List.of(before, later)) {
                        socket.getOutputStream().write(7);
                        assertThat(socket.getInputStream().read()).isEqualTo(7);
                    }
                    assertThat(server.connectionsOpened()).isEqualTo(1);
                    assertThat(server.shutdown(Duration.ofSeconds(20)).drained())
                            .isTrue();
                    assertThat(before.getInputStream().read()).isEqualTo(-1);
                    later.getOutputStream().write(8);
                    assertThat(later.getInputStream().read()).isEqualTo(8);
                }
            }
        }
    }

    @Test
    @DisplayName(
            "mill-12: a callback may stop its server from accepting, and what the system had established is served")
    void stopsAcceptingInACallback() throws Exception {
        CompletableFuture<TcpServer> started = new CompletableFuture<>();
        CountDownLatch waiting = new CountDownLatch(1);
        try (TcpServer server = on("epoll", 1).start((connection, data) -> {
            waiting.await(); // the loop looks away while the others connect
            var ignored = started.join().stopAccepting();
            connection.send(data);
        })) {
            started.complete(server);
            try (Socket first = connect(server)) {
                first.getOutputStream().write(1);
                List<Socket> others = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    others.add(connect(server));
                }
                waiting.countDown();
                assertThat(first.getInputStream().read()).isEqualTo(1);
                for (Socket other : others) {
                    other.getOutputStream().write(2);
                    assertThat(other.getInputStream().read()).isEqualTo(2);
                    other.close();
                }
                server.stopAccepting().get(20, TimeUnit.SECONDS);
            } finally {
                waiting.countDown();
            }
        }
    }

    /** Makes handlers that answer, or refuses to. */
    private static final class Factory implements HandlerFactory {
        final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
        final LinkedBlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        private final boolean refuses;

        Factory(boolean refuses) {
            this.refuses = refuses;
        }

        @Override
        public ConnectionHandler handlerFor(Connection connection) {
            if (refuses) {
                throw new IllegalStateException("not you");
            }
            return ECHO;
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            log.add(connection == null ? "no connection" : "connection " + connection.id());
            failures.add(failure);
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-10, srv-2: a factory is told of connections that were turned away, and from where they came")
    void factoryIsToldOfTurnedAway(Dispatch mode) throws Exception {
        Factory factory = new Factory(false);
        try (TcpServer server =
                        on("epoll", 1).dispatch(mode, 1).maxConnections(1).start(factory);
                Socket first = connect(server)) {
            first.getOutputStream().write(1);
            assertThat(first.getInputStream().read()).isEqualTo(1);
            try (Socket second = connect(server)) {
                assertThat(factory.log.poll(20, TimeUnit.SECONDS)).isEqualTo("no connection");
                assertThat(factory.failures.take())
                        .isInstanceOfSatisfying(
                                LimitException.class,
                                limit -> assertThat(limit.remoteAddress()).isEqualTo(second.getLocalSocketAddress()))
                        .hasMessageContaining("raise maxConnections");
            }
        }
        assertThat(factory.log).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-10: a factory is told what it threw, and the connection is closed")
    void factoryIsToldWhatItThrew(Dispatch mode) throws Exception {
        Factory factory = new Factory(true);
        try (TcpServer server = on("epoll", 1).dispatch(mode, 1).start(factory);
                Socket socket = connect(server)) {
            assertThat(factory.log.poll(20, TimeUnit.SECONDS)).isEqualTo("connection 1");
            assertThat(factory.failures.take()).hasMessage("not you");
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
        assertThat(factory.log).isEmpty();
    }

    /** Writes down what it is told. */
    private static final class Recording implements ConnectionHandler {
        final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();

        @Override
        public void onConnect(Connection connection) {
            log.add("connect");
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            log.add("data " + StandardCharsets.UTF_8.decode(data));
        }

        @Override
        public void onEndOfInput(Connection connection) {
            log.add("end");
            connection.close();
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
            return String.valueOf(log.poll(10, TimeUnit.SECONDS));
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("mill-7: connect first, disconnect once and last")
    void order(Dispatch mode, String backend) throws Exception {
        Recording recording = new Recording();
        try (TcpServer server = on(backend, 1).dispatch(mode, 2).start(recording)) {
            try (Socket socket = connect(server)) {
                socket.getOutputStream().write("hello".getBytes(StandardCharsets.UTF_8));
                assertThat(recording.next()).isEqualTo("connect");
                assertThat(recording.next()).isEqualTo("data hello");
            }
            assertThat(recording.next()).isEqualTo("end");
            assertThat(recording.next()).isEqualTo("disconnect");
        }
        assertThat(recording.log).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("mill-11: data and the end in one event are both told; a half-closed peer gets its answer")
    void halfClose(String backend) throws Exception {
        try (TcpServer server = on(backend, 1).start(new ConnectionHandler() {
                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}

                    @Override
                    public void onEndOfInput(Connection connection) {
                        connection.send("the answer");
                        connection.close();
                    }
                });
                Socket socket = connect(server)) {
            socket.getOutputStream().write("the question".getBytes(StandardCharsets.UTF_8));
            socket.shutdownOutput();
            assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .isEqualTo("the answer");
        }
    }

    @Test
    @DisplayName("mill-11: a reset is an error and a disconnect")
    void reset() throws Exception {
        Recording recording = new Recording();
        try (TcpServer server = on("epoll", 1).start(recording)) {
            Socket socket = connect(server);
            assertThat(recording.next()).isEqualTo("connect");
            socket.setSoLinger(true, 0);
            socket.close();
            assertThat(recording.next()).startsWith("error");
            assertThat(recording.next()).isEqualTo("disconnect");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("mill-8, mill-15: a reader that stops is waited for with bounded memory, and gets every byte in order")
    void slowReader(String backend) throws Exception {
        int size = 16 << 20;
        byte[] sent = new byte[size];
        new Random(8).nextBytes(sent);
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        try (TcpServer server = on(backend, 1).bufferSize(8 * 1024).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        connected.complete(connection);
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        connection.send(data);
                    }
                });
                Socket socket = connect(server)) {
            Thread writer = write(socket, sent);
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            DataInputStream in = new DataInputStream(socket.getInputStream());
            byte[] chunk = new byte[64 * 1024];
            long most = 0;
            for (int at = 0; at < size; at += chunk.length) {
                most = Math.max(most, connection.queuedBytes());
                in.readFully(chunk);
                assertThat(ByteBuffer.wrap(chunk)).isEqualTo(ByteBuffer.wrap(sent, at, chunk.length));
            }
            assertThat(in.read()).isEqualTo(-1);
            writer.join();
            // The high-water mark, and what one read can add to it.
            assertThat(most).isLessThanOrEqualTo(64 * 1024 + 8 * 1024);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"LOOP", "POOL"})
    @DisplayName(
            "mill-10: by default a loop reads more than 8 KiB at once, and what is copied to other threads is 8 KiB")
    void defaultBuffer(Dispatch mode) throws Exception {
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        CompletableFuture<Integer> first = new CompletableFuture<>();
        try (TcpServer server = on("epoll", 1).dispatch(mode, 1).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        connection.pauseReads();
                        connected.complete(connection);
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        first.complete(data.remaining());
                    }
                });
                SocketChannel client = SocketChannel.open(server.address())) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            client.configureBlocking(false);
            ByteBuffer bytes = ByteBuffer.allocate(32 << 10);
            while (client.write(bytes) > 0) {
                bytes.clear(); // until nothing more fits: far more than one read waits then
            }

            connection.resumeReads();

            if (mode == Dispatch.LOOP) {
                assertThat(first.get(10, TimeUnit.SECONDS)).isBetween(8_193, 262_144);
            } else {
                assertThat(first.get(10, TimeUnit.SECONDS)).isEqualTo(8_192);
            }
        }
    }

    @Test
    @DisplayName("mill-9: who is told that too much waits is told when it does not, and sends on from there")
    void onWritable() throws Exception {
        int total = 32 << 20;
        byte[] chunk = new byte[256 * 1024];
        AtomicInteger sent = new AtomicInteger();
        try (TcpServer server = on("epoll", 1).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        pump(connection);
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}

                    @Override
                    public void onWritable(Connection connection) {
                        pump(connection);
                    }

                    private void pump(Connection connection) {
                        while (sent.get() < total) {
                            sent.addAndGet(chunk.length);
                            if (connection.send(ByteBuffer.wrap(chunk)) == SendResult.ABOVE_HIGH_WATER) {
                                return;
                            }
                        }
                        connection.close();
                    }
                });
                Socket socket = connect(server);
                InputStream in = socket.getInputStream()) {
            long got = 0;
            byte[] buffer = new byte[1 << 16];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                got += n;
            }
            assertThat(got).isEqualTo(total);
        }
    }

    @Test
    @DisplayName("mill-9, mill-14: the context sends, broadcasts and closes by id, and knows no id that is over")
    void context() throws Exception {
        CompletableFuture<SendResult> inside = new CompletableFuture<>();
        CountDownLatch connects = new CountDownLatch(2);
        CompletableFuture<TcpServer> self = new CompletableFuture<>();
        try (TcpServer server = on("epoll", 2).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        connects.countDown();
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}

                    @Override
                    public void onDisconnect(Connection connection) {
                        inside.complete(self.join().context().send(connection.id(), ByteBuffer.allocate(1)));
                    }
                });
                Socket first = connect(server);
                Socket second = connect(server)) {
            self.complete(server);
            assertThat(connects.await(10, TimeUnit.SECONDS)).isTrue();
            ByteBuffer message = ByteBuffer.wrap("all".getBytes(StandardCharsets.UTF_8));
            assertThat(server.context().broadcast(message)).isEqualTo(2);
            message.put(0, (byte) 'x');
            assertThat(first.getInputStream().readNBytes(3)).asString().isEqualTo("all");
            assertThat(second.getInputStream().readNBytes(3)).asString().isEqualTo("all");
            long id = server.context().connections().iterator().next().id();
            assertThat(server.context().send(id, ByteBuffer.wrap(new byte[1]))).isEqualTo(SendResult.QUEUED);
            assertThat(server.context().close(id)).isTrue();
            assertThat(inside.get(10, TimeUnit.SECONDS)).isEqualTo(SendResult.UNKNOWN);
            assertThat(server.context().send(-1, ByteBuffer.allocate(1))).isEqualTo(SendResult.UNKNOWN);
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("mill-9: what a callback sends and broadcasts to its own connection arrives in that order")
    void broadcastsInOrder(Dispatch mode) throws Exception {
        CompletableFuture<TcpServer> self = new CompletableFuture<>();
        try (TcpServer server = on("epoll", 1).dispatch(mode, 1).start((connection, data) -> {
                    connection.send("a");
                    self.join().context().broadcast(ByteBuffer.wrap("b".getBytes(StandardCharsets.UTF_8)));
                    connection.send("c");
                    self.join().context().broadcast(ByteBuffer.wrap("d".getBytes(StandardCharsets.UTF_8)));
                });
                Socket socket = connect(server)) {
            self.complete(server);
            socket.getOutputStream().write(1);
            assertThat(socket.getInputStream().readNBytes(4)).asString().isEqualTo("abcd");
        }
    }

    @Test
    @DisplayName("mill-15: what is sent from another thread is copied before send returns")
    void copies() throws Exception {
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        try (TcpServer server = on("epoll", 1).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        connected.complete(connection);
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}
                });
                Socket socket = connect(server)) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            ByteBuffer data = ByteBuffer.allocate(4);
            for (int i = 0; i < 1_000; i++) {
                connection.send(data.clear().putInt(0, i));
            }
            DataInputStream in = new DataInputStream(socket.getInputStream());
            for (int i = 0; i < 1_000; i++) {
                assertThat(in.readInt()).isEqualTo(i);
            }
        }
    }

    @Test
    @DisplayName("mill-4, mill-7: callbacks may throw, and with an onError that leaves it open the connection goes on")
    void throwing() throws Exception {
        AtomicInteger errors = new AtomicInteger();
        CountDownLatch gone = new CountDownLatch(1);
        try (TcpServer server = on("epoll", 1).start(new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                connection.send(data);
                throw new Exception("data");
            }

            @Override
            public void onDisconnect(Connection connection) throws Exception {
                gone.countDown();
                throw new Exception("disconnect");
            }

            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {
                errors.incrementAndGet();
                throw new IllegalStateException("error");
            }
        })) {
            try (Socket socket = connect(server)) {
                for (int i = 0; i < 10; i++) {
                    socket.getOutputStream().write(i);
                    assertThat(socket.getInputStream().read()).isEqualTo(i);
                }
            }
            assertThat(gone.await(10, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(errors.get()).isEqualTo(10); // no call follows onDisconnect
    }

    @Test
    @DisplayName(
            "mill-10: connections above the limit are closed and told of, and a place that becomes free is used again")
    void maxConnections() throws Exception {
        LinkedBlockingQueue<String> errors = new LinkedBlockingQueue<>();
        LinkedBlockingQueue<String> ends = new LinkedBlockingQueue<>();
        try (TcpServer server = on("epoll", 1).maxConnections(1).start(new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.send(data);
            }

            @Override
            public void onDisconnect(Connection connection) {
                ends.add("end");
            }

            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {
                errors.add(String.valueOf(failure.getMessage()));
            }
        })) {
            try (Socket first = connect(server)) {
                first.getOutputStream().write(1);
                assertThat(first.getInputStream().read()).isEqualTo(1);
                try (Socket second = connect(server)) {
                    assertThat(second.getInputStream().read()).isEqualTo(-1);
                }
                assertThat(errors.poll(10, TimeUnit.SECONDS)).contains("1 are open, which is the limit");
            }
            assertThat(ends.poll(10, TimeUnit.SECONDS)).isEqualTo("end");
            try (Socket third = connect(server)) {
                third.getOutputStream().write(3);
                assertThat(third.getInputStream().read()).isEqualTo(3);
            }
        }
    }

    @Test
    @DisplayName("mill-10: a port with several listeners of one server is still taken; only sharePort shares it")
    void aPortIsTaken() throws Exception {
        try (TcpServer first = on("epoll", 2).start(ECHO)) {
            assertThatThrownBy(() -> on("epoll", 2).address(first.address()).start(ECHO))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(Integer.toString(first.address().getPort()));
        }
        try (TcpServer first = on("epoll", 2).sharePort(true).start(ECHO);
                TcpServer second =
                        on("epoll", 2).sharePort(true).address(first.address()).start(ECHO)) {
            assertThat(second.address()).isEqualTo(first.address());
        }
    }

    @Test
    @DisplayName("mill-10: a client that connects while a server starts on its port is served, or refused, never reset")
    void aStartResetsNobody() throws Exception {
        InetSocketAddress address;
        try (TcpServer free = on("epoll", 2).start(ECHO)) {
            address = free.address();
        }
        for (int i = 0; i < 100; i++) {
            CompletableFuture<Integer> answer =
                    CompletableFuture.supplyAsync(() -> firstAnswer(address), EACH_A_THREAD);
            try (TcpServer server = on("epoll", 2).address(address).start(ECHO)) {
                assertThat(answer.get(30, TimeUnit.SECONDS)).as("%s", server).isEqualTo(7);
            }
        }
    }

    private static final Executor EACH_A_THREAD = task -> new Thread(task).start();

    /** Connects as soon as that is possible. */
    private static int firstAnswer(InetSocketAddress address) {
        while (true) {
            try (Socket socket = new Socket()) {
                socket.connect(address);
                socket.setSoTimeout(30_000);
                socket.getOutputStream().write(7);
                return socket.getInputStream().read();
            } catch (ConnectException nobodyListensYet) {
                Thread.onSpinWait();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Test
    @DisplayName("mill-10: an idle connection is closed after its timeout")
    void idle() throws Exception {
        Recording recording = new Recording();
        try (TcpServer server =
                        on("epoll", 1).idleTimeout(Duration.ofMillis(100)).start(recording);
                Socket socket = connect(server)) {
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
            assertThat(recording.next()).isEqualTo("connect");
            assertThat(recording.next()).contains("idle for 100 ms");
            assertThat(recording.next()).isEqualTo("disconnect");
        }
    }

    @Test
    @DisplayName("mill-11: a peer that takes nothing is closed after the write timeout")
    void writeTimeout() throws Exception {
        Recording recording = new Recording();
        CompletableFuture<Void> gone = new CompletableFuture<>();
        try (TcpServer server = on("epoll", 1)
                        .writeTimeout(Duration.ofMillis(200))
                        .start(new ConnectionHandler() {
                            @Override
                            public void onConnect(Connection connection) {
                                connection.send(ByteBuffer.allocate(32 << 20));
                            }

                            @Override
                            public void onData(Connection connection, ByteBuffer data) {}

                            @Override
                            public void onError(@Nullable Connection connection, Throwable failure) {
                                recording.onError(connection, failure);
                            }

                            @Override
                            public void onDisconnect(Connection connection) {
                                gone.complete(null);
                            }
                        });
                Socket socket = connect(server)) {
            gone.get(20, TimeUnit.SECONDS);
            assertThat(socket.isConnected()).isTrue();
            assertThat(recording.next()).contains("took nothing for 200 ms");
        }
    }

    @Test
    @DisplayName(
            "mill-11: a peer that takes little, but never nothing for that long, is not closed by the write timeout")
    void slowReader() throws Exception {
        Recording recording = new Recording();
        ManualClock clock = new ManualClock();
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        try (TcpServer server = TcpServer.builder()
                        .reactors(Reactors.builder().reactors(1).clock(clock).name("test"))
                        .writeTimeout(Duration.ofSeconds(10))
                        .start(new ConnectionHandler() {
                            @Override
                            public void onConnect(Connection connection) {
                                connection.send(ByteBuffer.allocate(32 << 20));
                                connected.complete(connection);
                            }

                            @Override
                            public void onData(Connection connection, ByteBuffer data) {}

                            @Override
                            public void onError(@Nullable Connection connection, Throwable failure) {
                                recording.onError(connection, failure);
                            }
                        });
                Socket socket = new Socket()) {
            socket.setReceiveBufferSize(64 << 10);
            socket.connect(server.address());
            Connection connection = connected.get(20, TimeUnit.SECONDS);
            await().until(() -> connection.queuedBytes() > 0);
            for (int i = 0; i < 5; i++) {
                long before = connection.queuedBytes();
                while (connection.queuedBytes() == before) {
                    assertThat(socket.getInputStream().readNBytes(16 << 10)).hasSize(16 << 10);
                }
                clock.advance(Duration.ofSeconds(6));
            }
            assertThat(connection.queuedBytes()).isPositive();
            assertThat(connection.isClosed()).isFalse();
            assertThat(recording.log).isEmpty();

            clock.advance(Duration.ofSeconds(10));

            assertThat(recording.next()).contains("took nothing for 10000 ms");
        }
    }

    @Test
    @DisplayName("mill-12: shutdown sends what waits, tells every connection once, and names what it cut off")
    void shutdown() throws Exception {
        AtomicInteger ends = new AtomicInteger();
        List<Socket> sockets = new ArrayList<>();
        CountDownLatch connects = new CountDownLatch(3);
        TcpServer server = on("epoll", 2).start(new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                connection.send(ByteBuffer.allocate(16 << 20));
                connects.countDown();
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}

            @Override
            public void onDisconnect(Connection connection) {
                ends.incrementAndGet();
            }
        });
        for (int i = 0; i < 3; i++) {
            sockets.add(connect(server));
        }
        assertThat(connects.await(10, TimeUnit.SECONDS)).isTrue();
        // Two read, one does not.
        List<Thread> readers = new ArrayList<>();
        AtomicInteger complete = new AtomicInteger();
        for (Socket socket : sockets.subList(0, 2)) {
            readers.add(Thread.ofVirtual().start(() -> {
                try {
                    if (socket.getInputStream().readAllBytes().length == 16 << 20) {
                        complete.incrementAndGet();
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            }));
        }
        ShutdownResult result = server.shutdown(Duration.ofSeconds(2));
        for (Thread reader : readers) {
            reader.join();
        }
        assertThat(complete.get()).isEqualTo(2);
        assertThat(result.drained()).isFalse();
        assertThat(result.cutOff()).hasSize(1).first().asString().contains("bytes");
        assertThat(ends.get()).isEqualTo(3);
        assertThat(server.shutdown(Duration.ZERO)).isEqualTo(result);
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    @Test
    @DisplayName("a taken port is an error that says so")
    void portTaken() throws Exception {
        try (TcpServer server = on("epoll", 1).start(ECHO)) {
            assertThatThrownBy(() -> on("epoll", 1).address(server.address()).start(ECHO))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(String.valueOf(server.address().getPort()));
        }
    }

    @Test
    @DisplayName("mill-7: a client connects, sends, and is told of a refusal")
    void client() throws Exception {
        try (Reactors manager = Reactors.builder().reactors(2).open();
                TcpServer server = TcpServer.builder().manager(manager).start(ECHO);
                TcpClient client = TcpClient.builder().manager(manager).open()) {
            LinkedBlockingQueue<String> got = new LinkedBlockingQueue<>();
            Connection connection = client.connect(
                            server.address(),
                            (c, data) ->
                                    got.add(StandardCharsets.UTF_8.decode(data).toString()))
                    .get(10, TimeUnit.SECONDS);
            assertThat(connection.send("hello")).isEqualTo(SendResult.QUEUED);
            assertThat(got.poll(10, TimeUnit.SECONDS)).isEqualTo("hello");
            InetSocketAddress address = server.address();
            server.shutdown(Duration.ofSeconds(5));
            assertThatThrownBy(() -> client.connect(address, ECHO).get(10, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(IOException.class);
            connection.close();
        }
    }

    @Test
    @DisplayName(
            "mill-15: several buffers, and one buffer sent several times with other bounds, go out as they were sent")
    void gathers() throws Exception {
        try (TcpServer server = on("epoll", 1).start((connection, data) -> {
                    ByteBuffer mine = ByteBuffer.wrap("0123456789".getBytes(StandardCharsets.UTF_8));
                    connection.send(mine.limit(3));
                    connection.send(mine.limit(10).position(7));
                    connection.send(data);
                    mine.clear();
                });
                Socket socket = connect(server)) {
            for (int i = 0; i < 3; i++) {
                socket.getOutputStream().write("ab".getBytes(StandardCharsets.UTF_8));
                assertThat(socket.getInputStream().readNBytes(8)).asString().isEqualTo("012789ab");
            }
            assertThat(server.bytesReceived()).isEqualTo(6);
            // Counted after the call that sends, so the peer may be earlier.
            await().until(() -> server.bytesSent() == 24);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("mill-12: a close loses nothing of what was sent, although the peer has sent what was not read")
    void lingers(String backend) throws Exception {
        CompletableFuture<Void> gone = new CompletableFuture<>();
        try (TcpServer server = on(backend, 1).bufferSize(16).start(new ConnectionHandler() {
                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        connection.send(ByteBuffer.allocate(1 << 20));
                        connection.close();
                    }

                    @Override
                    public void onDisconnect(Connection connection) {
                        gone.complete(null);
                    }
                });
                Socket socket = connect(server)) {
            socket.getOutputStream().write(new byte[10_000]);
            assertThat(socket.getInputStream().readAllBytes()).hasSize(1 << 20);
            socket.shutdownOutput();
            gone.get(10, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("mill-7: a handler that closes another connection is not interrupted by that one's end")
    void closesAnother(String backend) throws Exception {
        LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
        List<Connection> all = new java.util.concurrent.CopyOnWriteArrayList<>();
        ConnectionHandler handler = new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                all.add(connection);
                log.add("connected");
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {
                all.get(1).close();
                all.get(2).abort();
                log.add("still here");
            }

            @Override
            public void onDisconnect(Connection connection) {
                log.add("over " + all.indexOf(connection));
            }
        };
        try (TcpServer server = on(backend, 1).start(handler);
                Socket first = connect(server);
                Socket second = connect(server);
                Socket third = connect(server)) {
            for (int i = 0; i < 3; i++) {
                assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("connected");
            }
            first.getOutputStream().write(1);
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("still here");
            assertThat(List.of(
                            String.valueOf(log.poll(10, TimeUnit.SECONDS)),
                            String.valueOf(log.poll(10, TimeUnit.SECONDS))))
                    .containsExactlyInAnyOrder("over 1", "over 2");
            assertThat(second.getInputStream().read()).isEqualTo(-1);
            assertThat(third.isConnected()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-3: a handler that does not return is named until it does, and its late end is no error")
    void namedUntilItReturns(String backend) throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        List<String> errors = new java.util.concurrent.CopyOnWriteArrayList<>();
        TcpServer server = on(backend, 1).start(new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                entered.countDown();
                open.await();
            }

            @Override
            public void onDisconnect(Connection connection) {
                over.countDown();
            }

            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {
                errors.add(String.valueOf(failure));
            }
        });
        try (Socket socket = connect(server)) {
            socket.getOutputStream().write(1);
            assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
            ShutdownResult early = server.shutdown(Duration.ofMillis(20));
            assertThat(early.drained()).isFalse();
            assertThat(early.remaining()).anyMatch(line -> line.contains("connection 1"));
            open.countDown();
            assertThat(over.await(10, TimeUnit.SECONDS)).isTrue();
            await().until(() -> server.shutdown(Duration.ZERO).remaining().isEmpty());
        }
        assertThat(errors).isEmpty();
    }

    @Test
    @DisplayName("end-3: a loop that is held up does not hold up the ends of another loop's connections")
    void othersEndAtOnce() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        java.util.Map<Integer, String> loops = new java.util.concurrent.ConcurrentHashMap<>();
        TcpServer server = on("epoll", 2).start(new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                loops.put(
                        connection.remoteAddress().getPort(),
                        Thread.currentThread().getName());
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                entered.countDown();
                open.await();
            }
        });
        List<Socket> sockets = new ArrayList<>();
        try {
            while (loops.values().stream().distinct().count() < 2) {
                sockets.add(connect(server));
                await().until(() -> loops.size() == sockets.size());
            }
            Socket held = sockets.getFirst();
            held.getOutputStream().write(1);
            assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
            CompletableFuture<ShutdownResult> end = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> end.complete(server.shutdown(Duration.ofSeconds(50))));
            for (Socket socket : sockets) {
                if (!loops.get(socket.getLocalPort()).equals(loops.get(held.getLocalPort()))) {
                    socket.setSoTimeout(20_000);
                    assertThat(socket.getInputStream().read()).isEqualTo(-1);
                }
            }
            assertThat(end).isNotDone();
            open.countDown();
            assertThat(end.get(20, TimeUnit.SECONDS).drained()).isTrue();
        } finally {
            open.countDown();
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("mill-12: an idle timeout that is set while a connection ends does not keep it")
    void idleTimeoutDuringTheEnd(Dispatch mode) throws Exception {
        ManualClock clock = new ManualClock();
        CountDownLatch closing = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        try (TcpServer server = TcpServer.builder()
                        .reactors(Reactors.builder().reactors(1).clock(clock))
                        .dispatch(mode, 1)
                        .start(new ConnectionHandler() {
                            @Override
                            public void onData(Connection connection, ByteBuffer data) {
                                connection.close();
                                connection.setIdleTimeout(Duration.ofMinutes(5));
                                closing.countDown();
                            }

                            @Override
                            public void onDisconnect(Connection connection) {
                                over.countDown();
                            }
                        });
                Socket socket = connect(server)) {
            socket.getOutputStream().write(1);
            assertThat(closing.await(10, TimeUnit.SECONDS)).isTrue();
            await().until(() -> {
                clock.advance(Duration.ofMillis(200));
                return over.getCount() == 0
                        || clock.nanoTime() > Duration.ofMinutes(4).toNanos();
            });
            assertThat(over.getCount()).isZero();
        }
    }

    /** One that has been sent more than its peer takes. */
    private static Connection stalled(LinkedBlockingQueue<Connection> connected) throws InterruptedException {
        Connection connection = connected.poll(10, TimeUnit.SECONDS);
        assertThat(connection).isNotNull();
        connection.send(ByteBuffer.allocate(16 << 20));
        await().until(() -> connection.queuedBytes() > 0 && connection.queuedBytes() < 16 << 20);
        return connection;
    }

    private static ConnectionHandler telling(LinkedBlockingQueue<Connection> connected) {
        return new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                connected.add(connection);
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}

            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {}
        };
    }

    private static CompletableFuture<ShutdownResult> shutdown(TcpServer server, Duration atMost) {
        CompletableFuture<ShutdownResult> end = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> end.complete(server.shutdown(atMost)));
        return end;
    }

    @Test
    @DisplayName("mill-12: what a second, earlier deadline cuts off is named to both")
    void secondShutdown() throws Exception {
        LinkedBlockingQueue<Connection> connected = new LinkedBlockingQueue<>();
        TcpServer server = on("epoll", 1).start(telling(connected));
        try (Socket socket = connect(server)) {
            Connection connection = stalled(connected);
            CompletableFuture<ShutdownResult> first = shutdown(server, Duration.ofSeconds(50));
            await().until(connection::isClosed);
            ShutdownResult second = server.shutdown(Duration.ofMillis(20));
            assertThat(second.drained()).isFalse();
            assertThat(second.cutOff()).singleElement().asString().matches(connection + ", [1-9][0-9]* bytes");
            assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo(second);
            assertThat(socket.isClosed()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"write timeout", "reset", "abort"})
    @DisplayName("mill-12: what is lost during the drain for another reason than the deadline is named, too")
    void lostDuringTheDrain(String why) throws Exception {
        LinkedBlockingQueue<Connection> connected = new LinkedBlockingQueue<>();
        TcpServer server = on("epoll", 1)
                .writeTimeout(why.equals("write timeout") ? Duration.ofSeconds(3) : Duration.ZERO)
                .start(telling(connected));
        Socket socket = connect(server);
        try {
            Connection connection = stalled(connected);
            CompletableFuture<ShutdownResult> end = shutdown(server, Duration.ofSeconds(50));
            await().until(connection::isClosed);
            switch (why) {
                case "reset" -> {
                    socket.setSoLinger(true, 0);
                    socket.close();
                }
                case "abort" -> connection.abort();
                default -> {
                    // It comes by itself.
                }
            }
            ShutdownResult result = end.get(20, TimeUnit.SECONDS);
            assertThat(result.drained()).isFalse();
            assertThat(result.cutOff()).singleElement().asString().matches(connection + ", [1-9][0-9]* bytes");
        } finally {
            socket.close();
        }
    }

    @Test
    @DisplayName("mill-12: a peer that has got all and stays is waited for until the deadline, and nothing is cut off")
    void quietPeer() throws Exception {
        TcpServer server = on("epoll", 1).start(ECHO);
        try (Socket socket = connect(server)) {
            socket.getOutputStream().write(1);
            assertThat(socket.getInputStream().read()).isEqualTo(1);
            ShutdownResult result = server.shutdown(Duration.ofMillis(50));
            assertThat(result).isEqualTo(new ShutdownResult(true, List.of(), List.of()));
        }
    }

    @Test
    @DisplayName("mill-10: a builder that is used again does not change what it has started")
    void builderUsedAgain() throws Exception {
        LinkedBlockingQueue<Integer> sizes = new LinkedBlockingQueue<>();
        ConnectionHandler sizing = (connection, data) -> sizes.add(data.remaining());
        TcpServer.Builder builder = on("epoll", 1).bufferSize(4);
        TcpClient.Builder clients = TcpClient.builder().bufferSize(4);
        try (TcpServer server = builder.start(sizing);
                TcpClient client = clients.open()) {
            builder.bufferSize(64);
            clients.bufferSize(64);
            try (Socket socket = connect(server)) {
                socket.getOutputStream().write(new byte[8]);
                assertThat(sizes.poll(10, TimeUnit.SECONDS)).isLessThanOrEqualTo(4);
                assertThat(sizes.poll(10, TimeUnit.SECONDS)).isLessThanOrEqualTo(4);
            }
            sizes.clear();
            LinkedBlockingQueue<Connection> connected = new LinkedBlockingQueue<>();
            try (TcpServer other = on("epoll", 1).start(telling(connected))) {
                var ignored = client.connect(other.address(), sizing).get(10, TimeUnit.SECONDS);
                Connection connection = connected.poll(10, TimeUnit.SECONDS);
                assertThat(connection).isNotNull();
                connection.send(ByteBuffer.allocate(8));
                assertThat(sizes.poll(10, TimeUnit.SECONDS)).isLessThanOrEqualTo(4);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("mill-11: a connection both of whose directions have ended is over, whichever ended first")
    void bothEnded(Dispatch mode, String backend) throws Exception {
        LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
        LinkedBlockingQueue<Connection> connected = new LinkedBlockingQueue<>();
        try (TcpServer server = on(backend, 1).dispatch(mode, 2).start(new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                connected.add(connection);
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.send("answer");
                connection.closeOutput();
            }

            @Override
            public void onEndOfInput(Connection connection) {
                log.add("end of input");
            }

            @Override
            public void onDisconnect(Connection connection) {
                log.add("disconnect");
            }
        })) {
            // Ours first.
            try (Socket socket = connect(server)) {
                socket.getOutputStream().write(1);
                assertThat(socket.getInputStream().readAllBytes()).hasSize(6);
                assertThat(log).isEmpty();
            }
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("end of input");
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("disconnect");
            connected.clear();
            // The peer's first.
            try (Socket socket = connect(server)) {
                Connection connection = connected.poll(10, TimeUnit.SECONDS);
                assertThat(connection).isNotNull();
                socket.shutdownOutput();
                assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("end of input");
                connection.send("last words");
                connection.closeOutput();
                assertThat(socket.getInputStream().readAllBytes()).hasSize(10);
                assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("disconnect");
            }
            await().until(() -> ((Connections) server.context()).placesTaken() == 0);
        }
    }
}
