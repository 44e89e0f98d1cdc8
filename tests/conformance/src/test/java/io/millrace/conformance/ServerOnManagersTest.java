package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.AcceptDescriptor;
import io.millrace.engine.CompletionDescriptor;
import io.millrace.engine.EventManager;
import io.millrace.engine.GlobalEventManager;
import io.millrace.engine.Reactors;
import io.millrace.engine.ReadinessDescriptor;
import io.millrace.net.ByteStream;
import io.millrace.net.StreamListener;
import io.millrace.poll.Clock;
import io.millrace.poll.ManualClock;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.SendResult;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("grpc-16: servers and clients run on the manager they are given")
@Timeout(60)
@SuppressWarnings("try") // some connections are only there
class ServerOnManagersTest {
    private static void echoOver(EventManager manager) throws Exception {
        byte[] sent = new byte[1 << 20];
        new Random(16).nextBytes(sent);
        try (TcpServer server =
                        TcpServer.builder().manager(manager).start((connection, data) -> connection.send(data));
                TcpClient client = TcpClient.builder().manager(manager).open()) {
            try (Socket socket = new Socket(
                    InetAddress.getLoopbackAddress(), server.address().getPort())) {
                Thread writer = Thread.ofVirtual().start(() -> {
                    try {
                        socket.getOutputStream().write(sent);
                        socket.shutdownOutput();
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                });
                byte[] got = socket.getInputStream().readAllBytes();
                writer.join();
                assertThat(got.length).isEqualTo(sent.length);
                assertThat(Arrays.equals(got, sent)).isTrue();
            }
            LinkedBlockingQueue<Integer> got = new LinkedBlockingQueue<>();
            Connection connection = client.connect(server.address(), (c, data) -> {
                        while (data.hasRemaining()) {
                            got.add((int) data.get());
                        }
                    })
                    .get(10, TimeUnit.SECONDS);
            connection.send(ByteBuffer.wrap(new byte[] {1, 2, 3}));
            for (int i = 1; i <= 3; i++) {
                assertThat(got.poll(10, TimeUnit.SECONDS)).isEqualTo(i);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#foreign")
    @DisplayName("a deliberately different one")
    void different(Managers kind) throws Exception {
        try (EventManager manager = kind.open()) {
            echoOver(manager);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#foreign")
    @DisplayName("end-7: a connection that is over is not kept by the loop that carried it")
    void connectionsAreForgotten(Managers kind) throws Exception {
        LinkedBlockingQueue<WeakReference<Connection>> over = new LinkedBlockingQueue<>();
        ConnectionHandler ending = new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {}

            @Override
            public void onDisconnect(Connection connection) {
                over.add(new WeakReference<>(connection));
            }
        };
        try (EventManager manager = kind.open();
                TcpServer server = TcpServer.builder().manager(manager).start(ending)) {
            for (int i = 0; i < 3; i++) {
                new Socket(server.address().getAddress(), server.address().getPort()).close();
            }
            Await.until("all have ended", () -> over.size() == 3);
            // The last one may still be on a stack or in a field of a thread that waits.
            Await.until("they are collected", () -> {
                System.gc();
                return over.stream().filter(each -> each.get() != null).count() <= 1;
            });
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#foreign")
    @DisplayName("a deliberately different one, with files larger than their share of a turn")
    void filesOnADifferentOne(Managers kind, @TempDir Path directory) throws Exception {
        byte[] content = new byte[5 << 20];
        new Random(5).nextBytes(content);
        Path file = Files.write(directory.resolve("file"), content);
        try (EventManager manager = kind.open();
                TcpServer server = TcpServer.builder().manager(manager).start((connection, data) -> {
                    connection.sendFile(file);
                    connection.close();
                });
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.getOutputStream().write(1);
            assertThat(Arrays.equals(socket.getInputStream().readAllBytes(), content))
                    .isTrue();
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#foreign")
    @DisplayName("a deliberately different one, on which a peer that sends without end does not keep others waiting")
    void sharesOnADifferentOne(Managers kind) throws Exception {
        long enough = 64 << 20;
        CompletableFuture<Long> readBefore = new CompletableFuture<>();
        ByteBuffer bytes = ByteBuffer.allocateDirect(64 << 10);
        AtomicLong read = new AtomicLong();
        try (EventManager manager = kind.open();
                SocketChannel endless = SocketChannel.open();
                SocketChannel quiet = SocketChannel.open();
                TcpServer server = TcpServer.builder().manager(manager).start((connection, data) -> {
                    if (connection.remoteAddress().equals(quiet.getLocalAddress())) {
                        readBefore.complete(read.get());
                        return;
                    }
                    // All on the loop: there is always more to read, and the other one has sent at the beginning.
                    if (read.getAndAdd(data.remaining()) == 0) {
                        quiet.write(ByteBuffer.allocate(1));
                    }
                    while (read.get() < enough && endless.write(bytes) > 0) {
                        bytes.clear();
                    }
                })) {
            endless.connect(server.address());
            quiet.connect(server.address());
            endless.configureBlocking(false);
            endless.write(ByteBuffer.allocate(1));
            assertThat(readBefore.get(30, TimeUnit.SECONDS)).isLessThan(enough / 2);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#foreign")
    @DisplayName("mill-15, srv-3: a deliberately different one takes the bytes before send returns, too")
    void takesTheBytesOnADifferentOne(Managers kind) throws Exception {
        int[] sizes = {10, 4_096, 100_000, 3 << 20};
        try (EventManager manager = kind.open();
                TcpServer server = TcpServer.builder().manager(manager).start((connection, data) -> {
                    for (int size : sizes) {
                        byte[] scratch = new byte[size];
                        for (byte i = 1; i <= 3; i++) {
                            Arrays.fill(scratch, i);
                            connection.send(ByteBuffer.wrap(scratch));
                        }
                    }
                    connection.closeOutput();
                    if (connection.send("too late") != SendResult.CLOSED) {
                        throw new AssertionError("taken after closeOutput");
                    }
                });
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.getOutputStream().write(1);
            for (int size : sizes) {
                for (byte i = 1; i <= 3; i++) {
                    byte[] expected = new byte[size];
                    Arrays.fill(expected, i);
                    assertThat(Arrays.equals(socket.getInputStream().readNBytes(size), expected))
                            .as("%s bytes, the %s time", size, i)
                            .isTrue();
                }
            }
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    /** Tells when it may send on; pauses after each byte. */
    private static final class Pausing implements ConnectionHandler {
        private final LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
        private final LinkedBlockingQueue<Connection> connected = new LinkedBlockingQueue<>();

        @Override
        public void onConnect(Connection connection) {
            connected.add(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            connection.pauseReads();
            told.add("data " + data.get());
        }

        @Override
        public void onWritable(Connection connection) {
            told.add("writable");
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#foreign")
    @DisplayName("mill-8: on a deliberately different one reads are paused, and resumed with what is there already")
    void pausesOnADifferentOne(Managers kind) throws Exception {
        Pausing handler = new Pausing();
        try (EventManager manager = kind.open();
                TcpServer server =
                        TcpServer.builder().manager(manager).bufferSize(1).start(handler);
                Socket socket = new Socket()) {
            socket.connect(server.address());
            Connection connection = handler.connected.take();
            socket.getOutputStream().write(new byte[] {1, 2, 3});
            for (int i = 1; i <= 3; i++) {
                assertThat(handler.told.poll(10, TimeUnit.SECONDS)).isEqualTo("data " + i);
                assertThat(server.bytesReceived())
                        .as("one buffer, and then a pause")
                        .isEqualTo(i);
                connection.resumeReads();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#foreign")
    @DisplayName("mr-9: on a deliberately different one a frame is not late if more has arrived than is read at once")
    void arrivedInTimeOnADifferentOne(Managers kind) throws Exception {
        int size = 100; // and the server reads one at a time
        ManualClock clock = new ManualClock();
        LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
        Framing framing = Framing.fixed(size).within(Duration.ofSeconds(5));
        try (EventManager manager = kind.open(clock);
                TcpServer server = TcpServer.builder()
                        .manager(manager)
                        .bufferSize(1)
                        .start(framing.frames(new ConnectionHandler() {
                            @Override
                            public void onData(Connection connection, ByteBuffer data) {
                                told.add("frame of " + data.remaining());
                            }

                            @Override
                            public void onError(@Nullable Connection connection, Throwable failure) {
                                told.add(failure.toString());
                            }
                        }));
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.getOutputStream().write(1);
            Await.until("it has begun", () -> server.bytesReceived() == 1);
            Connection connection = server.context().connections().iterator().next();
            CompletableFuture<Void> held = new CompletableFuture<>();
            connection.execute(() -> {
                try {
                    // All of it arrives in time, while the loop is held up.
                    socket.getOutputStream().write(new byte[size - 1]);
                    clock.advance(Duration.ofSeconds(10));
                    held.complete(null);
                } catch (IOException e) {
                    held.completeExceptionally(e);
                }
            });
            held.get(10, TimeUnit.SECONDS);
            for (String first = told.poll(); first == null || !first.startsWith("frame"); first = told.poll()) {
                assertThat(first).isNull();
                clock.advance(Duration.ofMillis(1));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#foreign")
    @DisplayName("mill-9: on a deliberately different one onWritable comes, though nothing else happens there")
    void writableOnADifferentOne(Managers kind) throws Exception {
        Pausing handler = new Pausing();
        try (EventManager manager = kind.open();
                TcpServer server = TcpServer.builder()
                        .manager(manager)
                        .waterMarks(0, 0, 1 << 20)
                        .start(handler)) {
            for (int i = 0; i < 5; i++) {
                try (Socket socket = new Socket()) {
                    socket.connect(server.address());
                    Connection connection = handler.connected.take();
                    assertThat(connection.send(ByteBuffer.allocate(10))).isEqualTo(SendResult.ABOVE_HIGH_WATER);
                    assertThat(handler.told.poll(10, TimeUnit.SECONDS)).isEqualTo("writable");
                }
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#foreign")
    @DisplayName("end-7: servers and clients that are closed leave no alarm behind on a deliberately different one")
    void noAlarmsOnADifferentOne(Managers kind) throws Exception {
        try (EventManager manager = kind.open()) {
            for (int i = 0; i < 3; i++) {
                try (TcpServer server = TcpServer.builder().manager(manager).start((connection, data) -> {});
                        TcpClient client = TcpClient.builder().manager(manager).open()) {
                    client.connect(server.address(), (connection, data) -> {}).get(10, TimeUnit.SECONDS);
                    assertThat(Managers.pendingAlarms(manager)).isPositive();
                }
            }
            Await.until("no alarm is pending", () -> Managers.pendingAlarms(manager) == 0);
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#foreign")
    @DisplayName("end-7, srv-12: a timeout that is changed when it is due leaves no alarm behind on a different one")
    void changedWhenDueOnADifferentOne(Managers kind) throws Exception {
        Duration limit = Duration.ofSeconds(10);
        ManualClock clock = new ManualClock();
        try (EventManager manager = kind.open(clock);
                TcpServer server =
                        TcpServer.builder().manager(manager).idleTimeout(limit).start((connection, data) -> {});
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            Await.until("it is there", () -> server.connections().size() == 1);
            Connection connection = server.context().connections().iterator().next();
            connection.written().get(10, TimeUnit.SECONDS);
            int before = Managers.pendingAlarms(manager);
            for (int i = 1; i <= 20; i++) {
                Duration shorter = limit.minusMillis(i);
                CompletableFuture<Void> done = new CompletableFuture<>();
                connection.execute(() -> {
                    clock.advance(limit);
                    Await.until("it is handed over", () -> Managers.pendingAlarms(manager) < before);
                    connection.setIdleTimeout(shorter);
                    done.complete(null);
                });
                done.get(20, TimeUnit.SECONDS);
                connection.written().get(10, TimeUnit.SECONDS);
            }
            assertThat(Managers.pendingAlarms(manager)).isEqualTo(before);
            assertThat(connection.isClosed()).isFalse();
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#foreign")
    @DisplayName("srv-1: a deliberately different one refuses what is above the limit, and says so")
    void limitsADifferentOne(Managers kind) throws Exception {
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        CompletableFuture<String> error = new CompletableFuture<>();
        try (EventManager manager = kind.open();
                TcpServer server = TcpServer.builder()
                        .manager(manager)
                        .waterMarks(0, 0, 1 << 20)
                        .start(new ConnectionHandler() {
                            @Override
                            public void onConnect(Connection connection) {
                                connected.complete(connection);
                            }

                            @Override
                            public void onData(Connection connection, ByteBuffer data) {}

                            @Override
                            public void onError(@Nullable Connection connection, Throwable failure) {
                                error.complete(String.valueOf(failure.getMessage()));
                            }
                        });
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            ByteBuffer bytes = ByteBuffer.allocate(64 << 10);
            while (connection.send(bytes.clear()) != SendResult.CLOSED) {
                assertThat(connection.queuedBytes()).isLessThanOrEqualTo((1 << 20) + (64 << 10));
            }
            assertThat(error.get(10, TimeUnit.SECONDS)).contains("more than the limit of 1048576");
            assertThat(connection.isClosed()).isTrue();
        }
    }

    @Test
    @DisplayName("end-1: a connection that its manager refuses to watch ends with the reason, and the next is served")
    void refusedByTheManager() throws Exception {
        AtomicBoolean refuses = new AtomicBoolean(true);
        LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
        try (CompletionOnlyManager manager = new CompletionOnlyManager(Clock.system(), InstantSource.system()) {
                    @Override
                    public CompletionDescriptor registerCompletion(ByteStream stream) {
                        if (refuses.getAndSet(false)) {
                            throw new IllegalArgumentException("no place left");
                        }
                        return super.registerCompletion(stream);
                    }
                };
                TcpServer server = TcpServer.builder().manager(manager).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        told.add("connected");
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        connection.send(data);
                    }

                    @Override
                    public void onError(@Nullable Connection connection, Throwable failure) {
                        told.add(String.valueOf(failure.getMessage()));
                    }
                });
                Socket first = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            first.setSoTimeout(10_000);
            assertThat(first.getInputStream().read()).isEqualTo(-1);
            assertThat(told.poll(10, TimeUnit.SECONDS))
                    .startsWith("cannot watch")
                    .endsWith("no place left");
            Await.until(
                    "its place is free", () -> server.context().connections().isEmpty());
            try (Socket second = new Socket(
                    InetAddress.getLoopbackAddress(), server.address().getPort())) {
                second.setSoTimeout(10_000);
                second.getOutputStream().write(7);
                assertThat(second.getInputStream().read()).isEqualTo(7);
                assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("connected");
            }
        }
    }

    @Test
    @DisplayName("mill-8: one that only completes reads keeps what it has read of a paused connection, and its end")
    void keepsWhatWasReadMeanwhile() throws Exception {
        LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        try (CompletionOnlyManager manager = new CompletionOnlyManager(Clock.system(), InstantSource.system());
                TcpServer server = TcpServer.builder().manager(manager).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        connection.pauseReads(); // one is with the manager already
                        connected.complete(connection);
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        connection.pauseReads();
                        while (data.hasRemaining()) {
                            told.add("data " + data.get());
                        }
                    }

                    @Override
                    public void onEndOfInput(Connection connection) {
                        told.add("end");
                    }
                });
                Socket socket = new Socket()) {
            socket.connect(server.address());
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            socket.getOutputStream().write(new byte[] {1, 2});
            Await.until("the manager has read", () -> manager.reads() == 1);
            assertThat(told).isEmpty();
            socket.shutdownOutput();

            connection.resumeReads();
            assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("data 1");
            assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("data 2");
            connection.resumeReads();
            assertThat(told.poll(10, TimeUnit.SECONDS)).isEqualTo("end");
        }
    }

    @Test
    @DisplayName(
            "mill-9, mill-12: bytes that a manager has and the system has not are waiting, and go out before a close")
    void whatIsWithTheManagerWaits() throws Exception {
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        byte[] bytes = new byte[60_000]; // more than both systems hold together, and one write
        new Random(9).nextBytes(bytes);
        try (CompletionOnlyManager manager = new CompletionOnlyManager(Clock.system(), InstantSource.system());
                TcpServer server = TcpServer.builder()
                        .manager(manager)
                        .sendBuffer(4_096)
                        .start(new ConnectionHandler() {
                            @Override
                            public void onConnect(Connection connection) {
                                connection.send(ByteBuffer.wrap(bytes));
                                connected.complete(connection);
                            }

                            @Override
                            public void onData(Connection connection, ByteBuffer data) {}
                        });
                Socket socket = new Socket()) {
            socket.setReceiveBufferSize(4_096);
            socket.connect(server.address());
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            byte[] first = socket.getInputStream().readNBytes(1_000); // it is being written
            assertThat(connection.queuedBytes()).isEqualTo(bytes.length);
            assertThat(server.bytesSent()).isZero();
            connection.close();
            assertThat(first).isEqualTo(Arrays.copyOf(bytes, first.length));
            assertThat(socket.getInputStream().readAllBytes())
                    .isEqualTo(Arrays.copyOfRange(bytes, first.length, bytes.length));
            assertThat(server.bytesSent()).isEqualTo(bytes.length);
        }
    }

    @Test
    @DisplayName("one that only completes reads is asked to watch the listener, if it can")
    void watchesItsListener() throws Exception {
        LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
        try (ThreadyManager readiness = new ThreadyManager(Clock.system(), InstantSource.system());
                CompletionOnlyManager manager = new CompletionOnlyManager(Clock.system(), InstantSource.system()) {
                    @Override
                    public AcceptDescriptor registerAccept(StreamListener listener) {
                        told.add("watched");
                        ReadinessDescriptor descriptor = readiness.register(listener);
                        return new AcceptDescriptor() {
                            @Override
                            public void notifyWhenAcceptable(Runnable callback) {
                                descriptor.notifyWhenReadable(callback);
                            }

                            @Override
                            public boolean isClosed() {
                                return descriptor.isClosed();
                            }

                            @Override
                            public void close() {
                                readiness.delete(descriptor);
                                told.add("closed");
                            }
                        };
                    }
                }) {
            echoOver(manager);
            assertThat(told).containsExactly("watched", "closed");
        }
    }

    @Test
    @DisplayName("not on one without descriptors, which is said")
    void withoutDescriptors() {
        try (ToyManager manager = new ToyManager(Clock.system(), InstantSource.system())) {
            assertThatThrownBy(() ->
                            TcpServer.builder().manager(manager).start((connection, data) -> connection.send(data)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(
                            "it has no descriptors; pass a manager that implements ReadinessEventManager or CompletionEventManager");
        }
    }

    @Test
    @DisplayName("ours")
    void ours() throws Exception {
        try (Reactors manager = Reactors.builder().reactors(2).open()) {
            echoOver(manager);
        }
    }

    @Test
    @DisplayName(
            "the global one, which is made at the first use, has daemon threads, and cannot be registered afterwards")
    void global() throws Exception {
        echoOver(GlobalEventManager.global());
        try (Reactors late = Reactors.builder().reactors(1).open()) {
            assertThatThrownBy(() -> GlobalEventManager.register(late)).isInstanceOf(IllegalStateException.class);
        }
        assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> thread.getName().startsWith("millrace-0"))
                .hasSize(1)
                .allMatch(Thread::isDaemon);
    }
}
