package io.millrace.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.engine.VirtualThreadReport;
import io.millrace.net.Resolver;
import io.millrace.poll.ManualClock;
import java.io.BufferedReader;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Run twice: in a JVM that lets virtual threads run on loops, and in one that does not. */
@DisplayName("Servers in direct style")
@Timeout(30)
@SuppressWarnings("try") // closed early, on purpose
class DirectServerTest {
    /** Whether this JVM was started so that virtual threads can run on loops. */
    private static final boolean ALLOWED =
            Boolean.parseBoolean(System.getProperty("millrace.test.loopThreads", "true"));

    private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();

    /** Where the loops are, and where the conversations. */
    record Place(String backend, boolean onLoops) {
        Reactors open() {
            return Reactors.builder()
                    .reactors(1)
                    .backend(backend)
                    .withoutWatchdog()
                    .name("test")
                    .open();
        }

        DirectServer start(Reactors on, Conversation conversation) throws IOException {
            return DirectServer.start(TcpServer.builder().manager(on).loopThreads(onLoops), conversation);
        }

        @Override
        public String toString() {
            return backend + (onLoops ? ", on the loop" : ", on the JDK's scheduler");
        }
    }

    static Stream<Arguments> places() {
        Stream<String> backends = Stream.of("epoll", "poll", "nio");
        return !ALLOWED
                ? backends.map(backend -> Arguments.of(new Place(backend, true)))
                : backends.flatMap(
                        backend -> Stream.of(true, false).map(onLoops -> Arguments.of(new Place(backend, onLoops))));
    }

