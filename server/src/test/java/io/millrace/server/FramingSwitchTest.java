package io.millrace.server;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.server.connection.ConnectionProbe;
import io.millrace.server.connection.StreamConnection;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@DisplayName("A framing that is set on a live connection")
@Timeout(60)
class FramingSwitchTest {
    private static final Framing HEAD = Framing.delimited("\r\n\r\n".getBytes(ISO_8859_1), 100);

    private static Reactors reactors;

    @BeforeAll
    static void open() {
        reactors = Reactors.builder().reactors(1).name("switch").open();
    }

    @AfterAll
    static void close() {
        reactors.close();
    }

    /** What a handler does with what it was given. */
    interface Step {
        void take(Connection connection, String text, ByteBuffer buffer) throws Exception;
    }

    /** Writes down what it is told, and does as it is asked. */
    private static final class Told implements ConnectionHandler {
        final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
        final CompletableFuture<Connection> connected = new CompletableFuture<>();
        final CountDownLatch over = new CountDownLatch(1);
        final Consumer<Connection> begin;
        final Step step;
        volatile @Nullable Throwable error;

        Told(Consumer<Connection> begin, Step step) {
            this.begin = begin;
            this.step = step;
        }

        @Override
        public void onConnect(Connection connection) {
            begin.accept(connection);
            connected.complete(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) throws Exception {
            String text = ISO_8859_1.decode(data.duplicate()).toString();
            log.add(text);
            step.take(connection, text, data);
        }

        @Override
        public void onEndOfInput(Connection connection) {
            log.add("end");
            connection.close();
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            error = failure;
        }

        @Override
        public void onDisconnect(Connection connection) {
            over.countDown();
        }

        Connection connection() throws Exception {
            return connected.get(10, TimeUnit.SECONDS);
        }

        String next() throws Exception {
            return String.valueOf(log.poll(10, TimeUnit.SECONDS));
        }

        List<String> all() throws InterruptedException {
            assertThat(over.await(30, TimeUnit.SECONDS)).isTrue();
            return new ArrayList<>(log);
        }
    }

    private static TcpServer serve(Dispatch mode, int buffer, ConnectionHandler handler) throws IOException {
        return TcpServer.builder()
                .manager(reactors)
                .bufferSize(buffer)
                .dispatch(mode, 1)
                .start(handler);
    }

