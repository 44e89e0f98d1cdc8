package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.server.connection.StreamConnection;
import io.millrace.server.group.Connections;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("How a server and its connections end")
@Timeout(60)
@SuppressWarnings("try") // closed early, on purpose
class EndingTest {
    /** Much longer than the test may take. */
    private static final Duration LONG = Duration.ofMinutes(5);

    private final List<Socket> sockets = new ArrayList<>();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch open = new CountDownLatch(1);

    /** Holds its loop up when it gets something. */
    private final ConnectionHandler holding = (connection, data) -> {
        entered.countDown();
        open.await();
    };

    @AfterEach
    void letGo() throws IOException {
        open.countDown();
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    private static TcpServer.Builder on(String backend, int loops) {
        return TcpServer.builder()
                .reactors(Reactors.builder().reactors(loops).backend(backend).name("test"));
    }

    private Socket connect(TcpServer server) throws IOException {
        Socket socket = new Socket();
        sockets.add(socket);
        socket.setReceiveBufferSize(32 << 10);
        socket.setSoTimeout(10_000);
        socket.connect(server.address());
        return socket;
    }

    /** With a handler that does not return. */
    private Socket held(TcpServer server) throws Exception {
        Socket socket = connect(server);
        socket.getOutputStream().write(1);
        assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
        return socket;
    }

    private static CompletableFuture<ShutdownResult> shutdown(TcpServer server, Duration atMost) {
        CompletableFuture<ShutdownResult> end = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> end.complete(server.shutdown(atMost)));
        return end;
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName(
            "mill-12: who waited in the kernel for a loop that was held up is taken and closed in order, not cut off")
    void lateArrivals(String backend) throws Exception {
        TcpServer server = on(backend, 1).start(holding);
        held(server);
        Socket late = connect(server);
        CompletableFuture<ShutdownResult> end = shutdown(server, LONG);
        await().until(() -> server.toString().contains("closing"));
        open.countDown();
        ShutdownResult result = end.get(20, TimeUnit.SECONDS);
        assertThat(result.drained()).isTrue();
        assertThat(late.getInputStream().read()).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("end-3: those that were cut off at the deadline have ended when shutdown returns, and do not remain")
    void cutOffDoesNotRemain(Dispatch mode) throws Exception {
        int count = 50;
        CountDownLatch sent = new CountDownLatch(count);
        // It stands still: the deadline is over at once, and what follows it never, however busy the machine is.
        ManualClock clock = new ManualClock();
        Reactors.Builder loops =
                Reactors.builder().reactors(2).backend("epoll").name("test").clock(clock);
        TcpServer server = TcpServer.builder().reactors(loops).dispatch(mode, 2).start(new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                connection.send(ByteBuffer.allocate(8 << 20));
                sent.countDown();
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}
        });
        for (int i = 0; i < count; i++) {
            connect(server);
        }
        assertThat(sent.await(20, TimeUnit.SECONDS)).isTrue();
        ShutdownResult result = server.shutdown(Duration.ZERO);
        assertThat(result.drained()).isFalse();
        assertThat(result.cutOff()).hasSize(count);
        assertThat(result.remaining()).isEmpty();
    }

