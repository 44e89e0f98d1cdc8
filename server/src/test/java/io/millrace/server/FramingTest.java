package io.millrace.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("Framing")
class FramingTest {
    private static final Framing CRLF = Framing.delimited("\r\n".getBytes(ISO_8859_1), 8);
    private static final Framing AAB = Framing.delimited("aab".getBytes(ISO_8859_1), 8);

    private static Reactors reactors;

    @BeforeAll
    static void open() {
        reactors = Reactors.builder().reactors(1).name("framing").open();
    }

    @AfterAll
    static void close() {
        reactors.close();
    }

    /** What a connection's handler was told. */
    private static class Told implements ConnectionHandler {
        final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
        final CountDownLatch over = new CountDownLatch(1);
        volatile @Nullable Throwable error;

        @Override
        public void onData(Connection connection, ByteBuffer frame) {
            log.add(ISO_8859_1.decode(frame).toString());
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            error = failure;
        }

        @Override
        public void onDisconnect(Connection connection) {
            over.countDown();
        }

        List<String> all() throws InterruptedException {
            assertThat(over.await(30, TimeUnit.SECONDS)).isTrue();
            return new ArrayList<>(log);
        }
    }

    private static TcpServer serve(Framing framing, int buffer, ConnectionHandler handler) throws IOException {
        return TcpServer.builder().manager(reactors).bufferSize(buffer).start(framing.frames(handler));
    }

    /** Sends bytes to a server that reads so many at once, until it closes. */
    private static Told send(Framing framing, int buffer, byte[] bytes) throws Exception {
        Told told = new Told();
        try (TcpServer server = serve(framing, buffer, told);
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.getOutputStream().write(bytes);
            socket.shutdownOutput();
            told.all();
        }
        return told;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(ISO_8859_1);
    }

