package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("mill-15: send takes the bytes before it returns")
@Timeout(30)
class SendTest {
    /** On both sides of what is gathered, of the loop's output, and of what a socket takes at once. */
    private static final int[] SIZES = {1, 64, 4096, 4097, 60_000, 70_000, 8 << 20};

    private static TcpServer.Builder on(String backend, Dispatch mode) {
        return TcpServer.builder()
                .reactors(Reactors.builder().reactors(1).backend(backend).name("test"))
                .dispatch(mode, 2);
    }

    private static Socket connect(TcpServer server) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), server.address().getPort());
    }

    static Stream<Arguments> modesAndBackends() {
        return Stream.of(Dispatch.values())
                .flatMap(mode -> Stream.of("epoll", "poll", "nio").map(backend -> Arguments.of(mode, backend)));
    }

    private static void fill(ByteBuffer buffer, int with) {
        ByteBuffer all = buffer.duplicate().clear();
        while (all.hasRemaining()) {
            all.put((byte) with);
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("one scratch buffer sent again and again in a callback arrives as it was each time")
    void scratch(Dispatch mode, String backend) throws Exception {
        LinkedBlockingQueue<String> notAtTheLimit = new LinkedBlockingQueue<>();
        try (TcpServer server = on(backend, mode).start((connection, data) -> {
                    int size = SIZES[data.get()];
                    ByteBuffer scratch = size % 2 == 0 ? ByteBuffer.allocateDirect(size) : ByteBuffer.allocate(size);
                    for (int i = 1; i <= 3; i++) {
                        fill(scratch, i);
                        scratch.clear();
                        connection.send(scratch);
                        if (scratch.position() != scratch.limit()) {
                            notAtTheLimit.add(scratch.toString());
                        }
                    }
                    fill(scratch, 0);
                });
                Socket socket = connect(server)) {
            for (int which = 0; which < SIZES.length; which++) {
                socket.getOutputStream().write(which);
                for (int i = 1; i <= 3; i++) {
                    byte[] expected = new byte[SIZES[which]];
                    Arrays.fill(expected, (byte) i);
                    assertThat(Arrays.equals(socket.getInputStream().readNBytes(SIZES[which]), expected))
                            .as("%s bytes, the %s time", SIZES[which], i)
                            .isTrue();
                }
            }
            assertThat(notAtTheLimit).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("the buffer that onData got may be written to after it was sent")
    void readBuffer(Dispatch mode, String backend) throws Exception {
        try (TcpServer server = on(backend, mode).start((connection, data) -> {
                    int from = data.position();
                    connection.send(data);
                    for (int i = from; i < data.limit(); i++) {
                        data.put(i, (byte) 0);
                    }
                });
                Socket socket = connect(server)) {
            byte[] sent = new byte[1 << 20];
            new Random(15).nextBytes(sent);
            Thread writer = Thread.ofVirtual().start(() -> {
                try {
                    socket.getOutputStream().write(sent);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            assertThat(Arrays.equals(socket.getInputStream().readNBytes(sent.length), sent))
                    .isTrue();
            writer.join();
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("positions are at the limit afterwards on another thread too, and after a broadcast")
    void positions(Dispatch mode, String backend) throws Exception {
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        try (TcpServer server = on(backend, mode).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        connected.complete(connection);
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}
                });
                Socket socket = connect(server)) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            for (int size : SIZES) {
                ByteBuffer scratch = ByteBuffer.allocate(2 * size);
                for (int i = 1; i <= 3; i++) {
                    fill(scratch, i);
                    scratch.limit(size / 2 + size).position(size / 2);
                    if (i == 2) {
                        assertThat(server.context().broadcast(scratch)).isEqualTo(1);
                    } else {
                        connection.send(scratch);
                    }
                    assertThat(scratch.position()).isEqualTo(scratch.limit());
                    byte[] expected = new byte[size];
                    Arrays.fill(expected, (byte) i);
                    fill(scratch, 0);
                    assertThat(Arrays.equals(socket.getInputStream().readNBytes(size), expected))
                            .as("%s bytes, the %s time", size, i)
                            .isTrue();
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("srv-3: after closeOutput a send is refused on every thread, and leaves the position")
    void refused(Dispatch mode, String backend) throws Exception {
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        LinkedBlockingQueue<String> results = new LinkedBlockingQueue<>();
        try (TcpServer server = on(backend, mode).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        connected.complete(connection);
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        connection.closeOutput();
                        tell(connection, data);
                    }

                    private void tell(Connection connection, ByteBuffer data) {
                        results.add(connection.send(data) + " " + data.position());
                    }
                });
                Socket inside = connect(server)) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            inside.getOutputStream().write(1);
            assertThat(results.poll(10, TimeUnit.SECONDS)).isEqualTo("CLOSED 0");
            assertThat(inside.getInputStream().read()).isEqualTo(-1);
            ByteBuffer bytes = ByteBuffer.allocate(10).position(3);
            assertThat(connection.send(bytes)).isEqualTo(SendResult.CLOSED);
            assertThat(server.context().send(connection.id(), bytes)).isEqualTo(SendResult.CLOSED);
            assertThat(server.context().send(-1, bytes)).isEqualTo(SendResult.UNKNOWN);
            assertThat(server.context().broadcast(bytes)).isZero();
            assertThat(bytes.position()).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("srv-3: closeOutput on another thread takes effect before it returns")
    void closeOutputElsewhere(Dispatch mode, String backend) throws Exception {
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        try (TcpServer server = on(backend, mode).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) {
                        connected.complete(connection);
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}
                });
                Socket socket = connect(server)) {
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            assertThat(connection.send("before")).isEqualTo(SendResult.QUEUED);
            connection.closeOutput();
            assertThat(connection.send("after")).isEqualTo(SendResult.CLOSED);
            assertThat(socket.getInputStream().readAllBytes()).asString().isEqualTo("before");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("srv-3: what a thread was told is queued arrives, although another one closes meanwhile")
    void sendAgainstClose(String backend) throws Exception {
        LinkedBlockingQueue<Connection> connected = new LinkedBlockingQueue<>();
        try (TcpServer server = on(backend, Dispatch.LOOP).start(new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                connected.add(connection);
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}
        })) {
            for (int round = 0; round < 200; round++) {
                try (Socket socket = connect(server)) {
                    Connection connection = connected.take();
                    boolean whole = round % 2 == 0;
                    CountDownLatch go = new CountDownLatch(1);
                    Thread closer = Thread.ofPlatform().start(() -> {
                        await(go);
                        if (whole) {
                            connection.close();
                        } else {
                            connection.closeOutput();
                        }
                    });
                    go.countDown();
                    int taken = 0;
                    while (connection.send(ByteBuffer.allocate(3)) != SendResult.CLOSED) {
                        taken++;
                    }
                    closer.join();
                    assertThat(socket.getInputStream().readAllBytes()).hasSize(3 * taken);
                }
            }
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("small, large, shared and files go out in the order of the calls")
    void order(Dispatch mode, String backend, @TempDir Path directory) throws Exception {
        byte[] content = new byte[300_000];
        new Random(3).nextBytes(content);
        Path file = Files.write(directory.resolve("file"), content);
        CompletableFuture<TcpServer> self = new CompletableFuture<>();
        int[] sizes = {10, 5_000, 10, 4_096, 4_096, 200_000, 3, 3};
        try (TcpServer server = on(backend, mode).start((connection, data) -> {
                    ByteBuffer scratch = ByteBuffer.allocateDirect(200_000);
                    for (int i = 0; i < 40; i++) {
                        int size = sizes[i % sizes.length];
                        fill(scratch, i);
                        connection.send(scratch.clear().limit(size));
                        if (i % 3 == 0) {
                            self.join().context().broadcast(scratch.clear().limit(size));
                        }
                        if (i % 10 == 0) {
                            connection.sendFile(file);
                        }
                    }
                    connection.close();
                });
                Socket socket = connect(server)) {
            self.complete(server);
            socket.getOutputStream().write(1);
            for (int i = 0; i < 40; i++) {
                byte[] expected = new byte[sizes[i % sizes.length]];
                Arrays.fill(expected, (byte) i);
                for (int times = i % 3 == 0 ? 2 : 1; times > 0; times--) {
                    assertThat(Arrays.equals(socket.getInputStream().readNBytes(expected.length), expected))
                            .as("number %s", i)
                            .isTrue();
                }
                if (i % 10 == 0) {
                    assertThat(Arrays.equals(socket.getInputStream().readNBytes(content.length), content))
                            .isTrue();
                }
            }
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("mill-9: what a callback sends does not overtake what another thread has sent before")
    void orderOfThreads(Dispatch mode, String backend, @TempDir Path directory) throws Exception {
        Path small = Files.writeString(directory.resolve("small"), "s");
        Path large = Files.writeString(directory.resolve("large"), "l".repeat(5_000));
        CompletableFuture<TcpServer> self = new CompletableFuture<>();
        try (TcpServer server = on(backend, mode).start((connection, data) -> {
                    ServerContext all = self.join().context();
                    connection.send("0");
                    elsewhere(() -> connection.send("1"));
                    connection.send("2");
                    elsewhere(() -> all.broadcast(ByteBuffer.wrap(new byte[] {'3'})));
                    all.broadcast(ByteBuffer.wrap(new byte[] {'4'}));
                    elsewhere(() -> connection.sendFile(large));
                    connection.sendFile(small);
                    connection.sendFile(large);
                    elsewhere(() -> connection.send("5"));
                    connection.close();
                });
                Socket socket = connect(server)) {
            self.complete(server);
            socket.getOutputStream().write(1);
            assertThat(socket.getInputStream().readAllBytes())
                    .asString()
                    .isEqualTo("01234" + "l".repeat(5_000) + "s" + "l".repeat(5_000) + "5");
        }
    }

    private static void elsewhere(Callable<?> what) throws Exception {
        CompletableFuture<@Nullable Object> done = new CompletableFuture<>();
        Thread.ofPlatform().start(() -> {
            try {
                done.complete(what.call());
            } catch (Exception e) {
                done.completeExceptionally(e);
            }
        });
        done.get(10, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("a write that fails ends the connection after the callback, not inside it")
    void failsAfterTheCallback(String backend) throws Exception {
        AtomicBoolean inside = new AtomicBoolean();
        AtomicBoolean endedInside = new AtomicBoolean();
        CompletableFuture<SendResult> last = new CompletableFuture<>();
        CompletableFuture<Throwable> failure = new CompletableFuture<>();
        CountDownLatch reset = new CountDownLatch(1);
        CountDownLatch gone = new CountDownLatch(1);
        try (TcpServer server = on(backend, Dispatch.LOOP).start(new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                inside.set(true);
                await(reset);
                ByteBuffer large = ByteBuffer.allocate(100_000);
                SendResult result = SendResult.QUEUED;
                for (int i = 0; i < 1_000 && result == SendResult.QUEUED; i++) {
                    result = connection.send(large.clear());
                }
                last.complete(result);
                inside.set(false);
            }

            @Override
            public void onError(@Nullable Connection connection, Throwable thrown) {
                endedInside.compareAndSet(false, inside.get());
                failure.complete(thrown);
            }

            @Override
            public void onDisconnect(Connection connection) {
                endedInside.compareAndSet(false, inside.get());
                gone.countDown();
            }
        })) {
            Socket socket = connect(server);
            socket.getOutputStream().write(1);
            org.awaitility.Awaitility.await().untilTrue(inside);
            socket.setSoLinger(true, 0);
            socket.close();
            reset.countDown();
            assertThat(last.get(10, TimeUnit.SECONDS)).isEqualTo(SendResult.CLOSED);
            assertThat(failure.get(10, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
            assertThat(gone.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(endedInside).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("a handler that sends for as long as it may lets the others of its loop have their turn")
    void pumpsAreFair(Dispatch mode) throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        try (TcpServer server = on("epoll", mode).start(new ConnectionHandler() {
                    private final ByteBuffer piece = ByteBuffer.allocate(16 << 10);

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        if (data.get() == 'p') {
                            pump(connection);
                        } else {
                            connection.send("pong");
                        }
                    }

                    @Override
                    public void onWritable(Connection connection) {
                        pump(connection);
                    }

                    private void pump(Connection connection) {
                        while (!over.get() && connection.send(piece.duplicate()) == SendResult.QUEUED) {
                            // on
                        }
                    }
                });
                Socket greedy = connect(server);
                Socket other = connect(server)) {
            Thread reader = Thread.ofPlatform().start(() -> {
                byte[] into = new byte[1 << 20];
                try {
                    while (greedy.getInputStream().read(into) >= 0) {
                        // on
                    }
                } catch (IOException e) {
                    assertThat(over).isTrue();
                }
            });
            greedy.getOutputStream().write('p');
            for (int i = 0; i < 5; i++) {
                other.getOutputStream().write('q');
                assertThat(other.getInputStream().readNBytes(4)).asString().isEqualTo("pong");
            }
            over.set(true);
            greedy.shutdownInput();
            reader.join();
        }
    }

    @Test
    @DisplayName("what one callback sends in small pieces goes to the system in one call")
    void oneCall() throws Exception {
        try (TcpServer server = on("epoll", Dispatch.LOOP).start((connection, data) -> {
                    for (int i = 0; i < 1_000; i++) {
                        connection.send("0123456789");
                    }
                });
                Socket socket = connect(server)) {
            socket.getOutputStream().write(1);
            byte[] all = socket.getInputStream().readNBytes(10_000);
            assertThat(new String(all, StandardCharsets.US_ASCII)).isEqualTo("0123456789".repeat(1_000));
        }
    }
}