    @Test
    @DisplayName("end-3: the earliest of several deadlines counts: what it finds is cut off, and every call returns")
    void theEarliestDeadline() throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        TcpServer server = on("epoll", 1).start(new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                connection.send(ByteBuffer.allocate(8 << 20));
                sent.countDown();
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}
        });
        connect(server);
        assertThat(sent.await(10, TimeUnit.SECONDS)).isTrue();
        CompletableFuture<ShutdownResult> patient = shutdown(server, LONG);
        await().until(() -> server.toString().contains("closing"));
        shutdown(server, Duration.ofMillis(20)).get(20, TimeUnit.SECONDS);
        assertThat(patient.get(20, TimeUnit.SECONDS).remaining()).isEmpty();
    }

    @Test
    @DisplayName("end-3: a second call returns by its own deadline, though a handler keeps the first one waiting")
    void theSecondReturns() throws Exception {
        TcpServer server = on("epoll", 1).start(holding);
        held(server);
        CompletableFuture<ShutdownResult> patient = shutdown(server, LONG);
        await().until(() -> server.toString().contains("closing"));
        ShutdownResult second = shutdown(server, Duration.ofMillis(20)).get(20, TimeUnit.SECONDS);
        assertThat(second.remaining()).anyMatch(line -> line.contains("connection 1"));
        assertThat(patient).isNotDone();
        open.countDown();
        patient.get(20, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName(
            "end-2, end-3: after the deadline a loop that is held up listens no more, and its peers know of the end")
    void aHeldLoopListensNoMore(String backend) throws Exception {
        try (Reactors loops =
                Reactors.builder().reactors(1).backend(backend).name("test").open()) {
            TcpServer server = TcpServer.builder().manager(loops).start(holding);
            Socket held = held(server);
            assertThat(server.shutdown(Duration.ofMillis(20)).remaining()).isNotEmpty();
            try {
                assertThatThrownBy(() -> connect(server)).isInstanceOf(IOException.class);
                assertThat(held.getInputStream().read()).isEqualTo(-1);
            } finally {
                open.countDown();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-4, mill-12: a server that has ended listens no more, though its manager runs on")
    void listensNoMore(String backend) throws Exception {
        try (Reactors loops =
                Reactors.builder().reactors(2).backend(backend).name("test").open()) {
            TcpServer server = TcpServer.builder().manager(loops).start((connection, data) -> {});
            connect(server);
            assertThat(server.shutdown(LONG).drained()).isTrue();
            assertThatThrownBy(() -> connect(server)).isInstanceOf(IOException.class);
        }
    }

    private static boolean isThere(String thread) {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(each -> each.getName().startsWith(thread));
    }

    @Test
    @DisplayName("mill-12: a server that has ended leaves no thread behind, of its loops or of its callbacks")
    void noThreads() throws Exception {
        TcpServer server = TcpServer.builder()
                .reactors(Reactors.builder().reactors(2).name("ending-loops"))
                .dispatch(Dispatch.POOL, 2)
                .start((connection, data) -> {});
        connect(server);
        assertThat(isThere("ending-loops")).isTrue();
        assertThat(isThere("millrace-server-worker")).isTrue();
        assertThat(server.shutdown(LONG).drained()).isTrue();
        await().until(() -> !isThere("ending-loops"));
        await().until(() -> !isThere("millrace-server-worker"));
    }

    @Test
    @DisplayName("end-2: a server that cannot start leaves its port free")
    void aFailedStartLeavesNothing() throws Exception {
        Reactors loops = Reactors.builder().reactors(1).name("test").open();
        loops.close();
        try (SocketChannel held = Addresses.heldPort("127.0.0.1")) {
            InetSocketAddress address = (InetSocketAddress) held.getLocalAddress();
            assertThatThrownBy(() ->
                            TcpServer.builder().manager(loops).address(address).start((connection, data) -> {}))
                    .isInstanceOf(RuntimeException.class);
            try (ServerSocket again = new ServerSocket()) {
                again.bind(address);
            }
        }
    }

    @Test
    @DisplayName("mill-9: what a connection has received and sent counts on after its end")
    void countsOn() throws Exception {
        try (TcpServer server = on("epoll", 1).start((connection, data) -> {
            connection.send(data);
            connection.close();
        })) {
            Socket socket = connect(server);
            socket.getOutputStream().write(new byte[100]);
            assertThat(socket.getInputStream().readAllBytes()).hasSize(100);
            socket.close();
            await().until(() -> server.context().connections().isEmpty());
            assertThat(server.bytesReceived()).isEqualTo(100);
            assertThat(server.bytesSent()).isEqualTo(100);
        }
    }

    // ---- Clients ----

    @Test
    @DisplayName("end-3: a client whose handler does not return closes by its deadline, and its peer is cut off")
    void aHeldClient() throws Exception {
        ManualClock clock = new ManualClock();
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Reactors loops = Reactors.builder()
                        .reactors(1)
                        .clock(clock)
                        .withoutWatchdog()
                        .name("test")
                        .open()) {
            TcpClient client = TcpClient.builder().manager(loops).open();
            client.connect((InetSocketAddress) listener.getLocalSocketAddress(), holding);
            Socket peer = listener.accept();
            sockets.add(peer);
            peer.setSoTimeout(10_000);
            peer.getOutputStream().write(1);
            assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
            Thread closing = Thread.ofPlatform().daemon().start(client::close);
            await().until(() -> {
                clock.advance(Duration.ofSeconds(1));
                return !closing.isAlive();
            });
            try {
                assertThat(peer.getInputStream().read()).isEqualTo(-1);
            } finally {
                open.countDown();
            }
        }
    }

    @Test
    @DisplayName("mill-13: a client that is closed leaves no thread of its callbacks behind")
    void noThreadsOfClients() throws Exception {
        try (TcpServer server = on("epoll", 1).start((connection, data) -> {})) {
            TcpClient client = TcpClient.builder().dispatch(Dispatch.POOL, 2).open();
            client.connect(server.address(), (connection, data) -> {}).get(10, TimeUnit.SECONDS);
            assertThat(isThere("millrace-client-worker")).isTrue();
            client.close();
            await().until(() -> !isThere("millrace-client-worker"));
        }
    }

    @Test
    @DisplayName("end-7: a client forgets an attempt that has come to its end")
    void attemptsAreForgotten() throws Exception {
        try (TcpServer server = on("epoll", 1).start((connection, data) -> {});
                TcpClient client = TcpClient.open()) {
            WeakReference<Object> made = madeAndOver(client, server);
            await().until(() -> {
                madeAndOver(client, server); // a loop may remember what it did last
                System.gc();
                return made.refersTo(null);
            });
        }
    }

    private static WeakReference<Object> madeAndOver(TcpClient client, TcpServer server) throws Exception {
        CompletableFuture<Connection> made = client.connect(server.address(), (connection, data) -> {});
        made.get(10, TimeUnit.SECONDS).abort();
        await().until(() -> client.context().connections().isEmpty());
        return new WeakReference<>(made);
    }

    @Test
    @DisplayName("mill-7: a connect whose future is cancelled is given up")
    void aCancelledConnect() throws Exception {
        try (ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                TcpClient client = TcpClient.open()) {
            List<CompletableFuture<Connection>> attempts = new ArrayList<>();
            for (int i = 0; i < 6; i++) { // more than wait there: nobody accepts
                attempts.add(
                        client.connect((InetSocketAddress) full.getLocalSocketAddress(), (connection, data) -> {}));
            }
            Connections all = (Connections) client.context();
            await().until(() -> all.unended().size() == 6);
            long cancelled =
                    attempts.stream().filter(attempt -> attempt.cancel(true)).count();
            assertThat(cancelled).isPositive();
            await().until(() -> all.unended().size() == 6 - cancelled);
        }
    }

    // ---- Connections ----

    /** Closes itself when it is told to, and goes on hearing. */
    private static final class Closing implements ConnectionHandler {
        final CountDownLatch closing = new CountDownLatch(1);
        final CountDownLatch over = new CountDownLatch(1);
        final List<String> told = new CopyOnWriteArrayList<>();

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            told.add("data");
            connection.close();
            closing.countDown();
        }

        @Override
        public void onEndOfInput(Connection connection) {
            told.add("end");
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            told.add("error " + failure);
        }

        @Override
        public void onDisconnect(Connection connection) {
            told.add("disconnect");
            over.countDown();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName(
            "mill-12: a connection that was closed ends as soon as its peer does, and hears nothing of what still came")
    void endsWithItsPeer(String backend) throws Exception {
        ManualClock clock = new ManualClock(); // which stands still: no alarm ends it
        Closing handler = new Closing();
        try (Reactors loops = Reactors.builder()
                        .reactors(1)
                        .backend(backend)
                        .clock(clock)
                        .name("test")
                        .open();
                TcpServer server = TcpServer.builder().manager(loops).start(handler)) {
            Socket socket = connect(server);
            socket.getOutputStream().write(1);
            assertThat(handler.closing.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
            socket.getOutputStream().write(new byte[10_000]);
            socket.shutdownOutput();
            boolean over = handler.over.await(5, TimeUnit.SECONDS);
            server.context()
                    .connections()
                    .forEach(Connection::abort); // its close would wait, by a clock that stands still
            assertThat(over).isTrue();
            assertThat(handler.told).containsExactly("data", "disconnect");
        }
    }

    @Test
    @DisplayName(
            "mill-12: a peer that neither ends nor reads keeps a connection that was closed for a second, and no longer")
    void lingersForASecond() throws Exception {
        ManualClock clock = new ManualClock();
        Closing handler = new Closing();
        try (Reactors loops = Reactors.builder()
                        .reactors(1)
                        .clock(clock)
                        .withoutWatchdog()
                        .name("test")
                        .open();
                TcpServer server = TcpServer.builder().manager(loops).start(handler)) {
            Socket socket = connect(server);
            socket.getOutputStream().write(1);
            assertThat(handler.closing.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
            turn(loops); // which has set the alarm, after it told the peer
            clock.advance(Duration.ofMillis(990));
            turn(loops);
            long before = handler.over.getCount();
            clock.advance(Duration.ofMillis(20));
            boolean over = handler.over.await(5, TimeUnit.SECONDS);
            server.context().connections().forEach(Connection::abort);
            assertThat(before).isEqualTo(1);
            assertThat(over).isTrue();
            assertThat(handler.told).containsExactly("data", "disconnect");
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName(
            "mill-9: an abort in a callback ends the connection though its peer reads nothing of what was sent before")
    void abortInACallback(Dispatch mode) throws Exception {
        CompletableFuture<Connection> over = new CompletableFuture<>();
        TcpServer server = on("epoll", 1).dispatch(mode, 1).start(new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                connection.setAttachment("mine");
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.send(ByteBuffer.allocate(32 << 20));
                connection.abort();
            }

            @Override
            public void onDisconnect(Connection connection) {
                over.complete(connection);
            }
        });
        connect(server).getOutputStream().write(1);
        Connection connection = over.get(5, TimeUnit.SECONDS);
        await("mill-9: it retains nothing").until(() -> connection.attachment() == null);
        assertThat(server.shutdown(LONG).drained()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-9: what a callback has sent before it aborts is lost, and so the peer sees a reset")
    void abortLosesWhatWasGathered(String backend) throws Exception {
        LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
        try (TcpServer server = on(backend, 1).start((connection, data) -> {
            connection.send(ByteBuffer.allocate(100), (same, failure) -> told.add(String.valueOf(failure)));
            connection.written().whenComplete((nothing, failure) -> told.add(String.valueOf(failure)));
            connection.abort();
            connection.written().whenComplete((nothing, failure) -> told.add(String.valueOf(failure)));
        })) {
            Socket socket = connect(server);
            socket.getOutputStream().write(1);
            assertThatThrownBy(() -> socket.getInputStream().readAllBytes()).isInstanceOf(SocketException.class);
            for (int i = 0; i < 3; i++) {
                assertThat(told.poll(10, TimeUnit.SECONDS)).contains("some were lost");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-9: a connection that fails with bytes unsent is no regular end for its peer")
    void failsWithBytesUnsent(String backend) throws Exception {
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        try (Reactors loops = Reactors.builder()
                        .reactors(1)
                        .backend(backend)
                        .name("test")
                        .open();
                TcpServer server = TcpServer.builder().manager(loops).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        connection.send(ByteBuffer.allocate(32 << 20));
                        connected.complete(connection);
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}
                })) {
            Socket socket = connect(server);
            StreamConnection connection = (StreamConnection) connected.get(10, TimeUnit.SECONDS);
            loops.execute(() -> connection.onFailed(new IOException("of the test")));
            await().until(() -> server.context().connections().isEmpty());
            assertThatThrownBy(() -> socket.getInputStream().readAllBytes()).isInstanceOf(SocketException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-2, mill-12: a manager that ends resets no peer whose bytes were not read")
    void theLastTurnReads(String backend) throws Exception {
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        try (Reactors loops =
                Reactors.builder().reactors(1).backend(backend).name("test").open()) {
            TcpServer server = TcpServer.builder().manager(loops).start(new ConnectionHandler() {
                @Override
                public void onConnect(Connection connection) {
                    connection.pauseReads();
                    connection.send("all of it");
                    connected.complete(connection);
                }

                @Override
                public void onData(Connection connection, ByteBuffer data) {}
            });
            Socket socket = connect(server);
            connected.get(10, TimeUnit.SECONDS);
            socket.getOutputStream().write(new byte[1000]);
            loops.close();
            assertThat(socket.getInputStream().readAllBytes()).asString().isEqualTo("all of it");
        }
    }

    @Test
    @DisplayName("srv-1, mill-7: a connection that a limit has ended hears nothing but its end")
    void whatIsDoomedHearsNothing() throws Exception {
        LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        try (Reactors loops = Reactors.builder().reactors(1).name("test").open();
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .waterMarks(0, 0, 1_000)
                        .start(new ConnectionHandler() {
                            @Override
                            public void onConnect(Connection connection) {
                                connected.complete(connection);
                            }

                            @Override
                            public void onData(Connection connection, ByteBuffer data) {
                                told.add("data");
                            }

                            @Override
                            public void onWritable(Connection connection) {
                                told.add("writable");
                            }

                            @Override
                            public void onEndOfInput(Connection connection) {
                                told.add("end of input");
                            }

                            @Override
                            public void onError(@Nullable Connection connection, Throwable failure) {
                                told.add("error");
                            }

                            @Override
                            public void onDisconnect(Connection connection) {
                                told.add("disconnect");
                            }
                        })) {
            connect(server);
            StreamConnection connection = (StreamConnection) connected.get(10, TimeUnit.SECONDS);
            CompletableFuture<Void> done = new CompletableFuture<>();
            loops.execute(() -> {
                connection.send(ByteBuffer.allocate(2_000));
                connection.send(ByteBuffer.allocate(1)); // too many
                connection.onReceived(ByteBuffer.allocate(1)); // which is found in the same turn
                connection.onEndOfInput(); // which a system reports behind a failure, too
                done.complete(null);
            });
            done.get(10, TimeUnit.SECONDS);
            assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("error");
            assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("disconnect");
            turn(loops);
            assertThat(told).isEmpty();
        }
    }

    /** The bytes are sent in the last turn of the connection's loop. */
    private byte[] sentInTheLastTurn(int size, ConnectionHandler handler, CompletableFuture<Connection> connected)
            throws Exception {
        try (Reactors loops = Reactors.builder().reactors(1).name("test").open()) {
            TcpServer server = TcpServer.builder().manager(loops).start(handler);
            Socket socket = connect(server);
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            loops.execute(() -> {
                loops.shutdown();
                loops.execute(() -> connection.send(ByteBuffer.allocate(size)));
            });
            assertThat(loops.awaitTermination(Duration.ofSeconds(10))).isTrue();
            try {
                return socket.getInputStream().readAllBytes();
            } catch (IOException e) {
                return new byte[0]; // a reset
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1_000, 64 << 20})
    @DisplayName(
            "end-2: what is sent in the last turn of its loop goes out if the system takes it, and else that is told")
    void theLastTurn(int size) throws Exception {
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        LinkedBlockingQueue<String> errors = new LinkedBlockingQueue<>();
        byte[] got = sentInTheLastTurn(
                size,
                new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        connected.complete(connection);
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}

                    @Override
                    public void onError(@Nullable Connection connection, Throwable failure) {
                        errors.add(String.valueOf(failure.getMessage()));
                    }
                },
                connected);
        if (size == 1_000) {
            assertThat(got).hasSize(size);
            assertThat(errors).isEmpty();
        } else {
            assertThat(got.length).isLessThan(size);
            assertThat(errors).singleElement().asString().contains("bytes could not be sent");
        }
    }

    @Test
    @DisplayName("mill-7, mill-9: who closes before all was sent is not told that it may send on")
    void notWritableAfterAClose() throws Exception {
        LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
        // At the low water there is still more to send than the system takes at a time.
        TcpServer server = on("epoll", 1)
                .waterMarks(16 << 20, 16 << 20, 64 << 20)
                .start(new ConnectionHandler() {
                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        told.add(connection.send(ByteBuffer.allocate(32 << 20)).toString());
                        connection.close();
                    }

                    @Override
                    public void onWritable(Connection connection) {
                        told.add("writable");
                    }

                    @Override
                    public void onDisconnect(Connection connection) {
                        told.add("disconnect");
                    }
                });
        Socket socket = connect(server);
        socket.getOutputStream().write(1);
        // Nothing is read before: a reader that keeps up would leave less than the high water waiting.
        assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("ABOVE_HIGH_WATER");
        assertThat(socket.getInputStream().readAllBytes()).hasSize(32 << 20);
        socket.close();
        assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("disconnect");
        server.close();
        assertThat(told).isEmpty();
    }

    private static void turn(Reactors loops) throws Exception {
        for (int i = 0; i < 2; i++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            loops.execute(() -> done.complete(null));
            done.get(10, TimeUnit.SECONDS);
        }
    }

    @Test
    @DisplayName("end-3: a server and a client say that they are closed, and what remains is named for people")
    void theySayHowFarTheyAre() throws Exception {
        try (Reactors loops =
                Reactors.builder().reactors(1).backend("epoll").name("test").open()) {
            TcpServer server = TcpServer.builder().manager(loops).start(holding);
            TcpClient client = TcpClient.builder().manager(loops).open();
            assertThat(client.toString()).doesNotContain("closed");
            Socket socket = held(server);
            assertThat(server.shutdown(Duration.ZERO).remaining())
                    .containsExactly("connection 1 with /127.0.0.1:" + socket.getLocalPort() + ", on test-0");
            open.countDown();
            server.shutdown(LONG);
            assertThat(server.toString()).endsWith(", closed");
            client.close();
            assertThat(client.toString()).endsWith(", closed");
        }
    }
}