    private static Socket connect(TcpServer server) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), server.address().getPort());
    }

    private static void write(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(ISO_8859_1));
    }

    /** Sends text to a server that reads so many bytes at once, and ends; what the handler was told, with the end. */
    private static Told send(Dispatch mode, int buffer, Told told, String text) throws Exception {
        try (TcpServer server = serve(mode, buffer, told);
                Socket socket = connect(server)) {
            write(socket, text);
            socket.shutdownOutput();
            told.all();
        }
        return told;
    }

    private static Told http() {
        return new Told(connection -> connection.setFraming(HEAD), (connection, text, buffer) -> {
            if (connection.attachment() == null) {
                connection.setAttachment(text);
                connection.setFraming(
                        Framing.exactly(Integer.parseInt(text.replaceFirst("(?s).*Length: (\\d+).*", "$1"))));
            } else {
                connection.setAttachment(null);
                connection.setFraming(HEAD);
            }
        });
    }

    private static final List<String> REQUESTS =
            List.of("POST /a\r\nLength: 5", "hello", "GET /b\r\nLength: 0", "", "PUT /c\r\nLength: 6", "\r\n\r\n\r\n");

    private static String wire() {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < REQUESTS.size(); i++) {
            all.append(REQUESTS.get(i)).append(i % 2 == 0 ? "\r\n\r\n" : "");
        }
        return all.toString();
    }

    private static List<String> withEnd(List<String> told) {
        List<String> all = new ArrayList<>(told);
        all.add("end");
        return all;
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-11: heads and bodies, pipelined, are the same however the reads are cut, empty bodies too")
    void headsAndBodies(Dispatch mode) throws Exception {
        String wire = wire();
        for (int buffer = 1; buffer <= wire.length() + 1; buffer++) {
            Told told = send(mode, buffer, http(), wire);
            assertThat(told.log).as("%s bytes at once", buffer).containsExactlyElementsOf(withEnd(REQUESTS));
            assertThat(told.error).isNull();
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-11: heads and bodies, cut in two at every byte")
    void cutInTwo(Dispatch mode) throws Exception {
        String wire = wire();
        for (int cut = 1; cut < wire.length(); cut++) {
            int first = cut;
            Told told = http();
            try (TcpServer server = serve(mode, 1000, told);
                    Socket socket = connect(server)) {
                StreamConnection connection = (StreamConnection) told.connection();
                write(socket, wire.substring(0, cut));
                await().pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(1))
                        .until(() -> connection.bytesReceived() == first);
                write(socket, wire.substring(cut));
                socket.shutdownOutput();
                assertThat(told.all()).as("cut at %s", cut).containsExactlyElementsOf(withEnd(REQUESTS));
                assertThat(told.error).isNull();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName(
            "srv-11: an upgrade in the middle of a read: from lines to lengths, to a framing of the user's, to raw")
    void upgrade(Dispatch mode) throws Exception {
        String wire = "one\nupgrade\n\0\3a\nb\0\4netc6:x\ny:z,,3:raw,rest\n1:";
        for (int buffer = 1; buffer <= wire.length() + 1; buffer++) {
            Told told = send(
                    mode,
                    buffer,
                    new Told(connection -> connection.setFraming(Framing.lines(20)), (connection, text, data) -> {
                        switch (text) {
                            case "upgrade" -> connection.setFraming(Framing.lengthPrefixed(2, 20));
                            case "netc" -> connection.setFraming(new OwnFramings.Netstrings(20));
                            case "raw" -> connection.setFraming(Framing.none());
                            default -> {}
                        }
                    }),
                    wire);
            assertThat(told.error).isNull();
            List<String> log = told.all();
            assertThat(log.subList(0, 6))
                    .as("%s bytes at once", buffer)
                    .containsExactly("one", "upgrade", "a\nb", "netc", "x\ny:z,", "raw");
            assertThat(String.join("", log.subList(6, log.size()))).isEqualTo("rest\n1:end");
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-11: a callback without a framing leaves to the framing that it sets what it has not consumed")
    void fromRaw(Dispatch mode) throws Exception {
        // First as the connection begins, then after it was framed; the second time it lowers the limit, and throws.
        Told told = send(
                mode,
                100,
                new Told(connection -> {}, (connection, text, data) -> {
                    switch (text) {
                        case "skip a\nline\n--last\n" -> {
                            data.get(new byte[5]);
                            connection.setFraming(Framing.lines(20));
                        }
                        case "line" -> connection.setFraming(Framing.none());
                        case "--last\n" -> {
                            data.limit(data.position() + 2).get(new byte[2]);
                            connection.setFraming(Framing.lines(20));
                            throw new IOException("as asked");
                        }
                        default -> {}
                    }
                }),
                "skip a\nline\n--last\n");
        assertThat(told.all()).containsExactly("skip a\nline\n--last\n", "a", "line", "--last\n", "last", "end");
        assertThat(told.error).hasMessage("as asked");
    }

    @Test
    @DisplayName(
            "srv-11: bytes that were kept are given to a callback without a framing, which may leave a part of them")
    void keptAndRaw() throws Exception {
        Told told = new Told(connection -> connection.setFraming(Framing.lines(20)), (connection, text, data) -> {
            if (text.equals("abcdef")) {
                data.get();
                connection.setFraming(Framing.fixed(2));
            }
        });
        try (TcpServer server = serve(Dispatch.LOOP, 100, told);
                Socket socket = connect(server)) {
            write(socket, "line\nabcdef");
            assertThat(told.next()).isEqualTo("line");
            told.connection().setFraming(Framing.none());
            assertThat(told.next()).isEqualTo("abcdef");
            assertThat(told.next()).isEqualTo("bc");
            assertThat(told.next()).isEqualTo("de");
            write(socket, "gh");
            assertThat(told.next()).isEqualTo("fg");
            Connection connection = told.connection();
            assertThat(ConnectionProbe.hasDecoder(connection)).isTrue();
            connection.setFraming(Framing.none());
            assertThat(told.next()).isEqualTo("h");
            await().untilAsserted(() -> assertThat(ConnectionProbe.hasDecoder(connection))
                    .as("costs nothing any more")
                    .isFalse());
            write(socket, "i");
            assertThat(told.next()).isEqualTo("i");
            assertThat(told.error).isNull();
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-11: set by another thread, it gets what was kept, which may be several frames or half of one")
    void fromElsewhere(Dispatch mode) throws Exception {
        Told told = new Told(connection -> connection.setFraming(Framing.lines(20)), (connection, text, data) -> {});
        try (TcpServer server = serve(mode, 100, told);
                Socket socket = connect(server)) {
            write(socket, "line\nabcde");
            assertThat(told.next()).isEqualTo("line");
            told.connection().setFraming(Framing.fixed(2));
            assertThat(told.next()).isEqualTo("ab");
            assertThat(told.next()).isEqualTo("cd");
            assertThat(told.log).isEmpty();
            write(socket, "fg");
            assertThat(told.next()).isEqualTo("ef");
            told.connection().setFraming(Framing.none());
            assertThat(told.next()).isEqualTo("g");
            told.connection().setFraming(Framing.exactly(0));
            assertThat(told.next()).isEmpty();
            assertThat(told.error).isNull();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Dispatch.class,
            names = {"POOL", "VIRTUAL"})
    @DisplayName("srv-11: frames that a new framing finds in what was kept are told before the end of the input")
    void beforeTheEnd(Dispatch mode) throws Exception {
        CountDownLatch setMeanwhile = new CountDownLatch(1);
        Told told = new Told(connection -> connection.setFraming(Framing.lines(20)), (connection, text, data) -> {
            if (text.equals("line")) {
                setMeanwhile.await();
            }
        });
        try (TcpServer server = serve(mode, 100, told);
                Socket socket = connect(server)) {
            write(socket, "line\nabcde");
            assertThat(told.next()).isEqualTo("line");
            told.connection().setFraming(Framing.fixed(2));
            socket.shutdownOutput();
            CompletableFuture<Void> known = new CompletableFuture<>();
            // The loop has handed over the end when it comes to this a second time.
            reactors.execute(() -> reactors.execute(() -> known.complete(null)));
            known.get(10, TimeUnit.SECONDS);
            setMeanwhile.countDown();
            assertThat(told.all()).containsExactly("ab", "cd", "end");
            assertThat(told.error).isInstanceOf(EOFException.class).hasMessageContaining("1 bytes came");
        }
    }

    // ---- One frame ----

    @Test
    @DisplayName(
            "srv-11: one frame of exact length is expected as soon as it is set: no byte of it before the end is an"
                    + " error")
    void expectedBeforeTheEnd() throws Exception {
        Told told = send(Dispatch.LOOP, 100, http(), "POST /a\r\nLength: 5\r\n\r\n");
        assertThat(told.error).isInstanceOf(EOFException.class).hasMessageContaining("0 bytes came");
        assertThat(told.all()).containsExactly("POST /a\r\nLength: 5", "end");
    }

    @Test
    @DisplayName("srv-11: bytes behind one frame of exact length, whose callback has set nothing, close the connection")
    void nothingFollows() throws Exception {
        for (String more : List.of("", "x")) {
            Told told = send(
                    Dispatch.LOOP,
                    100,
                    new Told(connection -> connection.setFraming(Framing.exactly(3)), (connection, text, data) -> {}),
                    "abc" + more);
            assertThat(told.log).contains("abc");
            if (more.isEmpty()) {
                assertThat(told.error).isNull();
            } else {
                assertThat(told.error)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("one frame of 3 bytes")
                        .hasMessageContaining("call setFraming");
            }
        }
    }

    // ---- Time ----

    private final ManualClock clock = new ManualClock();

    private interface Timing {
        void run(Reactors loops, Told told, Socket socket) throws Exception;
    }

    private void timed(Dispatch mode, Told told, Timing timing) throws Exception {
        try (Reactors loops = Reactors.builder()
                        .reactors(1)
                        .clock(clock)
                        .withoutWatchdog()
                        .name("manual")
                        .open();
                TcpServer server =
                        TcpServer.builder().manager(loops).dispatch(mode, 1).start(told);
                Socket socket = connect(server)) {
            timing.run(loops, told, socket);
        }
    }

    private void advance(Reactors loops, Duration by) throws Exception {
        clock.advance(by);
        for (int i = 0; i < 2; i++) {
            CompletableFuture<Void> turned = new CompletableFuture<>();
            loops.execute(() -> turned.complete(null));
            turned.get(10, TimeUnit.SECONDS);
        }
    }

    private static void awaitWatched(Told told) throws Exception {
        Connection connection = told.connection();
        await().until(() -> ConnectionProbe.isWatched(connection));
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-11: the time limit is that of the new framing, from when it was set; the old one's is over")
    void timeFollows(Dispatch mode) throws Exception {
        Framing lines = Framing.lines(20);
        timed(
                mode,
                new Told(
                        connection -> connection.setFraming(lines.within(Duration.ofSeconds(10))),
                        (connection, text, data) -> connection.setFraming(lines.within(Duration.ofSeconds(60)))),
                (loops, told, socket) -> {
                    write(socket, "half");
                    awaitWatched(told);
                    write(socket, " of it\nhalf");
                    assertThat(told.next()).isEqualTo("half of it");
                    awaitWatched(told);
                    advance(loops, Duration.ofSeconds(11));
                    assertThat(told.error).isNull();
                    // The shorter one does not wait for the alarm of the longer one.
                    told.connection()
                            .setFraming(new OwnFramings.Words(20)
                                    .within(Duration.ofHours(1))
                                    .within(Duration.ofSeconds(5)));
                    told.connection().execute(() -> told.log.add("set"));
                    assertThat(told.next()).isEqualTo("set");
                    awaitWatched(told);
                    advance(loops, Duration.ofSeconds(5).minusNanos(1));
                    assertThat(told.error).isNull();
                    advance(loops, Duration.ofNanos(1));
                    assertThat(told.all()).isEmpty();
                    assertThat(told.error)
                            .isInstanceOf(SocketTimeoutException.class)
                            .hasMessageContaining("4 bytes came took longer than 5000 ms");
                });
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-11: the time of one frame of exact length runs from when it is set, though no byte of it came")
    void timeOfABody(Dispatch mode) throws Exception {
        timed(
                mode,
                new Told(
                        connection -> connection.setFraming(HEAD),
                        (connection, text, data) ->
                                connection.setFraming(Framing.exactly(5).within(Duration.ofSeconds(5)))),
                (loops, told, socket) -> {
                    write(socket, "head\r\n\r\n");
                    assertThat(told.next()).isEqualTo("head");
                    awaitWatched(told);
                    advance(loops, Duration.ofSeconds(5));
                    assertThat(told.all()).isEmpty();
                    assertThat(told.error)
                            .isInstanceOf(SocketTimeoutException.class)
                            .hasMessageContaining("0 bytes came");
                });
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-11, end-7: a framing without a time limit, or none, leaves no alarm of the one before")
    void noAlarmIsLeft(Dispatch mode) throws Exception {
        for (Framing next : List.of(Framing.lines(20), Framing.none())) {
            timed(
                    mode,
                    new Told(
                            connection ->
                                    connection.setFraming(Framing.lines(20).within(Duration.ofHours(1))),
                            (connection, text, data) -> {}),
                    (loops, told, socket) -> {
                        write(socket, "half");
                        awaitWatched(told);
                        await().until(() -> pending(loops) == 1);
                        told.connection().setFraming(next);
                        await().until(() -> pending(loops) == 0);
                        assertThat(told.connection().isClosed()).isFalse();
                    });
        }
    }

    private long pending(Reactors loops) throws Exception {
        advance(loops, Duration.ZERO);
        return loops.metrics().alarmsPending();
    }

    // ---- Where it can be set ----

    @Test
    @DisplayName("srv-11: what a framing does wrong when it is set is thrown where it is set, and the old one stays")
    void refusedWhereItIsSet() throws Exception {
        Framing noMaximum = new OwnFramings.Words(0);
        Framing noFraming = new OwnFramings.Wrong() {
            @Override
            public void find(FrameBytes bytes) {}

            @Override
            @SuppressWarnings("NullAway") // that is what is wrong
            public Framing forConnection() {
                return null;
            }
        };
        Framing noTime = new OwnFramings.Wrong() {
            @Override
            public void find(FrameBytes bytes) {}

            @Override
            public Duration timeLimit() {
                return Duration.ofSeconds(-1);
            }
        };
        Told told = new Told(connection -> connection.setFraming(Framing.lines(20)), (connection, text, data) -> {});
        try (TcpServer server = serve(Dispatch.LOOP, 100, told);
                Socket socket = connect(server)) {
            Connection connection = told.connection();
            assertThatThrownBy(() -> connection.setFraming(noMaximum))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("maxBytes");
            assertThatThrownBy(() -> connection.setFraming(noFraming))
                    .isInstanceOf(NullPointerException.class)
                    .hasMessageContaining("forConnection");
            assertThatThrownBy(() -> connection.setFraming(noTime)).isInstanceOf(IllegalArgumentException.class);
            write(socket, "line\n");
            assertThat(told.next()).isEqualTo("line");
            connection.close();
            told.all();
            connection.setFraming(Framing.exactly(0)); // too late, and nobody's failure
            assertThat(told.error).isNull();
        }
    }

    @Test
    @DisplayName("srv-11, srv-10: in a handler per connection, by frames or by itself, and in a client")
    void perConnection() throws Exception {
        Framing lines = Framing.lines(20);
        LinkedBlockingQueue<String> got = new LinkedBlockingQueue<>();
        try (TcpServer framed = TcpServer.builder()
                        .manager(reactors)
                        .start(connection -> lines.frames((same, line) -> same.send(lines.encode(line))));
                TcpServer own = TcpServer.builder().manager(reactors).start(connection -> {
                    connection.setFraming(lines);
                    return (same, line) -> same.send(lines.encode(line));
                });
                TcpClient client = TcpClient.builder().manager(reactors).open()) {
            for (TcpServer server : List.of(framed, own)) {
                ConnectionHandler handler = lines.frames(
                        (connection, line) -> got.add(ISO_8859_1.decode(line).toString()));
                Connection connection =
                        client.connect(server.address(), handler).get(10, TimeUnit.SECONDS);
                connection.send("on");
                connection.send("e\ntwo\nthr");
                assertThat(got.poll(10, TimeUnit.SECONDS)).isEqualTo("one");
                assertThat(got.poll(10, TimeUnit.SECONDS)).isEqualTo("two");
            }
        }
    }
}