    private static Socket connect(DirectServer server) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(64 << 10);
        socket.connect(server.address());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(UTF_8));
    }

    private static BufferedReader reader(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
    }

    private static void echoLines(DirectSocket socket) throws IOException {
        for (String line = socket.readLine(1024); line != null; line = socket.readLine(1024)) {
            socket.write(line + "\n");
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 lines are echoed, whole or in pieces, and the end of the input ends the conversation")
    void echoesLines(Place place) throws Exception {
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, DirectServerTest::echoLines);
                Socket socket = connect(server)) {
            BufferedReader reader = reader(socket);
            send(socket, "one\ntwo\r\nthr");
            assertThat(reader.readLine()).isEqualTo("one");
            assertThat(reader.readLine()).isEqualTo("two");
            send(socket, "ee\n\n");
            assertThat(reader.readLine()).isEqualTo("three");
            assertThat(reader.readLine()).isEmpty();
            socket.shutdownOutput();
            assertThat(reader.readLine()).isNull();
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-2 where the JVM allows it, a conversation runs on the thread of its loop, whatever it waits for")
    void runsOnTheLoop(Place place) throws Exception {
        boolean expected = place.onLoops && VirtualThreadReport.probe().onLoops();
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    log.add(carrier());
                    socket.readLine(10);
                    log.add(carrier());
                    Thread.sleep(1);
                    log.add(carrier());
                    socket.write("done\n");
                });
                Socket socket = connect(server)) {
            assertThat(server.threads().onLoops()).isEqualTo(expected);
            send(socket, "go\n");
            assertThat(reader(socket).readLine()).isEqualTo("done");
            assertThat(log)
                    .hasSize(3)
                    .allSatisfy(carrier ->
                            assertThat(carrier.contains("test")).as(carrier).isEqualTo(expected));
        }
    }

    /** Returns the name of the thread that carries the calling one, which the JDK tells only here. */
    static String carrier() {
        String text = Thread.currentThread().toString();
        return text.substring(text.indexOf('@') + 1);
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 bytes can be read as they come, exactly so many, up to a delimiter, and as frames of any kind")
    void readsInEveryWay(Place place) throws Exception {
        Framing prefixed = Framing.lengthPrefixed(2, 100);
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    log.add(new String(socket.readExactly(3), UTF_8));
                    log.add(new String(socket.readUntil("||".getBytes(UTF_8), 100), UTF_8));
                    log.add(UTF_8.decode(socket.readFrame(prefixed)).toString());
                    log.add(UTF_8.decode(socket.readFrame(prefixed)).toString());
                    log.add(UTF_8.decode(socket.readFrame(Framing.exactly(2))).toString());
                    log.add(UTF_8.decode(socket.readFrame(Framing.exactly(0))).toString() + "nothing");
                    log.add(socket.readLine(100));
                    byte[] some = new byte[2];
                    log.add(new String(some, 0, socket.read(some, 0, 2), UTF_8));
                    log.add(UTF_8.decode(socket.readFrame(Framing.none())).toString());
                    log.add("" + socket.read(some, 0, 2));
                    log.add("" + socket.readLine(10));
                });
                Socket socket = connect(server)) {
            send(socket, "abcuntil||\0\3one\0\3twoXYline\nrest");
            socket.shutdownOutput();
            assertThat(reader(socket).readLine()).isNull();
            assertThat(log)
                    .containsExactly("abc", "until", "one", "two", "XY", "nothing", "line", "re", "st", "-1", "null");
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 an input that ends too early, and a line that is too long, are told by their exceptions")
    void badInput(Place place) throws Exception {
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    try {
                        String kind = socket.readLine(10);
                        if ("exactly".equals(kind)) {
                            socket.readExactly(10);
                        } else {
                            socket.readLine(3);
                        }
                    } catch (EOFException e) {
                        log.add("eof " + e.getMessage().contains("after 2 of 10 bytes"));
                    } catch (ProtocolException e) {
                        log.add(e.getMessage());
                    }
                })) {
            for (String input : List.of("exactly\nab", "line\nab", "line\nabcdef\n")) {
                try (Socket socket = connect(server)) {
                    send(socket, input);
                    socket.shutdownOutput();
                    assertThat(reader(socket).readLine()).isNull();
                }
            }
            assertThat(log.poll()).isEqualTo("eof true");
            assertThat(log.poll()).contains("ended in the middle of a frame, of which 2 bytes came");
            assertThat(log.poll()).contains("is the maximum");
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 megabytes go both ways in order, and a writer waits while its peer does not read")
    void backPressure(Place place) throws Exception {
        byte[] all = new byte[8 << 20];
        new Random(7).nextBytes(all);
        AtomicInteger written = new AtomicInteger();
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    byte[] in = socket.readExactly(all.length);
                    for (int at = 0; at < in.length; at += 1 << 16) {
                        socket.write(in, at, 1 << 16);
                        written.addAndGet(1 << 16);
                    }
                    socket.write(ByteBuffer.wrap(in));
                    written.addAndGet(in.length);
                });
                Socket socket = connect(server)) {
            socket.getOutputStream().write(all);
            await().until(() -> written.get() > 0);
            // It stops when the system's buffers and the high-water mark are full.
            await().during(Duration.ofMillis(200)).until(() -> written.get() < all.length);
            assertThat(socket.getInputStream().readNBytes(all.length)).isEqualTo(all);
            assertThat(socket.getInputStream().readNBytes(all.length)).isEqualTo(all);
            assertThat(socket.getInputStream().read()).isNegative();
            assertThat(written).hasValue(2 * all.length);
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 a read that takes longer than its limit throws, and the connection can still be used")
    void readTimeout(Place place) throws Exception {
        ManualClock clock = new ManualClock();
        try (Reactors reactors = Reactors.builder()
                        .reactors(1)
                        .backend(place.backend)
                        .clock(clock)
                        .withoutWatchdog()
                        .name("test")
                        .open();
                DirectServer server = place.start(reactors, socket -> {
                    socket.setReadTimeout(Duration.ofSeconds(5));
                    log.add("begun");
                    try {
                        socket.readLine(10);
                    } catch (SocketTimeoutException e) {
                        log.add("timeout");
                    }
                    socket.write(socket.readLine(10) + "\n");
                    socket.setReadTimeout(Duration.ZERO);
                    socket.setTimeLimit(Duration.ofSeconds(3));
                    log.add("limited");
                    try {
                        socket.readLine(10);
                    } catch (SocketTimeoutException e) {
                        log.add("timeout of all");
                    }
                });
                Socket socket = connect(server)) {
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("begun");
            await().until(() -> {
                clock.advance(Duration.ofSeconds(1));
                return "timeout".equals(log.poll(5, TimeUnit.MILLISECONDS));
            });
            send(socket, "on\n");
            assertThat(reader(socket).readLine()).isEqualTo("on");
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("limited");
            await().until(() -> {
                clock.advance(Duration.ofSeconds(1));
                return "timeout of all".equals(log.poll(5, TimeUnit.MILLISECONDS));
            });
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 a write that its peer holds up longer than its limit throws")
    void writeTimeout(Place place) throws Exception {
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    socket.setWriteTimeout(Duration.ofMillis(50));
                    try {
                        for (; ; ) {
                            socket.write(new byte[1 << 16]);
                        }
                    } catch (SocketTimeoutException e) {
                        log.add(e.getMessage());
                    }
                    socket.abort();
                });
                Socket socket = connect(server)) {
            assertThat(log.poll(20, TimeUnit.SECONDS)).contains("cannot write to", "time limit");
            assertThat(socket.isConnected()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 an interrupt wakes a read, its status stays set, and no byte is lost")
    void interrupt(Place place) throws Exception {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    thread.complete(Thread.currentThread());
                    try {
                        socket.readLine(10);
                    } catch (InterruptedIOException e) {
                        log.add("interrupted " + Thread.interrupted());
                    }
                    socket.write(socket.readLine(10) + "\n");
                });
                Socket socket = connect(server)) {
            send(socket, "be");
            thread.join().interrupt();
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("interrupted true");
            send(socket, "gun\n");
            assertThat(reader(socket).readLine()).isEqualTo("begun");
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 a close from elsewhere wakes a read and a write at once")
    void closedElsewhere(Place place) throws Exception {
        CompletableFuture<DirectSocket> opened = new CompletableFuture<>();
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    Thread writer = Thread.ofVirtual().start(() -> {
                        try {
                            for (; ; ) {
                                socket.write(new byte[1 << 16]);
                            }
                        } catch (IOException e) {
                            log.add("write " + e.getMessage().contains("closed by this side"));
                        }
                    });
                    opened.complete(socket);
                    try {
                        socket.read(new byte[1], 0, 1);
                    } catch (SocketException e) {
                        log.add("read " + e.getMessage().contains("closed by this side"));
                    }
                    writer.join();
                });
                Socket socket = connect(server)) {
            DirectSocket socketThere = opened.join();
            await().until(() -> !socketThere.connection().isWritable());
            socketThere.close();
            assertThat(List.of(
                            String.valueOf(log.poll(10, TimeUnit.SECONDS)),
                            String.valueOf(log.poll(10, TimeUnit.SECONDS))))
                    .containsExactlyInAnyOrder("read true", "write true");
            socket.close();
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 a peer that resets the connection wakes a read with the reason")
    void resetByPeer(Place place) throws Exception {
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    try {
                        log.add("read " + socket.read(new byte[1], 0, 1));
                    } catch (SocketException e) {
                        log.add("reset " + (e.getCause() instanceof IOException));
                    }
                })) {
            Socket socket = connect(server);
            await().until(() -> server.server().connectionsOpened() == 1);
            socket.setSoLinger(true, 0);
            socket.close();
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("reset true");
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 an idle connection is closed, and its conversation is told why")
    void idle(Place place) throws Exception {
        try (Reactors reactors = place.open();
                DirectServer server = DirectServer.start(
                        TcpServer.builder()
                                .manager(reactors)
                                .loopThreads(place.onLoops)
                                .idleTimeout(Duration.ofMillis(50)),
                        socket -> {
                            try {
                                socket.readLine(10);
                            } catch (SocketTimeoutException e) {
                                log.add(e.getMessage());
                            }
                        });
                Socket socket = connect(server)) {
            assertThat(log.poll(10, TimeUnit.SECONDS)).contains("idle for 50 ms");
            assertThat(socket.getInputStream().read()).isNegative();
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 a conversation that throws closes its connection and no other")
    void throwing(Place place) throws Exception {
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    String line = socket.readLine(10);
                    socket.write(line + "\n");
                    if ("bad".equals(line)) {
                        throw new IllegalStateException("on purpose");
                    }
                    echoLines(socket);
                });
                Socket good = connect(server);
                Socket bad = connect(server)) {
            BufferedReader reader = reader(good);
            send(good, "one\n");
            assertThat(reader.readLine()).isEqualTo("one");
            send(bad, "bad\n");
            BufferedReader other = reader(bad);
            assertThat(other.readLine()).isEqualTo("bad");
            assertThat(other.readLine()).isNull();
            send(good, "two\n");
            assertThat(reader.readLine()).isEqualTo("two");
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 a conversation that throws an exception whose causes go round in a circle disturbs no other")
    void causesInACircle(Place place) throws Exception {
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    if ("bad".equals(socket.readLine(10))) {
                        Exception one = new Exception("on purpose");
                        throw (Exception) one.initCause(new Exception("because of that", one));
                    }
                    echoLines(socket);
                });
                Socket good = connect(server);
                Socket bad = connect(server)) {
            send(bad, "bad\n");
            assertThat(bad.getInputStream().read()).isNegative();
            send(good, "one\ntwo\n");
            assertThat(reader(good).readLine()).isEqualTo("two");
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 the very end of a buffer of two gigabytes is written")
    void endOfTheLargestBuffer(Place place, @TempDir Path directory) throws Exception {
        int size = 300_000; // in several pieces, on a loop and off it
        try (FileChannel file = FileChannel.open(
                directory.resolve("sparse"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE)) {
            ByteBuffer largest = file.map(FileChannel.MapMode.READ_WRITE, 0, Integer.MAX_VALUE);
            try (Reactors reactors = place.open();
                    DirectServer server =
                            place.start(reactors, socket -> socket.write(largest.position(Integer.MAX_VALUE - size)));
                    Socket socket = connect(server)) {
                assertThat(socket.getInputStream().readAllBytes()).hasSize(size);
                assertThat(largest.hasRemaining()).isFalse();
            }
        }
    }

    /** Frames that are too long, which this framing does not notice itself. */
    private record Headed(int maxBytes) implements Framing {
        @Override
        public void find(FrameBytes bytes) {
            bytes.frame(bytes.get(0) - '0');
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 a frame that is too long is not returned by the next read, either")
    void tooLongForEver(Place place) throws Exception {
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    Framing short4 = new Headed(4);
                    for (int i = 0; i < 3; i++) {
                        try {
                            log.add("frame of " + socket.readFrame(short4).remaining());
                        } catch (ProtocolException e) {
                            log.add("too long");
                        }
                    }
                    log.add(socket.readLine(10)); // but another framing may be used
                });
                Socket socket = connect(server)) {
            send(socket, "3ab5cdef\n");
            assertThat(socket.getInputStream().read()).isNegative();
            assertThat(log).containsExactly("frame of 3", "too long", "too long", "5cdef");
        }
    }

    /** Does something on the only thread of a loop, in a callback. */
    private static Object inCallback(Reactors reactors, Callable<?> what) throws Exception {
        CompletableFuture<Object> result = new CompletableFuture<>();
        reactors.execute(() -> {
            try {
                result.complete(what.call());
            } catch (Exception e) {
                result.complete(e);
            }
        });
        return result.get(20, TimeUnit.SECONDS);
    }

    @Test
    @DisplayName("vt-1 a callback that would wait on its own loop is refused, and nothing is lost by that")
    void waitsInACallback() throws Exception {
        try (Reactors reactors = new Place("epoll", ALLOWED).open();
                DirectServer server = DirectServer.listen(0, DirectServerTest::echoLines);
                DirectClient client = DirectClient.open(TcpClient.builder().manager(reactors))) {
            assertThat(inCallback(reactors, () -> client.connect(server.address())))
                    .isInstanceOf(IllegalStateException.class);
            try (DirectSocket socket = client.connect(server.address())) {
                assertThat(inCallback(reactors, () -> socket.readLine(10))).isInstanceOf(IllegalStateException.class);
                assertThat(inCallback(reactors, () -> {
                            socket.write("one\n");
                            return "written";
                        }))
                        .isEqualTo("written");
                assertThat(socket.readLine(10)).isEqualTo("one");
            }
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 after a half close the other direction goes on")
    void halfClose(Place place) throws Exception {
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    socket.write("bye\n");
                    socket.closeOutput();
                    log.add(socket.readLine(100));
                    assertThatThrownBy(() -> socket.write("more")).isInstanceOf(IOException.class);
                    log.add("refused");
                });
                Socket socket = connect(server)) {
            BufferedReader reader = reader(socket);
            assertThat(reader.readLine()).isEqualTo("bye");
            assertThat(reader.readLine()).isNull();
            send(socket, "still here\n");
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("still here");
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("refused");
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 files and streams")
    void filesAndStreams(Place place, @TempDir Path folder) throws Exception {
        byte[] content = new byte[3 << 20];
        new Random(3).nextBytes(content);
        Path file = Files.write(folder.resolve("file"), content);
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    InputStream in = socket.inputStream();
                    OutputStream out = socket.outputStream();
                    int count = in.read();
                    out.write(in.readNBytes(count));
                    out.write('!');
                    socket.sendFile(file);
                    socket.sendFile(file, 10, 20);
                    socket.flush();
                    assertThatThrownBy(() -> socket.sendFile(folder.resolve("none")))
                            .isInstanceOf(IOException.class);
                    in.transferTo(out);
                });
                Socket socket = connect(server)) {
            send(socket, "\3abc");
            InputStream in = socket.getInputStream();
            assertThat(in.readNBytes(4)).isEqualTo("abc!".getBytes(UTF_8));
            assertThat(in.readNBytes(content.length)).isEqualTo(content);
            assertThat(in.readNBytes(20)).isEqualTo(Arrays.copyOfRange(content, 10, 30));
            send(socket, "the rest");
            socket.shutdownOutput();
            assertThat(in.readAllBytes()).isEqualTo("the rest".getBytes(UTF_8));
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 a client connects, talks, and is told of what fails")
    void client(Place place) throws Exception {
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, DirectServerTest::echoLines);
                DirectClient client = DirectClient.open(TcpClient.builder().manager(reactors));
                DirectSocket socket = client.connect(server.address())) {
            for (int i = 0; i < 100; i++) {
                socket.write("line " + i + "\n");
                assertThat(socket.readLine(100)).isEqualTo("line " + i);
            }
            socket.closeOutput();
            assertThat(socket.readLine(100)).isNull();
            InetSocketAddress nobody = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
            assertThatThrownBy(() -> client.connect(nobody)).isInstanceOf(java.net.ConnectException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 a proxy: two threads for each connection, one for each direction")
    void proxy(Place place) throws Exception {
        byte[] all = new byte[2 << 20];
        new Random(5).nextBytes(all);
        try (Reactors reactors = place.open();
                DirectServer upstream =
                        place.start(reactors, socket -> socket.inputStream().transferTo(socket.outputStream()));
                DirectClient client = DirectClient.open(TcpClient.builder().manager(reactors));
                DirectServer proxy = place.start(reactors, socket -> {
                    try (DirectSocket other = client.connect(upstream.address())) {
                        Thread back = Thread.ofVirtual().start(() -> pump(other, socket));
                        pump(socket, other);
                        back.join();
                    }
                });
                Socket socket = connect(proxy)) {
            Thread writer = Thread.ofPlatform().start(() -> {
                try {
                    socket.getOutputStream().write(all);
                    socket.shutdownOutput();
                } catch (IOException e) {
                    log.add(e.toString());
                }
            });
            assertThat(socket.getInputStream().readAllBytes()).isEqualTo(all);
            writer.join();
            assertThat(log).isEmpty();
        }
    }

    private void pump(DirectSocket from, DirectSocket to) {
        try {
            ByteBuffer buffer = ByteBuffer.allocate(8192);
            while (from.read(buffer) >= 0) {
                to.write(buffer.flip());
                buffer.clear();
            }
            to.closeOutput();
        } catch (IOException e) {
            log.add(e.toString());
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 a connection takes its place until its conversation has ended, although its peer has left")
    void placeOfAConversation(Place place) throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        TcpServer.Builder settings = TcpServer.builder().maxConnections(1).maxConnectionsPerAddress(1);
        try (Reactors reactors = place.open();
                DirectServer server =
                        DirectServer.start(settings.manager(reactors).loopThreads(place.onLoops), socket -> {
                            log.add("begun");
                            socket.write("welcome\n");
                            released.await();
                            socket.readLine(10);
                        })) {
            Socket vanishes = connect(server);
            assertThat(reader(vanishes).readLine()).isEqualTo("welcome");
            vanishes.setSoLinger(true, 0);
            vanishes.close();
            await().until(() -> server.connections().isEmpty());
            try (Socket refused = connect(server)) {
                assertThat(refused.getInputStream().read()).isNegative();
            } catch (SocketException e) {
                // reset, which is as good
            }
            assertThat(log).hasSize(1);
            released.countDown();
            await().until(() -> isWelcome(server));
            assertThat(log).hasSize(2);
        }
    }

    private static boolean isWelcome(DirectServer server) throws IOException {
        try (Socket socket = connect(server)) {
            return reader(socket).readLine() != null;
        } catch (SocketException e) {
            return false;
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-6 shutdown lets a conversation end until the deadline")
    void gracefulEnd(Place place) throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    begun.countDown();
                    String line = socket.readLine(100);
                    socket.write("the answer to " + line + ", " + socket.isShuttingDown() + "\n");
                });
                Socket socket = connect(server)) {
            begun.await();
            CompletableFuture<ShutdownResult> result =
                    CompletableFuture.supplyAsync(() -> server.shutdown(Duration.ofSeconds(20)));
            await().until(() -> server.toString().contains("closing"));
            await().until(() -> reactors.metrics() != null && isShutdownSeen(server));
            send(socket, "it\n");
            assertThat(reader(socket).readLine()).isEqualTo("the answer to it, true");
            ShutdownResult how = result.get();
            assertThat(how.drained()).as(how.toString()).isTrue();
            assertThat(how.cutOff()).isEmpty();
        }
    }

    private static boolean isShutdownSeen(DirectServer server) {
        try (Socket refused = new Socket()) {
            refused.connect(server.address(), 1000);
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-6 at the deadline a conversation is interrupted and closed, its finally runs, and it is named")
    void cutShort(Place place) throws Exception {
        CountDownLatch begun = new CountDownLatch(2);
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    begun.countDown();
                    try {
                        if (socket.connection().id() == 1) {
                            socket.readLine(100);
                        } else {
                            Thread.sleep(Duration.ofDays(1));
                        }
                    } catch (InterruptedException e) {
                        log.add("interrupted");
                    } catch (IOException e) {
                        log.add("ended");
                    } finally {
                        log.add("finally");
                    }
                });
                Socket one = connect(server);
                Socket two = connect(server)) {
            begun.await();
            ShutdownResult how = server.shutdown(Duration.ofMillis(50));
            assertThat(how.drained()).isFalse();
            assertThat(how.cutOff())
                    .hasSize(2)
                    .allSatisfy(text -> assertThat(text).contains("whose conversation had not ended"));
            assertThat(how.remaining()).isEmpty();
            assertThat(log).containsExactlyInAnyOrder("interrupted", "ended", "finally", "finally");
            assertThat(one.getInputStream().read()).isNegative();
            assertThat(two.getInputStream().read()).isNegative();
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-2 when the loop ends first, every parked conversation wakes up and runs its finally")
    void loopEndsFirst(Place place) throws Exception {
        int count = 20;
        CountDownLatch begun = new CountDownLatch(count);
        CountDownLatch over = new CountDownLatch(count);
        CountDownLatch later = new CountDownLatch(1);
        Reactors reactors = place.open();
        try (DirectServer server = place.start(reactors, socket -> {
            begun.countDown();
            try {
                if (socket.connection().id() % 2 == 0) {
                    later.await(); // woken when there is no loop any more
                }
                socket.readLine(100);
                log.add("not closed");
            } catch (SocketException e) {
                Thread.sleep(1);
            } finally {
                over.countDown();
            }
        })) {
            Socket[] sockets = new Socket[count];
            for (int i = 0; i < count; i++) {
                sockets[i] = connect(server);
            }
            begun.await();
            reactors.close();
            later.countDown();
            assertThat(over.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(log).isEmpty();
            for (Socket socket : sockets) {
                socket.close();
            }
        } finally {
            reactors.close();
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-2 a conversation can close its own server and its own manager, and goes on after that")
    void closesWhatItRunsOn(Place place) throws Exception {
        CompletableFuture<DirectServer> started = new CompletableFuture<>();
        Reactors reactors = place.open();
        try (DirectServer server = place.start(reactors, socket -> {
                    socket.readLine(10);
                    started.join().shutdown(Duration.ofMillis(1)); // in the background, and interrupts this one
                    reactors.close();
                    log.add("closed");
                    try {
                        socket.readLine(10);
                    } catch (IOException e) {
                        log.add("ended");
                    } finally {
                        log.add("finally");
                    }
                });
                Socket socket = connect(server)) {
            started.complete(server);
            send(socket, "go\n");
            assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("closed");
            assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("ended");
            assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("finally");
            await().until(() -> server.remaining().isEmpty());
        } finally {
            reactors.close();
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-3 a conversation that always finds bytes gives way: 100 others are served meanwhile")
    void fairness(Place place) throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    if (socket.connection().id() > 1) {
                        echoLines(socket);
                        return;
                    }
                    byte[] one = new byte[1];
                    while (!stop.get() && socket.read(one, 0, 1) >= 0) {
                        socket.write(one);
                    }
                });
                Socket greedy = connect(server)) {
            Thread feeder = Thread.ofPlatform().daemon().start(() -> {
                try {
                    byte[] much = new byte[1 << 20];
                    while (!stop.get()) {
                        greedy.getOutputStream().write(much);
                    }
                } catch (IOException e) {
                    log.add("feeder ended");
                }
            });
            Thread eater = Thread.ofPlatform().daemon().start(() -> {
                try {
                    greedy.getInputStream().transferTo(OutputStream.nullOutputStream());
                } catch (IOException e) {
                    log.add("eater ended");
                }
            });
            for (int i = 0; i < 100; i++) {
                try (Socket quiet = connect(server)) {
                    send(quiet, "hello\n");
                    assertThat(reader(quiet).readLine()).isEqualTo("hello");
                }
            }
            CompletableFuture<Void> alarm = new CompletableFuture<>();
            reactors.schedule(Duration.ofMillis(1), fired -> alarm.complete(null));
            alarm.get(10, TimeUnit.SECONDS);
            stop.set(true);
            greedy.close();
            feeder.join();
            eater.join();
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-3 a conversation that loses its turn at a contended monitor does not disturb callbacks")
    void contendedMonitor(Place place) throws Exception {
        Object monitor = new Object();
        AtomicInteger inside = new AtomicInteger();
        AtomicBoolean stop = new AtomicBoolean();
        Thread holder = Thread.ofPlatform().daemon().start(() -> {
            while (!stop.get()) {
                synchronized (monitor) {
                    for (int i = 0; i < 100; i++) {
                        Thread.onSpinWait();
                    }
                }
            }
        });
        Conversation contending = socket -> {
            for (String line = socket.readLine(100); line != null; line = socket.readLine(100)) {
                synchronized (monitor) {
                    if (inside.incrementAndGet() != 1) {
                        log.add("not alone");
                    }
                    inside.decrementAndGet();
                    socket.write(line + "\n");
                }
            }
        };
        try (Reactors reactors = place.open();
                DirectServer direct = place.start(reactors, contending);
                TcpServer callbacks = TcpServer.builder().manager(reactors).start((connection, data) -> {
                    synchronized (monitor) {
                        connection.send(data);
                    }
                })) {
            List<CompletableFuture<Void>> clients = Stream.of(direct.address(), direct.address(), callbacks.address())
                    .map(address -> CompletableFuture.runAsync(() -> {
                        try (Socket socket = new Socket()) {
                            socket.connect(address);
                            BufferedReader reader = reader(socket);
                            for (int i = 0; i < 300; i++) {
                                send(socket, "line " + i + "\n");
                                assertThat(reader.readLine()).isEqualTo("line " + i);
                            }
                        } catch (IOException e) {
                            throw new IllegalStateException(e);
                        }
                    }))
                    .toList();
            for (CompletableFuture<Void> client : clients) {
                client.get(25, TimeUnit.SECONDS);
            }
            assertThat(log).isEmpty();
        } finally {
            stop.set(true);
            holder.join();
        }
    }

    @Test
    @DisplayName("vt-2 the report says whether virtual threads run on loops, and if not, which flag lets them")
    void report() throws Exception {
        VirtualThreadReport report = VirtualThreadReport.probe();
        assertThat(report.onLoops()).isEqualTo(ALLOWED);
        if (!ALLOWED) {
            assertThat(report.reason()).contains("--add-opens java.base/java.lang=");
        }
        try (Reactors reactors = new Place("poll", true).open();
                DirectServer server =
                        DirectServer.start(TcpServer.builder().manager(reactors).loopThreads(false), socket -> {})) {
            assertThat(reactors.dump()).contains(report.toString());
            assertThat(reactors.virtualThreads()).isEqualTo(report);
            assertThat(server.threads().toString()).contains("JDK's scheduler", "loopThreads(false)");
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName(
            "vt-1 what makes no sense is refused: a buffer that cannot be filled, a count below zero, a write after the end")
    void refusals(Place place) throws Exception {
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    for (int i = 0; i < 2; i++) { // before anything came, and after
                        try {
                            socket.read(ByteBuffer.allocate(8).asReadOnlyBuffer());
                        } catch (IllegalArgumentException e) {
                            log.add(e.getMessage());
                        }
                        socket.read(new byte[1], 0, 1);
                    }
                    try {
                        socket.readExactly(-1);
                    } catch (IllegalArgumentException e) {
                        log.add(e.getMessage());
                    }
                    socket.write(socket.readLine(10) + "\n");
                    socket.closeOutput();
                    try {
                        socket.write("more");
                    } catch (SocketException e) {
                        log.add(e.getMessage());
                    }
                });
                Socket socket = connect(server)) {
            send(socket, "--whole\n");
            assertThat(reader(socket).readLine()).isEqualTo("whole");
            assertThat(log.poll()).contains("read-only");
            assertThat(log.poll()).contains("read-only");
            assertThat(log.poll()).contains("-1 bytes");
            assertThat(log.poll(10, TimeUnit.SECONDS)).contains("output was closed");
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 a flush that its peer holds up ends with its limit, an interrupt, and a close from elsewhere")
    void flushEnds(Place place) throws Exception {
        CompletableFuture<DirectSocket> waits = new CompletableFuture<>();
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        // More waits than the system ever takes, however late the limit of a write is noticed: so no flush can end by
        // itself.
        TcpServer.Builder settings = TcpServer.builder().waterMarks(1 << 20, 8 << 20, 64 << 20);
        try (Reactors reactors = place.open();
                DirectServer server =
                        DirectServer.start(settings.manager(reactors).loopThreads(place.onLoops), socket -> {
                            socket.write("begun\n");
                            socket.flush();
                            socket.setWriteTimeout(Duration.ofMillis(20));
                            try {
                                for (; ; ) {
                                    socket.write(new byte[1 << 16]);
                                }
                            } catch (SocketTimeoutException e) {
                                log.add("full");
                            }
                            try {
                                socket.flush();
                            } catch (SocketTimeoutException e) {
                                log.add("timeout");
                            }
                            socket.setWriteTimeout(Duration.ZERO);
                            thread.complete(Thread.currentThread());
                            try {
                                socket.flush();
                            } catch (InterruptedIOException e) {
                                log.add("interrupted " + Thread.interrupted());
                            }
                            waits.complete(socket);
                            try {
                                socket.flush();
                            } catch (SocketException e) {
                                log.add("closed");
                            }
                        });
                Socket socket = connect(server)) {
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("full");
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("timeout");
            thread.join().interrupt();
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("interrupted true");
            waits.join().close();
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("closed");
            socket.close();
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 a flush returns when its peer has taken everything")
    void flushReturns(Place place) throws Exception {
        int much = 8 << 20; // more than the system takes, and less than a writer has to be told of
        TcpServer.Builder settings = TcpServer.builder().waterMarks(much, 2 * much, 4 * much);
        try (Reactors reactors = place.open();
                DirectServer server =
                        DirectServer.start(settings.manager(reactors).loopThreads(place.onLoops), socket -> {
                            socket.write(new byte[much]);
                            socket.flush();
                            log.add("flushed " + socket.connection().queuedBytes());
                            socket.readLine(10);
                        });
                Socket socket = connect(server)) {
            assertThat(socket.getInputStream().readNBytes(much)).hasSize(much);
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("flushed 0");
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 what has arrived cannot be read any more after this side has closed, wherever the thread runs")
    void readAfterClose(Place place) throws Exception {
        CountDownLatch arrived = new CountDownLatch(1);
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    socket.read(new byte[1], 0, 1);
                    arrived.countDown();
                    socket.close();
                    try {
                        log.add("read " + socket.read(new byte[1], 0, 1));
                    } catch (SocketException e) {
                        log.add("closed");
                    }
                });
                Socket socket = connect(server)) {
            send(socket, "more than one");
            arrived.await();
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("closed");
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-3 a conversation that reads at the end of its input, or writes nothing, again and again gives way")
    void nothingGivesWay(Place place) throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    switch (socket.readLine(10)) {
                        case "read" -> {
                            while (!stop.get()) {
                                socket.read(new byte[1], 0, 1);
                            }
                        }
                        case "write" -> {
                            while (!stop.get()) {
                                socket.write("");
                            }
                        }
                        case null, default -> echoLines(socket);
                    }
                });
                Socket reads = connect(server);
                Socket writes = connect(server);
                Socket other = connect(server)) {
            try {
                send(reads, "read\n");
                reads.shutdownOutput();
                send(writes, "write\n");
                BufferedReader echoed = reader(other);
                send(other, "echo\n");
                for (int i = 0; i < 3; i++) {
                    send(other, i + "\n");
                    assertThat(echoed.readLine()).isEqualTo("" + i);
                }
            } finally {
                stop.set(true);
            }
        }
    }

    @Test
    @DisplayName("vt-3 a conversation that sends files for which there is room, again and again, gives way")
    void filesGiveWay(@TempDir Path directory) throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        CountDownLatch begun = new CountDownLatch(1);
        Path empty = Files.createFile(directory.resolve("empty"));
        Place place = new Place("epoll", ALLOWED); // elsewhere, it takes no turn of the loop
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    if ("send".equals(socket.readLine(10))) {
                        do {
                            socket.sendFile(empty);
                            begun.countDown();
                        } while (!stop.get() && ALLOWED);
                    } else {
                        echoLines(socket);
                    }
                });
                Socket sends = connect(server);
                Socket other = connect(server)) {
            try {
                send(other, "echo\n");
                send(sends, "send\n");
                begun.await();
                send(other, "one\n");
                assertThat(reader(other).readLine()).isEqualTo("one");
                assertThat(server.connections())
                        .as("and is not ended by a limit")
                        .hasSize(2);
            } finally {
                stop.set(true);
            }
        }
    }

    @Test
    @DisplayName("vt-1 a thread that is interrupted when it has just been connected leaves no connection behind")
    void interruptedAtTheLastMoment() throws Exception {
        try (Reactors reactors = new Place("poll", true).open();
                DirectServer server = new Place("poll", true)
                        .start(reactors, socket -> log.add("read " + socket.read(new byte[1], 0, 1)));
                TcpClient client = TcpClient.builder().manager(reactors).open()) {
            Connection connection =
                    client.connect(server.address(), (from, data) -> {}).join();
            var connecting = new CompletableFuture<Connection>() {
                @Override
                public Connection get() throws InterruptedException {
                    complete(connection);
                    throw new InterruptedException();
                }
            };
            assertThatThrownBy(() -> DirectClient.await(connecting, server.address()))
                    .isInstanceOf(InterruptedIOException.class);
            assertThat(Thread.interrupted()).isTrue();
            await().until(connection::isClosed);
            assertThat(log.poll(10, TimeUnit.SECONDS)).isEqualTo("read -1");
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 the end of a line does not count for its longest length, whichever it is and however it comes")
    void longestLine(Place place) throws Exception {
        try (Reactors reactors = place.open();
                DirectServer server = place.start(reactors, socket -> {
                    try {
                        for (String line = socket.readLine(3); line != null; line = socket.readLine(3)) {
                            socket.write("<" + line + ">\n");
                        }
                    } catch (ProtocolException e) {
                        socket.write("too long\n");
                    }
                });
                Socket whole = connect(server);
                Socket pieces = connect(server)) {
            String lines = "\n\r\nabc\nabc\r\n\rab\nab\r\r\nabcd";
            List<String> expected = List.of("<>", "<>", "<abc>", "<abc>", "<\rab>", "<ab\r>", "too long");
            send(whole, lines);
            assertThat(whole.getInputStream().readAllBytes())
                    .asString(UTF_8)
                    .isEqualTo(String.join("\n", expected) + "\n");
            pieces.setTcpNoDelay(true);
            for (char one : lines.toCharArray()) {
                send(pieces, String.valueOf(one));
            }
            assertThat(pieces.getInputStream().readAllBytes())
                    .asString(UTF_8)
                    .isEqualTo(String.join("\n", expected) + "\n");
        }
    }

    @Test
    @DisplayName("vt-1 another dispatch makes no sense for a direct server, and is refused")
    void otherDispatch() {
        assertThatThrownBy(() -> DirectServer.start(
                        TcpServer.builder().dispatch(io.millrace.engine.Dispatch.POOL, 1), socket -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("loopThreads(false)");
    }

    @Test
    @DisplayName("vt-1 a connect that fails throws what a client's future would fail with")
    void unknownHost() {
        try (DirectClient client = DirectClient.open(TcpClient.builder().resolver(Resolver.over(host -> {
            throw new java.net.UnknownHostException(host);
        })))) {
            assertThatThrownBy(() -> client.connect("nowhere.invalid", 1))
                    .isInstanceOf(java.net.UnknownHostException.class)
                    .hasCauseInstanceOf(java.net.UnknownHostException.class);
        }
    }

    @Test
    @DisplayName("vt-3 what would block a loop runs elsewhere, and its result and its failure come back")
    void offLoop() throws Exception {
        try (Reactors reactors = new Place("poll", true).open();
                DirectServer server = new Place("poll", true).start(reactors, socket -> {
                    log.add(io.millrace.engine.OffLoop.call(DirectServerTest::carrier));
                    log.add(carrier());
                    try {
                        io.millrace.engine.OffLoop.call(() -> {
                            throw new IOException("on purpose");
                        });
                    } catch (IOException e) {
                        log.add(e.getMessage());
                    }
                });
                Socket socket = connect(server)) {
            assertThat(socket.getInputStream().read()).isNegative();
            assertThat(log.poll()).contains("ForkJoinPool");
            String here = log.poll();
            assertThat(here.contains("test"))
                    .as(here)
                    .isEqualTo(VirtualThreadReport.probe().onLoops());
            assertThat(log.poll()).isEqualTo("on purpose");
        }
    }

    @Test
    @DisplayName("vt-3 an interrupt of the thread that waits for code off the loop reaches that code")
    void offLoopInterrupted() throws Exception {
        CompletableFuture<Boolean> reached = new CompletableFuture<>();
        CountDownLatch runs = new CountDownLatch(1);
        Thread caller = Thread.ofVirtual().start(() -> {
            try {
                io.millrace.engine.OffLoop.call(() -> {
                    runs.countDown();
                    try {
                        Thread.sleep(Duration.ofSeconds(20));
                        reached.complete(false);
                    } catch (InterruptedException e) {
                        reached.complete(true);
                    }
                    return null;
                });
                log.add("returned");
            } catch (Exception e) {
                log.add(e.getClass().getSimpleName());
            }
        });
        runs.await();
        caller.interrupt();
        assertThat(reached.get(25, TimeUnit.SECONDS)).isTrue();
        assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("InterruptedException");
    }

    @Test
    @DisplayName("vt-3 what code off the loop throws is thrown as it is, also what futures would wrap or unwrap")
    void offLoopThrows() {
        for (Throwable thrown : new Throwable[] {
            new java.util.concurrent.CompletionException(new IOException("inside")),
            new java.util.concurrent.CancellationException("on purpose"),
            new java.util.concurrent.ExecutionException(new IOException("inside")),
            new AssertionError("on purpose")
        }) {
            assertThatThrownBy(() -> io.millrace.engine.OffLoop.call(() -> {
                        if (thrown instanceof Error error) {
                            throw error;
                        }
                        throw (Exception) thrown;
                    }))
                    .isSameAs(thrown);
        }
    }
}