    private static byte[] encode(Framing framing, List<String> frames) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        frames.forEach(frame ->
                all.writeBytes(framing.encode(ByteBuffer.wrap(bytes(frame))).array()));
        return all.toByteArray();
    }

    static Stream<Arguments> kinds() {
        return Stream.of(
                Arguments.of(Framing.fixed(3), List.of("abc", "def", "\0\n\r", "xyz")),
                Arguments.of(Framing.lengthPrefixed(1, 8), List.of("", "a", "", "12345678", "\1\2")),
                Arguments.of(Framing.lengthPrefixed(2, 8), List.of("a", "", "12345678", "")),
                Arguments.of(Framing.lengthPrefixed(4, 8), List.of("", "12345678", "x")),
                Arguments.of(Framing.lines(8), List.of("", "a", "", "", "12345678", "x\r")),
                Arguments.of(CRLF, List.of("", "\r", "\n", "12345678", "a\rb", "ab\nc", "1234567\r", "")),
                Arguments.of(AAB, List.of("a", "", "aa", "aaaaaaaa", "ab", "baaa")));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    @DisplayName("mr-9: frames are the same however the reads are cut, empty ones and those of maximum length too")
    void cutEverywhere(Framing framing, List<String> frames) throws Exception {
        byte[] all = encode(framing, frames);
        for (int buffer = 1; buffer <= all.length + 1; buffer++) {
            Told told = send(framing, buffer, all);
            assertThat(told.log).as("%s bytes at once", buffer).containsExactlyElementsOf(frames);
            assertThat(told.error).isNull();
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    @DisplayName("mr-9: the end of a frame is found behind any number of bytes that were kept")
    void findsTheEnd(Framing framing, List<String> frames) throws Exception {
        for (String frame : frames) {
            byte[] one = framing.encode(ByteBuffer.wrap(bytes(frame))).array();
            for (int kept = 0; kept < one.length; kept++) {
                for (int more = 0; more <= 3; more++) {
                    ByteBuffer rest = ByteBuffer.allocate(one.length - kept + more)
                            .put(one, kept, one.length - kept)
                            .clear();
                    assertThat(framing.find(Arrays.copyOf(one, kept), kept, rest))
                            .isEqualTo(one.length - kept);
                    for (int missing = 1; missing < one.length - kept; missing++) {
                        assertThat(framing.find(
                                        Arrays.copyOf(one, kept),
                                        kept,
                                        rest.duplicate().limit(one.length - kept - missing)))
                                .isEqualTo(-1);
                    }
                }
            }
        }
    }

    static Stream<Arguments> tooLong() {
        return Stream.of(
                Arguments.of(Framing.lengthPrefixed(1, 8), "\1a\11123456789\1b"),
                Arguments.of(Framing.lengthPrefixed(2, 8), "\0\1a\0\11123456789\0\1b"),
                Arguments.of(Framing.lengthPrefixed(4, 8), "\0\0\0\1a\377\377\377\377garbage"),
                Arguments.of(Framing.lengthPrefixed(4, 8), "\0\0\0\1aGET / HTTP/1.1\r\n\r\n"),
                Arguments.of(Framing.lines(8), "a\n123456789\nb\n"),
                Arguments.of(CRLF, "a\r\n123456789\r\nb\r\n"),
                Arguments.of(CRLF, "a\r\n12345678\r\r\nb\r\n"));
    }

    @ParameterizedTest
    @MethodSource("tooLong")
    @DisplayName("mr-9: one byte above the maximum is told, and ends the connection; what came before it was told, what"
            + " comes behind is not")
    void oneTooMany(Framing framing, String sent) throws Exception {
        for (int buffer = 1; buffer <= sent.length() + 1; buffer++) {
            Told told = send(framing, buffer, bytes(sent));
            assertThat(told.log).as("%s bytes at once", buffer).containsExactly("a");
            assertThat(told.error).isInstanceOf(ProtocolException.class).hasMessageContaining("8 is the maximum");
        }
    }

    @Test
    @DisplayName("mr-9: garbage without an end is refused when it is longer than the maximum, not when it ends")
    void garbage() throws Exception {
        byte[] noise = new byte[100_000];
        new Random(5).nextBytes(noise);
        for (int i = 0; i < noise.length; i++) {
            noise[i] |= (byte) 0x80;
        }
        Told told = new Told();
        try (TcpServer server = serve(Framing.lines(1000), 512, told);
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.getOutputStream().write(noise, 0, 1001);
            assertThat(told.all()).isEmpty();
            assertThat(told.error).isInstanceOf(ProtocolException.class);
        }
    }

    @Test
    @DisplayName("mr-9: an end of input in the middle of a frame is told")
    void endsInTheMiddle() throws Exception {
        Told told = send(Framing.fixed(4), 16, bytes("abcdef"));
        assertThat(told.log).containsExactly("abcd");
        assertThat(told.error).isInstanceOf(ProtocolException.class).hasMessageContaining("2 bytes came");
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName(
            "mr-9, mill-11: a frame that takes longer than it may ends the connection, however steadily its bytes come")
    void slowLoris(Dispatch mode) throws Exception {
        Told told = new Told();
        Framing framing = Framing.lines(1_000_000).within(Duration.ofMillis(200));
        try (TcpServer server =
                        TcpServer.builder().manager(reactors).dispatch(mode, 1).start(framing.frames(told));
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.getOutputStream().write(bytes("quick\nslow"));
            long begin = System.nanoTime();
            while (!told.over.await(5, TimeUnit.MILLISECONDS)) {
                try {
                    socket.getOutputStream().write('.');
                } catch (IOException e) {
                    // It is closed, and the handler is being told.
                }
            }
            assertThat(System.nanoTime() - begin).isGreaterThan(150_000_000L);
            assertThat(told.log).containsExactly("quick");
            assertThat(told.error).isInstanceOf(SocketTimeoutException.class).hasMessageContaining("200 ms");
        }
    }

    @Test
    @DisplayName("mr-9: silence between frames is not slowness")
    void silence() throws Exception {
        Told told = new Told();
        Framing framing = Framing.lines(10).within(Duration.ofMillis(50));
        try (TcpServer server = serve(framing, 100, told);
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            for (int i = 0; i < 4; i++) {
                socket.getOutputStream().write(bytes("li"));
                socket.getOutputStream().write(bytes("ne\n"));
                assertThat(told.log.poll(10, TimeUnit.SECONDS)).isEqualTo("line");
                assertThat(told.over.await(80, TimeUnit.MILLISECONDS)).isFalse();
            }
            assertThat(told.error).isNull();
        }
    }

    /** Whether a frame has begun, and its time is running. */
    private static boolean isKept(Connection connection) {
        FrameDecoder.Partial partial = ((StreamConnection) connection).partialFrame;
        return partial != null && partial.isWatched();
    }

    static Stream<Arguments> halves() {
        return Stream.of(
                Arguments.of(Framing.fixed(4), "ab", "cd", "abcd"),
                Arguments.of(Framing.lengthPrefixed(1, 8), "\4a", "bcd", "abcd"),
                Arguments.of(Framing.lines(8), "abc", "d\n", "abcd"));
    }

    @ParameterizedTest
    @MethodSource("halves")
    @DisplayName(
            "mr-9: the time of a frame counts from its own first byte, not from that of the frame before, and to the"
                    + " nanosecond")
    void fromItsOwnBeginning(Framing framing, String begin, String end, String frame) throws Exception {
        ManualClock clock = new ManualClock();
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        Told told = new Told() {
            @Override
            public void onConnect(Connection connection) {
                connected.complete(connection);
            }
        };
        try (Reactors manual = Reactors.builder()
                        .reactors(1)
                        .clock(clock)
                        .withoutWatchdog()
                        .name("manual")
                        .open();
                TcpServer server = TcpServer.builder()
                        .manager(manual)
                        .start(framing.within(Duration.ofSeconds(10)).frames(told));
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            Connection connection = connected.get(30, TimeUnit.SECONDS);
            socket.getOutputStream().write(bytes(begin));
            await().until(() -> isKept(connection));
            clock.advance(Duration.ofSeconds(5));
            socket.getOutputStream().write(bytes(end));
            assertThat(told.log.poll(30, TimeUnit.SECONDS)).isEqualTo(frame);
            clock.advance(Duration.ofSeconds(1));
            turn(manual);
            socket.getOutputStream().write(bytes(begin));
            await().until(() -> isKept(connection));
            clock.advance(Duration.ofSeconds(4)); // now the alarm of the first one is due
            turn(manual);
            clock.advance(Duration.ofSeconds(6).minusNanos(1));
            turn(manual);
            assertThat(connection.isClosed()).isFalse();
            assertThat(told.error).isNull();
            clock.advance(Duration.ofNanos(1));
            assertThat(told.all()).isEmpty();
            assertThat(told.error).isInstanceOf(SocketTimeoutException.class).hasMessageContaining("10000 ms");
        }
    }

    /** Returns when whatever was due on the loop was done. */
    private static void turn(Reactors loops) throws Exception {
        for (int i = 0; i < 2; i++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            loops.execute(() -> done.complete(null));
            done.get(30, TimeUnit.SECONDS);
        }
    }

    @Test
    @DisplayName("mr-9, grpc-6: a connection that ends in the middle of a frame leaves no alarm behind")
    void noAlarmIsLeft() throws Exception {
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        Told told = new Told() {
            @Override
            public void onConnect(Connection connection) {
                connected.complete(connection);
            }
        };
        long before = reactors.metrics().alarmsPending();
        try (TcpServer server = serve(Framing.lines(10).within(Duration.ofHours(1)), 100, told);
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            Connection connection = connected.get(30, TimeUnit.SECONDS);
            socket.getOutputStream().write(bytes("half a li"));
            await().until(() -> isKept(connection));
            await().until(() -> reactors.metrics().alarmsPending() == before + 1);
            connection.close();
            told.all();
            await().until(() -> reactors.metrics().alarmsPending() == before);
        }
    }

    @Test
    @DisplayName("mr-9: what is not data passes through: a connection that begins, one that may send again")
    void passesThrough() throws Exception {
        CompletableFuture<SendResult> sent = new CompletableFuture<>();
        CountDownLatch writable = new CountDownLatch(1);
        ConnectionHandler handler = new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                sent.complete(connection.send(ByteBuffer.allocate(16 << 20)));
            }

            @Override
            public void onData(Connection connection, ByteBuffer frame) {}

            @Override
            public void onWritable(Connection connection) {
                writable.countDown();
                connection.close();
            }
        };
        try (TcpServer server = TcpServer.builder()
                        .manager(reactors)
                        .waterMarks(0, 1 << 20, 32 << 20)
                        .start(Framing.lines(10).frames(handler));
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.setSoTimeout(30_000);
            // Nothing is read before: a reader that keeps up would leave nothing waiting.
            assertThat(sent.get(30, TimeUnit.SECONDS)).isEqualTo(SendResult.ABOVE_HIGH_WATER);
            assertThat(socket.getInputStream().readAllBytes()).hasSize(16 << 20);
            assertThat(writable.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("mr-9, mill-15: frames that are sent back are not changed by those that follow in the same read")
    void echo(Dispatch mode) throws Exception {
        Framing framing = Framing.lengthPrefixed(2, 5000);
        Random random = new Random(11);
        List<String> frames = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            frames.add(Character.toString('a' + i % 26)
                    .repeat(random.nextInt(10) == 0 ? random.nextInt(5000) : random.nextInt(50)));
        }
        byte[] all = encode(framing, frames);
        try (TcpServer server = TcpServer.builder()
                        .manager(reactors)
                        .bufferSize(700)
                        .dispatch(mode, 2)
                        .start(framing.frames((connection, frame) -> connection.send(framing.encode(frame))));
                TcpServer plain = TcpServer.builder()
                        .manager(reactors)
                        .bufferSize(700)
                        .dispatch(mode, 2)
                        .start(framing.frames((connection, frame) -> connection.send(frame)))) {
            assertThat(exchange(server, all)).isEqualTo(all);
            assertThat(exchange(plain, all)).isEqualTo(bytes(String.join("", frames)));
        }
    }

    private static byte[] exchange(TcpServer server, byte[] all) throws IOException {
        try (Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.address().getPort())) {
            Thread.ofVirtual().start(() -> {
                try {
                    socket.getOutputStream().write(all);
                    socket.shutdownOutput();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            return socket.getInputStream().readAllBytes();
        }
    }

    @Test
    @DisplayName(
            "mill-4: a frame whose handler throws does not keep the next ones from being told; those behind a close"
                    + " are dropped")
    void throwing() throws Exception {
        List<String> errors = new ArrayList<>();
        Told told = new Told();
        ConnectionHandler handler = new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer frame) throws Exception {
                String text = ISO_8859_1.decode(frame).toString();
                if (text.equals("throw")) {
                    throw new IOException("as asked");
                }
                told.log.add(text);
                if (text.equals("close")) {
                    connection.close();
                }
            }

            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {
                errors.add(failure.getMessage());
            }

            @Override
            public void onDisconnect(Connection connection) {
                told.onDisconnect(connection);
            }
        };
        try (TcpServer server = serve(Framing.lines(10), 1000, handler);
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.getOutputStream().write(bytes("one\nthrow\ntwo\nclose\nthree\n"));
            assertThat(told.all()).containsExactly("one", "two", "close");
            assertThat(errors).containsExactly("as asked");
        }
    }

    @Test
    void badArguments() {
        assertThatThrownBy(() -> Framing.fixed(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Framing.lengthPrefixed(3, 10)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Framing.lengthPrefixed(1, 256)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Framing.delimited(new byte[0], 10)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Framing.lines(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Framing.fixed(1).within(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Framing.fixed(2).encode(ByteBuffer.allocate(3)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Framing.lines(2).encode(ByteBuffer.allocate(3)))
                .isInstanceOf(IllegalArgumentException.class);
        // What is kept of a frame, and its delimiter, must fit in an array.
        assertThatThrownBy(() -> Framing.delimited(new byte[2], Integer.MAX_VALUE - 9))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(Framing.delimited(new byte[2], Integer.MAX_VALUE - 10).max).isEqualTo(Integer.MAX_VALUE - 10);
        Framing lines = Framing.lines(2);
        assertThatThrownBy(() -> lines.frames(lines.frames((connection, data) -> {})))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void sayWhatTheyAre() {
        assertThat(Framing.fixed(3)).hasToString("frames of 3 bytes");
        assertThat(Framing.lengthPrefixed(2, 8)).hasToString("frames of up to 8 bytes behind their length of 2 bytes");
        assertThat(CRLF).hasToString("frames of up to 8 bytes before a delimiter of 2");
        ConnectionHandler handler = new Told() {
            @Override
            public String toString() {
                return "a handler";
            }
        };
        assertThat(Framing.fixed(3).frames(handler)).hasToString("frames of 3 bytes to a handler");
    }
}
