package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.engine.transport.StreamTransport;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("sendFile")
@ParameterizedClass
@ValueSource(strings = {"epoll", "poll", "nio"})
@Timeout(60)
class SendFileTest {
    /** More than the kernel keeps for a peer that does not read. */
    private static final long LARGE = 64 << 20;

    @Parameter
    String backend;

    @TempDir
    Path directory;

    private TcpServer.Builder builder() {
        return TcpServer.builder()
                .reactors(Reactors.builder().reactors(1).backend(backend).name("test"));
    }

    private static Socket connect(TcpServer server) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), server.address().getPort());
    }

    private Path file(String name, byte[] content) throws IOException {
        return Files.write(directory.resolve(name), content);
    }

    private static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    /** Zeros that take no room on the disk. */
    private Path large() throws IOException {
        Path path = directory.resolve("large");
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.setLength(LARGE);
        }
        return path;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    /** How often this process has it open. */
    private static int open(Path path) throws IOException {
        int count = 0;
        try (DirectoryStream<Path> links = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path link : links) {
                try {
                    if (Files.readSymbolicLink(link).toString().startsWith(path.toString())) {
                        count++;
                    }
                } catch (NoSuchFileException e) {
                    // Closed since.
                }
            }
        }
        return count;
    }

    /** Does something at the first byte, and writes down how it ends. */
    private static class OnConnect implements ConnectionHandler {
        interface Step {
            void run(Connection connection) throws Exception;
        }

        final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
        final CompletableFuture<Connection> connected = new CompletableFuture<>();
        private final Step step;

        OnConnect(Step step) {
            this.step = step;
        }

        @Override
        public void onConnect(Connection connection) throws Exception {
            step.run(connection);
            connected.complete(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            log.add("data at " + connection.queuedBytes());
        }

        @Override
        public void onWritable(Connection connection) {
            log.add("writable");
        }

        @Override
        public void onDisconnect(Connection connection) {
            log.add("disconnect");
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            log.add("error " + failure.getMessage());
        }

        Connection connection() throws Exception {
            return connected.get(10, TimeUnit.SECONDS);
        }

        String next() throws InterruptedException {
            return String.valueOf(log.poll(20, TimeUnit.SECONDS));
        }
    }

    @Test
    @DisplayName("mill-15: bytes, files large, small and empty, and pieces of them arrive in the order of the calls; a"
            + " close loses none")
    void inOrder() throws Exception {
        byte[] big = random(5 << 20);
        byte[] small = random(100);
        Path bigFile = file("big", big);
        Path smallFile = file("small", small);
        Path empty = file("empty", new byte[0]);
        OnConnect handler = new OnConnect(connection -> {
            connection.send("head");
            connection.sendFile(bigFile);
            connection.send("between");
            connection.sendFile(smallFile);
            connection.sendFile(empty);
            connection.sendFile(bigFile, 1_000, 0);
            connection.sendFile(bigFile, 1_000, 1 << 20);
            connection.sendFile(bigFile);
            connection.send("tail");
            connection.close();
        });
        try (TcpServer server = builder().start(handler);
                Socket socket = connect(server)) {
            byte[] got = socket.getInputStream().readAllBytes();
            byte[] piece = Arrays.copyOfRange(big, 1_000, 1_000 + (1 << 20));
            byte[] expected = concat(bytes("head"), big, bytes("between"), small, piece, big, bytes("tail"));
            assertThat(got.length).isEqualTo(expected.length);
            assertThat(Arrays.equals(got, expected)).isTrue();
            assertThat(handler.next()).as("nothing failed").isEqualTo("disconnect");
            assertThat(server.bytesSent()).isEqualTo(expected.length);
        }
        assertThat(open(bigFile)).isZero();
    }

    @Test
    @DisplayName("mill-15: from other threads too, in the order of each; also from callbacks that are on a pool")
    void fromOtherThreads() throws Exception {
        byte[] big = random(2 << 20);
        Path file = file("big", big);
        byte[] expected = concat(bytes("one"), big, bytes("two"), big);
        OnConnect.Step sends = connection -> {
            connection.send("one");
            connection.sendFile(file);
            connection.send("two");
            connection.sendFile(file);
            connection.close();
        };
        OnConnect none = new OnConnect(connection -> {});
        try (TcpServer server = builder().start(none);
                Socket socket = connect(server)) {
            sends.run(none.connection());
            assertThat(Arrays.equals(socket.getInputStream().readAllBytes(), expected))
                    .isTrue();
        }
        try (TcpServer server = builder().dispatch(Dispatch.POOL, 2).start(new OnConnect(sends));
                Socket socket = connect(server)) {
            assertThat(Arrays.equals(socket.getInputStream().readAllBytes(), expected))
                    .isTrue();
        }
        assertThat(open(file)).isZero();
    }

    @Test
    @DisplayName(
            "what waits of a file counts for the water marks, not for the limit; the peer is read again when it has"
                    + " gone out")
    void waterMarks() throws Exception {
        Path file = large();
        CompletableFuture<SendResult> result = new CompletableFuture<>();
        OnConnect handler = new OnConnect(connection -> result.complete(connection.sendFile(file)));
        try (TcpServer server = builder().waterMarks(0, 2_000, 100_000).start(handler);
                Socket socket = connect(server)) {
            assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo(SendResult.ABOVE_HIGH_WATER);
            Connection connection = handler.connection();
            assertThat(connection.queuedBytes()).isBetween(LARGE / 2, LARGE);
            socket.getOutputStream().write(1);
            socket.getInputStream().skipNBytes(LARGE / 2);
            assertThat(handler.log).isEmpty();
            socket.getInputStream().skipNBytes(LARGE / 2);
            assertThat(new String[] {handler.next(), handler.next()})
                    .containsExactlyInAnyOrder("writable", "data at 0");
        }
    }

    @Test
    @DisplayName("a file that is deleted meanwhile is sent all the same")
    void deleted() throws Exception {
        byte[] content = random(24 << 20);
        Path file = file("file", content);
        OnConnect handler = new OnConnect(connection -> {
            connection.sendFile(file);
            Files.delete(file);
            connection.close();
        });
        try (TcpServer server = builder().start(handler);
                Socket socket = connect(server)) {
            assertThat(Arrays.equals(socket.getInputStream().readAllBytes(), content))
                    .isTrue();
        }
        assertThat(open(file)).isZero();
    }

    @Test
    @DisplayName("end-9: a file that is made shorter meanwhile resets the connection, and the error says why")
    void truncated() throws Exception {
        Path file = large();
        OnConnect handler = new OnConnect(connection -> connection.sendFile(file));
        try (TcpServer server = builder().start(handler);
                Socket socket = connect(server)) {
            handler.connection();
            try (RandomAccessFile shorter = new RandomAccessFile(file.toFile(), "rw")) {
                shorter.setLength(10);
            }
            assertThatThrownBy(() -> socket.getInputStream().readAllBytes()).isInstanceOf(SocketException.class);
            assertThat(handler.next())
                    .startsWith("error cannot send " + file)
                    .contains("truncated")
                    .contains("rename");
            assertThat(handler.next()).isEqualTo("disconnect");
            assertThat(open(file)).isZero();
        }
    }

    @Test
    @DisplayName("what cannot be sent is the caller's to hear, and the connection goes on")
    void refused() throws Exception {
        Path file = file("file", random(10_000));
        OnConnect handler = new OnConnect(connection -> {});
        try (TcpServer server = builder().start(handler);
                Socket socket = connect(server)) {
            Connection connection = handler.connection();
            assertThatThrownBy(() -> connection.sendFile(directory.resolve("missing")))
                    .isInstanceOf(NoSuchFileException.class);
            assertThatThrownBy(() -> connection.sendFile(directory)).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> connection.sendFile(file, 9_000, 1_001))
                    .isInstanceOf(EOFException.class)
                    .hasMessageContaining("only 10000");
            assertThatThrownBy(() -> connection.sendFile(file, 10_001, 0)).isInstanceOf(EOFException.class);
            assertThatThrownBy(() -> connection.sendFile(file, Long.MAX_VALUE, Long.MAX_VALUE))
                    .isInstanceOf(EOFException.class);
            assertThatThrownBy(() -> connection.sendFile(file, -1, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> connection.sendFile(file, 1, -1)).isInstanceOf(IllegalArgumentException.class);
            assertThat(open(file)).isZero();
            assertThat(connection.queuedBytes()).isZero();
            assertThat(connection.send("still here")).isEqualTo(SendResult.QUEUED);
            assertThat(socket.getInputStream().readNBytes(10)).asString().isEqualTo("still here");
            connection.close();
            assertThat(connection.sendFile(file)).isEqualTo(SendResult.CLOSED);
            assertThat(open(file)).isZero();
        }
    }

    @Test
    @DisplayName("an abort, a reset and a write timeout close every file that waits")
    void over() throws Exception {
        Path file = large();
        OnConnect.Step two = connection -> {
            connection.sendFile(file);
            connection.send("between");
            connection.sendFile(file);
        };
        OnConnect aborted = new OnConnect(two);
        try (TcpServer server = builder().start(aborted);
                Socket socket = connect(server)) {
            Connection connection = aborted.connection();
            assertThat(open(file)).isEqualTo(2);
            connection.abort();
            assertThat(aborted.next()).isEqualTo("disconnect");
            assertThat(open(file)).isZero();
            assertThat(connection.queuedBytes()).isZero();
            assertThat(connection.sendFile(file)).isEqualTo(SendResult.CLOSED);
            assertThat(open(file)).isZero();
            assertThat(socket.isConnected()).isTrue();
        }
        OnConnect reset = new OnConnect(two);
        try (TcpServer server = builder().start(reset)) {
            Socket socket = connect(server);
            reset.connection();
            socket.setSoLinger(true, 0);
            socket.close();
            assertThat(reset.next()).startsWith("error");
            assertThat(reset.next()).isEqualTo("disconnect");
            assertThat(open(file)).isZero();
        }
        OnConnect stopped = new OnConnect(two);
        try (TcpServer server = builder().writeTimeout(Duration.ofMillis(200)).start(stopped);
                Socket socket = connect(server)) {
            assertThat(stopped.next()).contains("took nothing for 200 ms");
            assertThat(stopped.next()).isEqualTo("disconnect");
            assertThat(open(file)).isZero();
            assertThat(socket.isConnected()).isTrue();
        }
    }

    @Test
    @DisplayName("a peer that does not take its file keeps nobody else from being served")
    void othersAreServed() throws Exception {
        Path file = large();
        ConnectionHandler handler = (connection, data) -> {
            if (data.get(0) == 'f') {
                connection.sendFile(file);
            } else {
                connection.send(data);
            }
        };
        try (TcpServer server = builder().start(handler);
                Socket first = connect(server);
                Socket second = connect(server)) {
            first.getOutputStream().write('f');
            first.getInputStream().skipNBytes(LARGE / 4);
            for (int i = 0; i < 100; i++) {
                second.getOutputStream().write(i);
                assertThat(second.getInputStream().read()).isEqualTo(i);
            }
            first.getInputStream().skipNBytes(LARGE - LARGE / 4);
        }
    }

    @Test
    @DisplayName("a peer that takes all it gets has a share of each turn, and then it is the others' turn")
    void aShareOfEachTurn() throws Exception {
        Path file = large();
        CompletableFuture<Connection> asked = new CompletableFuture<>();
        try (Reactors manager = Reactors.builder().reactors(1).backend(backend).open();
                TcpServer server = TcpServer.builder().manager(manager).start((connection, data) -> {
                    for (int i = 0; i < 4; i++) {
                        connection.sendFile(file);
                    }
                    asked.complete(connection);
                });
                Socket socket = connect(server)) {
            AtomicLong most = new AtomicLong();
            AtomicLong turns = new AtomicLong();
            CompletableFuture<Void> done = new CompletableFuture<>();
            // What is queued in a turn runs in the next: so this runs once in each.
            manager.execute(new Runnable() {
                private long before = -1;

                @Override
                public void run() {
                    Connection connection = asked.getNow(null);
                    if (connection != null) {
                        long waiting = connection.queuedBytes();
                        if (before >= 0) {
                            most.accumulateAndGet(before - waiting, Math::max);
                            turns.incrementAndGet();
                        }
                        before = waiting;
                        if (waiting == 0) {
                            done.complete(null);
                            return;
                        }
                    }
                    manager.execute(this);
                }
            });
            socket.getOutputStream().write(1);
            byte[] buffer = new byte[4 << 20];
            DataInputStream in = new DataInputStream(socket.getInputStream());
            for (long left = 4 * LARGE; left > 0; left -= buffer.length) {
                in.readFully(buffer);
            }
            done.get(20, TimeUnit.SECONDS);
            assertThat(most.get()).isPositive().isLessThanOrEqualTo(StreamTransport.FILE_SHARE);
            assertThat(turns.get()).isGreaterThanOrEqualTo(4 * LARGE / StreamTransport.FILE_SHARE - 1);
        }
    }

    @Test
    @DisplayName("a client sends files as a server does")
    void client() throws Exception {
        byte[] content = random(3 << 20);
        Path file = file("file", content);
        CompletableFuture<byte[]> got = new CompletableFuture<>();
        ByteArrayOutputStream received = new ByteArrayOutputStream();
        try (Reactors manager = Reactors.builder().reactors(1).backend(backend).open();
                TcpServer server = TcpServer.builder().manager(manager).start(new ConnectionHandler() {
                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        byte[] copy = new byte[data.remaining()];
                        data.get(copy);
                        received.writeBytes(copy);
                    }

                    @Override
                    public void onDisconnect(Connection connection) {
                        got.complete(received.toByteArray());
                    }
                });
                TcpClient client = TcpClient.builder().manager(manager).open()) {
            Connection connection =
                    client.connect(server.address(), (c, data) -> {}).get(10, TimeUnit.SECONDS);
            connection.sendFile(file);
            connection.close();
            assertThat(Arrays.equals(got.get(20, TimeUnit.SECONDS), content)).isTrue();
        }
    }
}
