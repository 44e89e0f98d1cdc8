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
import io.millrace.server.ConnectionSnapshot;
import io.millrace.server.Framing;
import io.millrace.server.Idle;
import io.millrace.server.SendResult;
import io.millrace.server.TcpServer;
import io.millrace.server.WriteCallback;
import io.millrace.testkit.Background;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("What programs do with a connection, on every backend, dispatch and manager, over TCP and at Unix sockets")
@Timeout(60)
@SuppressWarnings("try") // closed early, on purpose
class ConnectionApiTest {
    private static final int LARGE = 8 << 20;
    /** More than the buffers of the kernel hold, however much they grow. */
    private static final int FILE = 32 << 20;

    private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
    private final CompletableFuture<Connection> connected = new CompletableFuture<>();
    private final List<AutoCloseable> opened = new ArrayList<>();
    private boolean tls;

    static List<ServerSetting> settings() {
        return ServerSetting.withUnix();
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    private TcpServer.Builder on(ServerSetting setting) {
        return on(setting, Clock.system());
    }

    private TcpServer.Builder on(ServerSetting setting, Clock clock) {
        tls = setting.tls();
        ServerSetting.Opened manager = setting.open(clock);
        opened.add(manager);
        return manager.server();
    }

    private TcpServer start(TcpServer.Builder builder, ConnectionHandler handler) throws IOException {
        TcpServer server = builder.start(handler);
        opened.add(server);
        return server;
    }

    private Socket connect(TcpServer server) throws IOException {
        Socket socket = UnixSocket.connect(server);
        opened.add(socket);
        if (tls) {
            socket = TlsSocket.client(socket);
            opened.add(socket);
        }
        return socket;
    }

    private Connection connection() throws Exception {
        return connected.get(10, TimeUnit.SECONDS);
    }

    private String next() throws InterruptedException {
        return String.valueOf(log.poll(20, TimeUnit.SECONDS));
    }

    /** Writes down what it is told. */
    private class Recording implements ConnectionHandler {
        @Override
        public void onConnect(Connection connection) throws Exception {
            connected.complete(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) throws Exception {
            log.add("data " + US_ASCII.decode(data));
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

    private void note(Connection connection, @Nullable IOException failure) {
        log.add(failure == null ? "written" : "lost");
    }

    // ---- srv-5 ----

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-5: onWritten is called once, when the system has taken the bytes and all before them")
    void written(ServerSetting setting) throws Exception {
        Socket socket = connect(start(on(setting), new Recording()));
        Connection connection = connection();
        assertThat(connection.send(ByteBuffer.allocate(LARGE))).isNotEqualTo(SendResult.CLOSED);
        assertThat(connection.send(ByteBuffer.allocate(1), this::note)).isNotEqualTo(SendResult.CLOSED);
        CompletableFuture<Void> written = connection.written();
        await().until(() -> connection.queuedBytes() < LARGE);
        assertThat(log).as("while the peer has not read").isEmpty();
        assertThat(written).isNotDone();
        socket.getInputStream().skipNBytes(LARGE + 1);
        assertThat(next()).isEqualTo("written");
        written.get(10, TimeUnit.SECONDS);
        connection.written().get(10, TimeUnit.SECONDS);
        connection.close();
        socket.close();
        assertThat(next()).as("and not again").isEqualTo("disconnect");
        connection.written().get(10, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName(
            "srv-5: in a callback, too, it is called after that has returned, also for an empty buffer, and counts files")
    void writtenInACallback(ServerSetting setting, @TempDir Path directory) throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[FILE]);
        Socket socket = connect(start(on(setting), new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                connection.send(ByteBuffer.allocate(0), ConnectionApiTest.this::note);
                connection.sendFile(file);
                connection.send(ByteBuffer.allocate(5), (same, failure) -> log.add(failure + " after the file"));
                var ignored = connection.written().thenRun(() -> log.add("all"));
                log.add("returned");
            }
        }));
        socket.getOutputStream().write(1);
        assertThat(next()).isEqualTo("returned");
        assertThat(next()).isEqualTo("written");
        assertThat(log).isEmpty();
        socket.getInputStream().skipNBytes(FILE + 5);
        assertThat(next()).isEqualTo("null after the file");
        assertThat(next()).isEqualTo("all");
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-5: what an abort loses is told before the disconnect; what is refused is not told")
    void lost(ServerSetting setting) throws Exception {
        Socket socket = connect(start(on(setting), new Recording()));
        Connection connection = connection();
        connection.send(ByteBuffer.allocate(100), this::note);
        assertThat(next()).isEqualTo("written");
        connection.send(ByteBuffer.allocate(LARGE), this::note);
        connection.send(ByteBuffer.allocate(1), this::note);
        CompletableFuture<Void> written = connection.written();
        connection.abort();
        assertThat(List.of(next(), next(), next())).containsExactly("lost", "lost", "disconnect");
        assertThatThrownBy(() -> written.get(10, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("some were lost");
        assertThat(connection.send(ByteBuffer.allocate(1), this::note)).isEqualTo(SendResult.CLOSED);
        assertThatThrownBy(() -> connection.written().get(10, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
        assertThat(log).isEmpty();
        assertThat(socket.isClosed()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-5, srv-6: every promise made while a connection ends is kept once, before its disconnect")
    void promisesDuringAnEnd(ServerSetting setting) throws Exception {
        AtomicInteger kept = new AtomicInteger();
        AtomicInteger tooLate = new AtomicInteger();
        var disconnected = new LinkedBlockingQueue<Connection>();
        LinkedBlockingQueue<Connection> arrived = new LinkedBlockingQueue<>();
        TcpServer server = start(on(setting), new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                arrived.add(connection);
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}

            @Override
            public void onDisconnect(Connection connection) {
                connection.setAttachment("over");
                disconnected.add(connection);
            }

            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {}
        });
        int promised = 0;
        for (int round = 0; round < 60; round++) {
            try (Socket socket = connect(server)) {
                Connection connection = arrived.take();
                CountDownLatch go = new CountDownLatch(1);
                List<Thread> threads = new ArrayList<>();
                AtomicInteger accepted = new AtomicInteger();
                AtomicInteger before = new AtomicInteger(kept.get());
                for (int i = 0; i < 2; i++) {
                    boolean tasks = i == 0;
                    threads.add(Thread.ofPlatform().start(() -> {
                        try {
                            go.await();
                            for (int n = 0; n < 2000; n++) {
                                Runnable call = () -> {
                                    kept.incrementAndGet();
                                    if ("over".equals(connection.attachment())) {
                                        tooLate.incrementAndGet();
                                    }
                                };
                                if (tasks) {
                                    connection.execute(call);
                                } else if (connection.send(ByteBuffer.allocate(10), (same, failure) -> call.run())
                                        == SendResult.CLOSED) {
                                    return;
                                }
                                accepted.incrementAndGet();
                            }
                        } catch (RejectedExecutionException e) {
                            // the end
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    }));
                }
                go.countDown();
                if (round % 3 == 0) {
                    connection.abort();
                } else if (round % 3 == 1) {
                    socket.setSoLinger(true, 0);
                    socket.close();
                } else {
                    connection.close();
                    socket.close();
                }
                for (Thread thread : threads) {
                    thread.join();
                }
                assertThat(disconnected.poll(20, TimeUnit.SECONDS)).isEqualTo(connection);
                promised += accepted.get();
                assertThat(kept.get() - before.get()).as("round " + round).isEqualTo(accepted.get());
            }
        }
        assertThat(kept).hasValue(promised);
        assertThat(tooLate).as("calls after onDisconnect").hasValue(0);
    }

    // ---- srv-6 ----

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-6: tasks run in order, on the connection's thread, and never beside another callback")
    void tasks(ServerSetting setting) throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger overlaps = new AtomicInteger();
        Socket socket = connect(start(on(setting), new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                if (inside.incrementAndGet() > 1) {
                    overlaps.incrementAndGet();
                }
                data.position(data.limit());
                inside.decrementAndGet();
            }
        }));
        Connection connection = connection();
        Thread flood = Thread.ofPlatform().start(() -> {
            try {
                for (int i = 0; i < 2000; i++) {
                    socket.getOutputStream().write(1);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            int number = i;
            connection.execute(() -> {
                if (inside.incrementAndGet() > 1) {
                    overlaps.incrementAndGet();
                }
                order.add(number);
                inside.decrementAndGet();
            });
        }
        CompletableFuture<List<Integer>> all = new CompletableFuture<>();
        connection.execute(() -> all.complete(List.copyOf(order)));
        assertThat(all.get(20, TimeUnit.SECONDS)).hasSize(2000).isSorted();
        flood.join();
        assertThat(overlaps).hasValue(0);
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName(
            "srv-6: a task of a callback runs after it, may send, and its failure is told; a connection that has ended takes none")
    void tasksOfCallbacks(ServerSetting setting) throws Exception {
        Socket socket = connect(start(on(setting), new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.execute(() -> {
                    log.add("task");
                    connection.send("from a task");
                    throw new IllegalStateException("of the task");
                });
                log.add("returned");
            }
        }));
        socket.getOutputStream().write(1);
        assertThat(List.of(next(), next(), next())).containsExactly("returned", "task", "error of the task");
        assertThat(new String(socket.getInputStream().readNBytes(11), US_ASCII)).isEqualTo("from a task");
        Connection connection = connection();
        socket.close();
        assertThat(next()).isEqualTo("disconnect");
        assertThatThrownBy(() -> connection.execute(() -> log.add("too late")))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("has ended");
        assertThat(log).isEmpty();
    }

    /** Within a task of a connection, calls something on another thread, and then something on its own; each call has returned before the next. */
    private static void callFromBoth(Connection connection, Runnable elsewhere, Runnable here) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        connection.execute(() -> {
            try {
                Background.run(elsewhere::run).result();
                here.run();
                done.complete(null);
            } catch (Throwable e) {
                done.completeExceptionally(e);
            }
        });
        done.get(20, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-6: of two tasks, the one that was given first runs first, whichever threads gave them")
    void tasksOfTwoThreads(ServerSetting setting) throws Exception {
        connect(start(on(setting), new Recording()));
        Connection connection = connection();
        callFromBoth(
                connection,
                () -> connection.execute(() -> log.add("first")),
                () -> connection.execute(() -> log.add("second")));
        assertThat(List.of(next(), next())).containsExactly("first", "second");
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("mill-8: of two calls that pause and resume, the last one counts, whichever threads made them")
    void pausesOfTwoThreads(ServerSetting setting) throws Exception {
        Socket socket = connect(start(on(setting), new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                log.add("data " + US_ASCII.decode(data));
            }
        }));
        Connection connection = connection();
        callFromBoth(connection, connection::pauseReads, connection::resumeReads);
        socket.getOutputStream().write('a');
        assertThat(next()).isEqualTo("data a");
    }

    // ---- What was promised, or has arrived, when a connection ends ----

    /** Where callbacks do not run on the loop, waits in one of them until the connection has ended. */
    private static void outlive(ServerSetting setting, Connection connection) {
        if (setting.dispatch() != Dispatch.LOOP) {
            await().until(connection::isClosed);
        }
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("mill-7: frames that have arrived before a connection ends by itself are delivered")
    void framesBeforeTheEnd(ServerSetting setting) throws Exception {
        CompletableFuture<TcpServer> started = new CompletableFuture<>();
        TcpServer server = start(on(setting), Framing.lines(10).frames(new Recording() {
            @Override
            public void onConnect(Connection connection) {
                connection.closeOutput();
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                if (setting.dispatch() != Dispatch.LOOP) {
                    TcpServer here = started.join();
                    await().until(() -> here.connections().stream()
                            .allMatch(one -> one.state() == ConnectionSnapshot.State.INPUT_ENDED));
                }
                super.onData(connection, data);
            }
        }));
        started.complete(server);
        Socket socket = connect(server);
        socket.getOutputStream().write("a\nb\nc\n".getBytes(US_ASCII));
        socket.shutdownOutput();
        assertThat(List.of(next(), next(), next(), next())).containsExactly("data a", "data b", "data c", "disconnect");
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("mill-7: frames that have arrived before a connection is reset are delivered")
    void framesBeforeAReset(ServerSetting setting) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        Socket socket = connect(start(on(setting), Framing.lines(10).frames(new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                begun.countDown();
                outlive(setting, connection);
                super.onData(connection, data);
            }

            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {}
        })));
        socket.getOutputStream().write("a\nb\nc\n".getBytes(US_ASCII));
        assertThat(begun.await(10, TimeUnit.SECONDS)).isTrue();
        socket.setSoLinger(true, 0);
        socket.close();
        assertThat(List.of(next(), next(), next(), next())).containsExactly("data a", "data b", "data c", "disconnect");
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName(
            "srv-5: bytes that the peer has read are written, even if it broke the connection before that was told")
    void writtenBeforeTheEnd(ServerSetting setting) throws Exception {
        Socket socket = connect(start(on(setting), new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.send(ByteBuffer.allocate(1), ConnectionApiTest.this::note);
                var ignored = connection
                        .written()
                        .whenComplete((done, failure) -> note(connection, failure == null ? null : new IOException()));
                outlive(setting, connection);
            }

            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {}
        }));
        socket.getOutputStream().write(1);
        assertThat(socket.getInputStream().read()).isZero();
        socket.setSoLinger(true, 0);
        socket.close();
        assertThat(List.of(next(), next(), next())).containsExactly("written", "written", "disconnect");
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-5: whoever asks while a connection ends hears of no losses if there are none")
    void writtenDuringAnEnd(ServerSetting setting) throws Exception {
        TcpServer server = start(on(setting), new Recording());
        Socket socket = connect(server);
        Connection connection = connection();
        if (setting.tls()) {
            socket.shutdownOutput(); // a close could find tickets that nobody has read, and be a reset
        } else {
            socket.close();
        }
        List<CompletableFuture<Void>> answers = new ArrayList<>();
        while (log.isEmpty()) {
            answers.add(connection.written());
        }
        assertThat(next()).isEqualTo("disconnect");
        for (CompletableFuture<Void> answer : answers) {
            answer.get(10, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-6: tasks run in order also if the connection ends meanwhile")
    void tasksDuringAnEnd(ServerSetting setting) throws Exception {
        LinkedBlockingQueue<Connection> connections = new LinkedBlockingQueue<>();
        Semaphore ended = new Semaphore(0);
        TcpServer server = start(on(setting), new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                connections.add(connection);
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}

            @Override
            public void onDisconnect(Connection connection) {
                ended.release();
            }
        });
        for (int round = 0; round < setting.rounds(100); round++) {
            Socket socket = connect(server);
            Connection connection = connections.take();
            List<Integer> order = new ArrayList<>();
            int given = 0;
            try {
                while (true) {
                    int number = given;
                    connection.execute(() -> order.add(number));
                    if (++given == 200) {
                        connection.abort();
                    }
                }
            } catch (RejectedExecutionException e) {
                // It has ended.
            }
            assertThat(ended.tryAcquire(20, TimeUnit.SECONDS)).isTrue();
            assertThat(order).hasSize(given).isSorted();
            socket.close();
        }
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-5: a callback of a write that sends again does not keep the loop from others")
    void writesThatFollowEachOther(ServerSetting setting) throws Exception {
        AtomicBoolean enough = new AtomicBoolean();
        WriteCallback again = new WriteCallback() {
            @Override
            public void onWritten(Connection connection, @Nullable IOException failure) {
                if (!enough.get()) {
                    connection.send(ByteBuffer.allocate(0), this);
                }
            }
        };
        TcpServer server = start(on(setting), (connection, data) -> {
            if (data.get(0) == 'w') {
                connection.send(ByteBuffer.allocate(1), again);
            } else {
                connection.send(data);
            }
        });
        List<Socket> writers = new ArrayList<>();
        for (int i = 0; i < 2 * ServerSetting.REACTORS; i++) {
            Socket writer = connect(server);
            writers.add(writer);
            writer.getOutputStream().write('w');
            assertThat(writer.getInputStream().read()).isZero();
        }
        for (int i = 0; i < ServerSetting.REACTORS; i++) {
            Socket other = connect(server);
            other.setSoTimeout(20_000);
            other.getOutputStream().write('e');
            assertThat(other.getInputStream().read()).isEqualTo('e');
        }
        enough.set(true);
    }

    // ---- srv-9 ----

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName(
            "srv-9: two ends that send much before they read stop each other, unless the server reads while it is full")
    void readWhileFull(ServerSetting setting) throws Exception {
        byte[] sent = new byte[FILE];
        new Random(9).nextBytes(sent);
        TcpServer server = start(on(setting).readWhileFull(true), (connection, data) -> connection.send(data));
        Socket socket = connect(server);
        socket.getOutputStream().write(sent); // all of it, before anything is read
        assertThat(socket.getInputStream().readNBytes(FILE)).isEqualTo(sent);
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-9: whoever finds the connection full is told once when it is not")
    void writable(ServerSetting setting) throws Exception {
        Socket socket = connect(start(on(setting), new Recording() {
            @Override
            public void onWritable(Connection connection) {
                log.add("writable " + connection.isWritable());
            }
        }));
        Connection connection = connection();
        assertThat(connection.isWritable()).isTrue();
        assertThat(connection.send(ByteBuffer.allocate(LARGE))).isEqualTo(SendResult.ABOVE_HIGH_WATER);
        await().until(() -> connection.queuedBytes() < LARGE);
        assertThat(connection.isWritable()).isFalse();
        assertThat(connection.isWritable()).isFalse();
        socket.getInputStream().skipNBytes(LARGE);
        assertThat(next()).isEqualTo("writable true");
        assertThat(connection.isWritable()).isTrue();
        connection.send("x");
        socket.getInputStream().skipNBytes(1);
        connection.close();
        socket.close();
        assertThat(next()).isEqualTo("disconnect");
        assertThat(connection.isWritable()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-9: whoever looks whether there is room does not take the call of another who waits for it")
    void lookingTakesNoCall(ServerSetting setting) throws Exception {
        Socket socket = connect(start(on(setting), new Recording() {
            @Override
            public void onWritable(Connection connection) {
                log.add("writable");
            }
        }));
        Connection connection = connection();
        for (int i = 0; i < setting.rounds(20); i++) {
            assertThat(connection.send(ByteBuffer.allocate(LARGE))).isEqualTo(SendResult.ABOVE_HIGH_WATER);
            Background<Boolean> looking = Background.run(() -> {
                while (!connection.isWritable()) {
                    Thread.onSpinWait();
                }
            });
            socket.getInputStream().skipNBytes(LARGE);
            assertThat(next()).isEqualTo("writable");
            looking.result();
            await().until(connection::isWritable);
            log.clear(); // one that found it full may have been told once more
        }
    }

    // ---- srv-10 ----

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-10: each connection has its own handler, made on its thread, and knows its server")
    void ownHandlers(ServerSetting setting) throws Exception {
        TcpServer server = on(setting).start(connection -> new ConnectionHandler() {
            private int count;

            @Override
            public void onData(Connection same, ByteBuffer data) {
                count += data.remaining();
                assertThat(same).isSameAs(connection);
                connection.server().broadcast(ByteBuffer.wrap(new byte[] {(byte) count}));
            }
        });
        opened.add(server);
        Socket one = connect(server);
        Socket other = connect(server);
        await().until(() -> server.context().connections().size() == 2);
        one.getOutputStream().write(1);
        assertThat(one.getInputStream().read()).isEqualTo(1);
        assertThat(other.getInputStream().read()).isEqualTo(1);
        one.getOutputStream().write(1);
        assertThat(one.getInputStream().read()).isEqualTo(2);
        assertThat(other.getInputStream().read()).isEqualTo(2);
        other.getOutputStream().write(1);
        assertThat(one.getInputStream().read()).isEqualTo(1);
        assertThat(server.context())
                .isSameAs(server.context().connections().iterator().next().server());
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-10, srv-4: a factory that throws, or returns nothing, refuses the connection")
    void refusingFactory(ServerSetting setting) throws Exception {
        AtomicInteger number = new AtomicInteger();
        TcpServer server = on(setting).start(connection -> {
            if (number.incrementAndGet() == 1) {
                throw new IOException("not you");
            }
            return nothing();
        });
        opened.add(server);
        for (int i = 0; i < 2; i++) {
            assertThat(connect(server).getInputStream().read()).isEqualTo(-1);
        }
        await().until(() -> server.context().connections().isEmpty());
        assertThat(number).hasValue(2);
    }

    @SuppressWarnings("NullAway") // what it is about
    private static ConnectionHandler nothing() {
        return null;
    }

    // ---- srv-12 ----

    /** Tells what is idle, and keeps the connection. */
    private final class Patient extends Recording {
        @Override
        public void onIdle(Connection connection, Idle kind) {
            log.add("idle " + kind);
        }
    }

    /** Lets the loop, and then the connection's thread, have done everything that they were given. */
    private static void settle(Connection connection) throws Exception {
        for (int i = 0; i < 3; i++) {
            connection.written().get(10, TimeUnit.SECONDS);
            CompletableFuture<Void> done = new CompletableFuture<>();
            connection.execute(() -> done.complete(null));
            done.get(10, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-12: what is sent does not keep a peer that says nothing; what it says does")
    void readIdle(ServerSetting setting) throws Exception {
        ManualClock clock = new ManualClock();
        Socket socket = connect(start(on(setting, clock).readIdleTimeout(Duration.ofSeconds(10)), new Recording()));
        Connection connection = connection();
        settle(connection);
        clock.advance(Duration.ofSeconds(6));
        settle(connection);
        socket.getOutputStream().write('a');
        assertThat(next()).isEqualTo("data a");
        for (int i = 0; i < 3; i++) {
            clock.advance(Duration.ofSeconds(3));
            connection.send("news");
            settle(connection); // or the clock would move in the middle of a turn
        }
        assertThat(log).isEmpty();
        clock.advance(Duration.ofSeconds(1));
        assertThat(next()).contains("idle for 10000 ms, nothing was received");
        assertThat(next()).isEqualTo("disconnect");
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-12: what is received does not keep one that sends nothing; what it sends does")
    void writeIdle(ServerSetting setting) throws Exception {
        ManualClock clock = new ManualClock();
        Socket socket = connect(start(on(setting, clock).writeIdleTimeout(Duration.ofSeconds(10)), new Recording()));
        Connection connection = connection();
        settle(connection);
        clock.advance(Duration.ofSeconds(6));
        settle(connection);
        connection.send("news");
        connection.written().get(10, TimeUnit.SECONDS);
        for (int i = 0; i < 3; i++) {
            clock.advance(Duration.ofSeconds(3));
            socket.getOutputStream().write('a');
            assertThat(next()).isEqualTo("data a");
            settle(connection); // or the clock would move in the middle of a turn
        }
        assertThat(log).isEmpty();
        clock.advance(Duration.ofSeconds(1));
        assertThat(next()).contains("idle for 10000 ms, nothing was sent");
        assertThat(next()).isEqualTo("disconnect");
    }

    @ParameterizedTest
    @MethodSource("settings")
    @DisplayName("srv-12: each kind of silence is told when it is due, and again after as long")
    void kindsOfIdle(ServerSetting setting) throws Exception {
        ManualClock clock = new ManualClock();
        Socket socket = connect(start(on(setting, clock).writeIdleTimeout(Duration.ofSeconds(4)), new Patient()));
        Connection connection = connection();
        connection.setReadIdleTimeout(Duration.ofSeconds(7));
        connection.setIdleTimeout(Duration.ofSeconds(6));
        settle(connection);
        advance(clock, connection, 4);
        assertThat(next()).isEqualTo("idle WRITE");
        advance(clock, connection, 2); // 6
        assertThat(next()).isEqualTo("idle BOTH");
        advance(clock, connection, 1); // 7
        assertThat(next()).isEqualTo("idle READ");
        advance(clock, connection, 1); // 8
        assertThat(next()).isEqualTo("idle WRITE");
        connection.setWriteIdleTimeout(Duration.ZERO);
        socket.getOutputStream().write('b');
        assertThat(next()).isEqualTo("data b");
        advance(clock, connection, 5); // 13: 6 after the last, but something came at 8
        assertThat(log).isEmpty();
        advance(clock, connection, 1); // 14
        assertThat(next()).isEqualTo("idle BOTH");
        connection.setIdleTimeout(Duration.ZERO);
        advance(clock, connection, 1); // 15
        assertThat(next()).isEqualTo("idle READ");
        connection.setReadIdleTimeout(Duration.ZERO);
        settle(connection);
        advance(clock, connection, 100);
        settle(connection);
        assertThat(log).isEmpty();
    }

    private static void advance(ManualClock clock, Connection connection, int seconds) throws Exception {
        settle(connection);
        clock.advance(Duration.ofSeconds(seconds));
        settle(connection);
    }
}
