package io.millrace.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.server.connection.ConnectionProbe;
import io.millrace.server.framing.FrameBuffer;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
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
                Arguments.of(Framing.lengthPrefixed(3, 8), List.of("", "12345678", "x")),
                Arguments.of(Framing.lengthPrefixed(4, 8), List.of("", "12345678", "x")),
                Arguments.of(Framing.lengthPrefixed(1, ByteOrder.LITTLE_ENDIAN, 8), List.of("", "12345678", "x")),
                Arguments.of(
                        Framing.lengthPrefixed(2, ByteOrder.LITTLE_ENDIAN, 300), List.of("x", "", "7".repeat(258))),
                Arguments.of(Framing.lengthPrefixed(4, ByteOrder.LITTLE_ENDIAN, 8), List.of("", "12345678", "x")),
                Arguments.of(Framing.varintPrefixed(200), List.of("", "x", "7".repeat(127), "8".repeat(128))),
                Arguments.of(new OwnFramings.Netstrings(20), List.of("", "a", "5:hello,", "1234567890")),
                Arguments.of(new OwnFramings.Paragraphs(), List.of("one\ntwo\n", "", "three\n", "\n\n\n")),
                Arguments.of(Framing.lines(8), List.of("", "a", "", "", "12345678", "x\r")),
                Arguments.of(CRLF, List.of("", "\r", "\n", "12345678", "a\rb", "ab\nc", "1234567\r", "")),
                Arguments.of(AAB, List.of("a", "", "aa", "aaaaaaaa", "ab", "baaa")));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    @DisplayName("mr-9: frames are the same however the reads are cut, empty ones and those of maximum length too")
    void cutEverywhere(Framing framing, List<String> frames) throws Exception {
        byte[] all = encode(framing, frames);
        for (int buffer = 1; buffer <= Math.min(40, all.length + 1); buffer++) {
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
                    for (int missing = 0; missing < one.length - kept; missing++) {
                        FrameBuffer buffer = new FrameBuffer();
                        Framing own = framing.forConnection();
                        if (kept > 0) {
                            look(buffer, own, ByteBuffer.wrap(one, 0, kept));
                            assertThat(buffer.isComplete()).isFalse();
                            buffer.keep();
                        }
                        ByteBuffer data = rest.duplicate();
                        if (missing > 0) {
                            data.limit(one.length - kept - missing);
                        }
                        look(buffer, own, data);
                        assertThat(buffer.isComplete()).isEqualTo(missing == 0);
                        if (missing == 0) {
                            assertThat(ISO_8859_1.decode(buffer.beginFrame()).toString())
                                    .isEqualTo(frame);
                            buffer.endFrame();
                            assertThat(buffer.available()).isEqualTo(more);
                            assertThat(buffer.searched()).isZero();
                        }
                    }
                }
            }
        }
    }

    /** As a connection does when something came. */
    private static void look(FrameBuffer buffer, Framing framing, ByteBuffer data) throws ProtocolException {
        buffer.add(data);
        if (!buffer.isFound()) {
            buffer.find(framing, framing.maxBytes());
        }
    }

    static Stream<Arguments> tooLong() {
        return Stream.of(
                Arguments.of(Framing.lengthPrefixed(1, 8), "\1a\11123456789\1b"),
                Arguments.of(Framing.lengthPrefixed(2, 8), "\0\1a\0\11123456789\0\1b"),
                Arguments.of(Framing.lengthPrefixed(4, 8), "\0\0\0\1a\377\377\377\377garbage"),
                Arguments.of(Framing.lengthPrefixed(4, 8), "\0\0\0\1aGET / HTTP/1.1\r\n\r\n"),
                Arguments.of(Framing.lengthPrefixed(2, ByteOrder.LITTLE_ENDIAN, 8), "\1\0a\11\0123456789\1\0b"),
                Arguments.of(Framing.varintPrefixed(8), "\1a\11123456789\1b"),
                Arguments.of(Framing.varintPrefixed(8), "\1a\377\377\377\377\177garbage"),
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
    @DisplayName("srv-11: a varint of more than five bytes is refused; one that is padded to five is not")
    void varints() throws Exception {
        for (int buffer = 1; buffer <= 12; buffer++) {
            Told told = send(Framing.varintPrefixed(8), buffer, bytes("\201\200\200\200\0a\201\200\200\200\200\0b"));
            assertThat(told.log).containsExactly("a");
            assertThat(told.error)
                    .isInstanceOf(ProtocolException.class)
                    .hasMessageContaining("a length of more than 5 bytes");
        }
        Framing large = Framing.varintPrefixed(1 << 28);
        assertThat(large.encode(ByteBuffer.allocate(127)).get(0)).isEqualTo((byte) 127);
        ByteBuffer encoded = large.encode(ByteBuffer.allocate(300));
        assertThat(encoded.remaining()).isEqualTo(302);
        assertThat(encoded.get()).isEqualTo((byte) (300 & 0x7F | 0x80));
        assertThat(encoded.get()).isEqualTo((byte) (300 >> 7));
    }

    // ---- Framings of the user's ----

    @Test
    @DisplayName("srv-11: the end of a frame may be found late, in bytes that were kept")
    void foundLate() throws Exception {
        String wire = "OneTwoABThreeEnd";
        for (int buffer = 1; buffer <= wire.length(); buffer++) {
            Told told = send(new OwnFramings.Words(20), buffer, bytes(wire));
            assertThat(told.log).containsExactly("One", "Two", "A", "B", "Three");
            assertThat(told.error).isInstanceOf(EOFException.class).hasMessageContaining("3 bytes came");
        }
    }

    @Test
    @DisplayName("srv-11: a framing with a state has one for each connection")
    void stateOfItsOwn() throws Exception {
        Told told = new Told();
        try (TcpServer server = serve(new OwnFramings.Paragraphs().within(Duration.ofHours(1)), 100, told);
                Socket one = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort());
                Socket two = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            one.getOutputStream().write(bytes("1\nfirst\n3\na\n"));
            assertThat(told.log.poll(10, TimeUnit.SECONDS)).isEqualTo("first\n");
            two.getOutputStream().write(bytes("1\nsecond\n2\n"));
            assertThat(told.log.poll(10, TimeUnit.SECONDS)).isEqualTo("second\n");
            one.getOutputStream().write(bytes("b\nc\n"));
            assertThat(told.log.poll(10, TimeUnit.SECONDS)).isEqualTo("a\nb\nc\n");
            two.getOutputStream().write(bytes("d\ne\n"));
            assertThat(told.log.poll(10, TimeUnit.SECONDS)).isEqualTo("d\ne\n");
            assertThat(told.error).isNull();
        }
    }

    @Test
    @DisplayName(
            "srv-11: a framing's maximum holds, though it does not look at it itself: what is announced and what has"
                    + " no end")
    void maximum() throws Exception {
        for (int buffer = 1; buffer <= 20; buffer++) {
            // With its head and the comma that are 13 bytes, and 14.
            Told told = send(new OwnFramings.Netstrings(13), buffer, bytes("9:123456789,10:1234567890,11:"));
            assertThat(told.log).as("%s bytes at once", buffer).containsExactly("123456789");
            assertThat(told.error)
                    .isInstanceOf(ProtocolException.class)
                    .hasMessageContaining("a frame of 14 bytes came, and 13 is the maximum");
            told = send(new OwnFramings.Words(5), buffer, bytes("Four4Abcd"));
            assertThat(told.log).as("%s bytes at once", buffer).isEmpty();
            assertThat(told.error).isInstanceOf(ProtocolException.class).hasMessageContaining("more than 5 bytes");
        }
        Told told = send(new OwnFramings.Words(6), 1, bytes("Four4A"));
        assertThat(told.log).containsExactly("Four4");
    }

    @Test
    @DisplayName("srv-11: what a framing refuses is told as it is, and closes the connection")
    void refuses() throws Exception {
        Told told = send(new OwnFramings.Netstrings(13), 100, bytes("1:a,x"));
        assertThat(told.log).containsExactly("a");
        assertThat(told.error).isInstanceOf(ProtocolException.class).hasMessageContaining("begins with digits");
    }

    static Stream<Arguments> wrong() {
        return Stream.of(
                wrong("an index of 1", bytes -> bytes.get(bytes.size())),
                wrong("a negative index", bytes -> bytes.get(-1)),
                wrong("a long number", bytes -> bytes.unsigned(0, 5, ByteOrder.BIG_ENDIAN)),
                wrong("a number behind the end", bytes -> bytes.unsigned(0, 2, ByteOrder.BIG_ENDIAN)),
                wrong("nothing wanted", bytes -> bytes.indexOf(new byte[0], 0)),
                wrong("an empty frame of no bytes", bytes -> bytes.frame(0)),
                wrong("a negative end", bytes -> bytes.frame(-1)),
                wrong("a negative beginning", bytes -> bytes.frame(-1, 1, 1)),
                wrong("an end before the beginning", bytes -> bytes.frame(1, 0, 1)),
                wrong("an end behind the frame", bytes -> bytes.frame(0, 2, 1)),
                wrong("two frames", bytes -> {
                    bytes.frame(1);
                    bytes.frame(1);
                }),
                wrong("an error", bytes -> {
                    throw new AssertionError("as asked");
                }));
    }

    private static Arguments wrong(String what, Consumer<FrameBytes> finder) {
        return Arguments.of(new OwnFramings.Wrong() {
            @Override
            public void find(FrameBytes bytes) {
                finder.accept(bytes);
            }

            @Override
            public String toString() {
                return "a framing with " + what;
            }
        });
    }

    @ParameterizedTest
    @MethodSource("wrong")
    @DisplayName("srv-11: a framing that does something wrong closes that connection with an error that names it, and"
            + " nothing else")
    void misbehaves(Framing framing) throws Exception {
        LinkedBlockingQueue<String> errors = new LinkedBlockingQueue<>();
        Told told = new Told() {
            @Override
            public void onConnect(Connection connection) {
                if (connection.id() == 1) {
                    connection.setFraming(framing);
                }
            }

            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {
                assertThat(failure).isInstanceOf(IllegalStateException.class).hasCauseInstanceOf(Throwable.class);
                errors.add(connection + " " + failure.getMessage());
            }
        };
        try (TcpServer server = serve(Framing.lines(10), 100, told);
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort());
                Socket other = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.getOutputStream().write('x');
            assertThat(errors.poll(10, TimeUnit.SECONDS))
                    .startsWith("connection 1 with")
                    .contains("its framing, " + framing + ", failed");
            assertThat(told.all()).isEmpty();
            other.getOutputStream().write(bytes("fine\n"));
            assertThat(told.log.poll(10, TimeUnit.SECONDS)).isEqualTo("fine");
            assertThat(errors).isEmpty();
        }
    }

    @Test
    @DisplayName("srv-11: a framing can look at each byte once, and is not asked again once it has told the end")
    void eachByteOnce() throws Exception {
        List<String> asked = new ArrayList<>();
        OwnFramings.Wrong framing = bytes -> {
            asked.add(bytes.searched() + " of " + bytes.size());
            if (bytes.size() >= 3) {
                bytes.frame(1, 5, 6);
            }
        };
        FrameBuffer buffer = new FrameBuffer();
        for (int i = 0; i < 5; i++) {
            look(buffer, framing, ByteBuffer.wrap(new byte[] {(byte) ('0' + i)}));
            assertThat(buffer.isComplete()).isFalse();
            buffer.keep();
        }
        look(buffer, framing, ByteBuffer.wrap(bytes("567")));
        assertThat(asked).containsExactly("0 of 1", "1 of 2", "2 of 3");
        assertThat(buffer.isComplete()).isTrue();
        assertThat(ISO_8859_1.decode(buffer.beginFrame()).toString()).isEqualTo("1234");
        buffer.endFrame();
        assertThat(buffer.available()).isEqualTo(2);
        assertThat(buffer.get(0)).isEqualTo((byte) '6');
        assertThatThrownBy(() -> buffer.frame(1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("srv-11: what is looked for is found in the bytes that were kept, in those that came, and across")
    void indexOf() throws Exception {
        String text = "..ab.aab....abab";
        for (int kept = 0; kept <= text.length(); kept++) {
            FrameBuffer buffer = new FrameBuffer();
            buffer.add(ByteBuffer.wrap(bytes(text.substring(0, kept))));
            buffer.keep();
            // Not at the beginning of its buffer, and with more behind its limit.
            byte[] rest = bytes("ab" + text.substring(kept) + "ab");
            buffer.add(ByteBuffer.wrap(rest, 2, rest.length - 4));
            OwnFramings.Wrong sees = bytes -> assertThat(bytes.size()).isEqualTo(text.length());
            buffer.find(sees, 100);
            for (String wanted : List.of("a", "b", "ab", "aab", "abab", ".", "..ab", "x", "abx", text, text + "a")) {
                for (int from = -2; from <= text.length() + 1; from++) {
                    assertThat(buffer.indexOf(bytes(wanted), from))
                            .as("%s from %s, with %s kept", wanted, from, kept)
                            .isEqualTo(text.indexOf(wanted, from));
                }
            }
            assertThat(buffer.indexOf(bytes("ab"), Integer.MAX_VALUE)).isEqualTo(-1);
            // It sees no more than the longest frame.
            for (int visible = 1; visible <= text.length(); visible++) {
                String seen = text.substring(0, visible);
                OwnFramings.Wrong searches = bytes -> {
                    assertThat(bytes.size()).isEqualTo(seen.length());
                    assertThat(bytes.indexOf(bytes("bab"), 0)).isEqualTo(seen.indexOf("bab"));
                    assertThat(bytes.indexOf(bytes("b"), 3)).isEqualTo(seen.indexOf("b", 3));
                    assertThatThrownBy(() -> bytes.get(seen.length())).isInstanceOf(IndexOutOfBoundsException.class);
                    assertThat(bytes.get(seen.length() - 1)).isEqualTo((byte) seen.charAt(seen.length() - 1));
                };
                int most = visible;
                assertThatThrownBy(() -> buffer.find(searches, most)).isInstanceOf(ProtocolException.class);
            }
        }
    }

    @Test
    @DisplayName("mr-9: a frame that came in one read is where it was read, without a copy; another is in memory of its"
            + " own")
    void noCopy() throws Exception {
        FrameBuffer buffer = new FrameBuffer();
        ByteBuffer read = ByteBuffer.wrap(bytes("one\ntw"));
        look(buffer, Framing.lines(10), read);
        ByteBuffer frame = buffer.beginFrame();
        assertThat(frame).isSameAs(read);
        frame.clear().get(); // whatever its reader does to it
        buffer.endFrame();
        assertThat(read.remaining()).isEqualTo(2);
        buffer.keep();
        ByteBuffer next = ByteBuffer.wrap(bytes("o\n"));
        look(buffer, Framing.lines(10), next);
        assertThat(buffer.beginFrame().array()).isNotSameAs(next.array());
        buffer.endFrame();
        assertThat(buffer.available()).isZero();
    }

    @Test
    @DisplayName("mr-9, srv-11: memory grows with what has arrived, and not with the length that was announced")
    void notAsAnnounced() throws Exception {
        FrameBuffer buffer = new FrameBuffer();
        look(buffer, Framing.exactly(Integer.MAX_VALUE - 8), ByteBuffer.allocate(1000));
        buffer.keep(); // would not fit in the memory of a test
        assertThat(buffer.isFound()).isTrue();
        assertThat(buffer.isComplete()).isFalse();
        assertThat(buffer.available()).isEqualTo(1000);
        buffer.drop();
        assertThat(buffer.available()).isZero();
        assertThat(buffer.isFound()).isFalse();
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
        assertThat(told.error).isInstanceOf(EOFException.class).hasMessageContaining("2 bytes came");
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
        return ConnectionProbe.isWatched(connection);
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
        assertThatThrownBy(() -> Framing.lengthPrefixed(5, 10)).isInstanceOf(IllegalArgumentException.class);
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
        assertThat(Framing.delimited(new byte[2], Integer.MAX_VALUE - 10).maxBytes())
                .isEqualTo(Integer.MAX_VALUE - 8);
        Framing lines = Framing.lines(2);
        assertThatThrownBy(() -> Framing.lengthPrefixed(4, Integer.MAX_VALUE - 11))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(Framing.lengthPrefixed(4, Integer.MAX_VALUE - 12).maxBytes()).isEqualTo(Integer.MAX_VALUE - 8);
        assertThat(Framing.lengthPrefixed(3, (1 << 24) - 1).maxBytes()).isEqualTo((1 << 24) + 2);
        assertThatThrownBy(() -> Framing.lengthPrefixed(3, 1 << 24)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Framing.lengthPrefixed(0, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Framing.varintPrefixed(Integer.MAX_VALUE - 12))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(Framing.varintPrefixed(Integer.MAX_VALUE - 13).maxBytes()).isEqualTo(Integer.MAX_VALUE - 8);
        assertThatThrownBy(() -> Framing.exactly(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Framing.exactly(2).encode(ByteBuffer.allocate(3)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Framing.varintPrefixed(2).encode(ByteBuffer.allocate(3)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new OwnFramings.Words(5).encode(ByteBuffer.allocate(3)))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("override encode");
        assertThatThrownBy(() -> lines.frames(lines.frames((connection, data) -> {})))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("srv-11: a framing with a limit of time is otherwise the same; without one it is itself")
    void withALimit() {
        Framing lines = Framing.lines(10);
        Framing timed = lines.within(Duration.ofSeconds(3));
        assertThat(lines.timeLimit()).isZero();
        assertThat(timed.timeLimit()).isEqualTo(Duration.ofSeconds(3));
        assertThat(timed.maxBytes()).isEqualTo(11);
        assertThat(timed.encode(ByteBuffer.wrap(bytes("a"))).array()).containsExactly('a', '\n');
        assertThat(timed.within(Duration.ofSeconds(4)).timeLimit()).isEqualTo(Duration.ofSeconds(4));
        assertThat(timed.within(Duration.ZERO)).isSameAs(lines);
        assertThat(ConnectionProbe.framing(timed)).isSameAs(lines);
        assertThat(ConnectionProbe.withinNanos(timed)).isEqualTo(3_000_000_000L);
        OwnFramings.Wrong own = new OwnFramings.Wrong() {
            @Override
            public void find(FrameBytes bytes) {}

            @Override
            public Framing forConnection() {
                return timed;
            }
        };
        assertThat(ConnectionProbe.framing(own)).isSameAs(lines);
        assertThat(ConnectionProbe.withinNanos(own)).isEqualTo(3_000_000_000L);
        assertThat(ConnectionProbe.withinNanos(own.within(Duration.ofSeconds(1))))
                .isEqualTo(1_000_000_000L);
        assertThat(ConnectionProbe.framing(Framing.none().within(Duration.ofSeconds(1))))
                .isSameAs(Framing.none());
    }

    @Test
    @DisplayName("srv-11: bytes as they come, and one frame, as framings like any other")
    void noneAndExactly() throws Exception {
        ByteBuffer abc = ByteBuffer.wrap(bytes("abc"));
        assertThat(Framing.none().encode(abc).array()).containsExactly('a', 'b', 'c');
        assertThat(Framing.exactly(3).encode(abc).array()).containsExactly('a', 'b', 'c');
        FrameBuffer buffer = new FrameBuffer();
        look(buffer, Framing.none(), abc);
        assertThat(ISO_8859_1.decode(buffer.beginFrame()).toString()).isEqualTo("abc");
        buffer.endFrame();
        assertThat(send(Framing.none(), 100, bytes("abc")).log).containsExactly("abc");
    }

    @Test
    void sayWhatTheyAre() {
        assertThat(Framing.fixed(3)).hasToString("frames of 3 bytes");
        assertThat(Framing.lengthPrefixed(2, 8)).hasToString("frames of up to 8 bytes behind their length of 2 bytes");
        assertThat(CRLF).hasToString("frames of up to 8 bytes before a delimiter of 2");
        assertThat(Framing.lengthPrefixed(2, ByteOrder.LITTLE_ENDIAN, 8))
                .hasToString("frames of up to 8 bytes behind their length of 2 bytes, little endian");
        assertThat(Framing.varintPrefixed(8)).hasToString("frames of up to 8 bytes behind their length as a varint");
        assertThat(Framing.exactly(5)).hasToString("one frame of 5 bytes");
        assertThat(Framing.none()).hasToString("bytes as they come");
        assertThat(Framing.fixed(3).within(Duration.ofSeconds(2))).hasToString("frames of 3 bytes within 2000 ms");
        ConnectionHandler handler = new Told() {
            @Override
            public String toString() {
                return "a handler";
            }
        };
        assertThat(Framing.fixed(3).frames(handler)).hasToString("frames of 3 bytes to a handler");
    }
}
