package io.millrace.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.net.ListenOptions;
import io.millrace.net.Net;
import io.millrace.net.PassedDescriptor;
import io.millrace.net.TcpListener;
import io.millrace.net.UnixAddress;
import io.millrace.net.UnixListener;
import io.millrace.net.UnixStream;
import io.millrace.poll.Interest;
import io.millrace.poll.Notifier;
import io.millrace.poll.Source;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** One server after the other at the same address; here, all of them are in this process. */
@EnabledOnOs({OS.LINUX, OS.MAC, OS.FREEBSD})
@SuppressWarnings("try") // closed early, on purpose
class TakeoverTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Duration BRIEF = Duration.ofMillis(50);
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @TempDir
    Path directory;

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T keep(T source) {
        open.add(source);
        return source;
    }

    private Path path() {
        return directory.resolve("takeover");
    }

    private Takeover begin() throws IOException {
        return keep(Takeover.begin(path()));
    }

    /** Answers each line with the name of the server. */
    private TcpServer start(Takeover takeover, String name, InetSocketAddress address, int loops) throws IOException {
        return keep(builder(takeover, loops).address(address).start(answering(name)));
    }

    private static TcpServer.Builder builder(Takeover takeover, int loops) {
        return TcpServer.builder()
                .reactors(Reactors.builder().reactors(loops).withoutWatchdog())
                .takeover(takeover, "test");
    }

    private static ConnectionHandler answering(String name) {
        return (connection, data) -> connection.send(ByteBuffer.wrap(name.getBytes(UTF_8)));
    }

    private static Socket connect(InetSocketAddress address) throws IOException {
        Socket socket = new Socket();
        socket.connect(address, (int) SOON.toMillis());
        socket.setSoTimeout((int) SOON.toMillis());
        return socket;
    }

    private static String ask(Socket socket) throws IOException {
        socket.getOutputStream().write('?');
        byte[] answer = new byte[100];
        int count = socket.getInputStream().read(answer);
        return count < 0 ? "nothing" : new String(answer, 0, count, UTF_8);
    }

    private static String ask(InetSocketAddress address) throws IOException {
        try (Socket socket = connect(address)) {
            return ask(socket);
        }
    }

    private static void awaitHandedOver(Takeover from) throws Exception {
        assertThat(from.handedOver().get(SOON.toSeconds(), TimeUnit.SECONDS))
                .isEqualTo(ProcessHandle.current().pid());
    }

    // ---- It works ----

    @Test
    @DisplayName("bp-6: the successor serves new connections, and the predecessor those that it has, until they end")
    void oneAfterTheOther() throws Exception {
        Takeover first = begin();
        assertThat(first.predecessor()).isEmpty();
        TcpServer one = start(first, "one", ANY_PORT, 1);
        InetSocketAddress address = one.address();
        first.complete();
        try (Socket old = connect(address)) {
            assertThat(ask(old)).isEqualTo("one");

            Takeover second = begin();
            assertThat(second.predecessor()).hasValue(ProcessHandle.current().pid());
            TcpServer two = start(second, "two", address, 1);
            for (int i = 0; i < 20; i++) {
                assertThat(ask(address)).as("until it is complete").isEqualTo("one");
            }
            second.complete();
            awaitHandedOver(first);

            assertThat(two.address()).isEqualTo(address);
            assertThat(ask(address)).isEqualTo("two");
            assertThat(ask(old)).isEqualTo("one");
            CompletableFuture<Void> drained = one.drained();
            assertThatThrownBy(() -> drained.get(BRIEF.toMillis(), TimeUnit.MILLISECONDS))
                    .isInstanceOf(TimeoutException.class);
            old.close();
            drained.get(SOON.toSeconds(), TimeUnit.SECONDS);
            first.close();
            one.close();
            assertThat(path()).as("it is the successor's now").exists();
            assertThat(ask(address)).isEqualTo("two");

            second.close();
            assertThat(path()).doesNotExist();
        }
    }

    @Test
    @DisplayName("bp-6: no connection is refused, reset or unanswered, whatever the numbers of loops are on both sides")
    void nobodyNotices() throws Exception {
        Takeover takeover = begin();
        TcpServer server = start(takeover, "x", ANY_PORT, 3);
        InetSocketAddress address = server.address();
        takeover.complete();
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger answers = new AtomicInteger();
        List<CompletableFuture<Void>> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int requests = 1 + i % 2 * 20;
            clients.add(CompletableFuture.runAsync(
                    () -> {
                        while (!over.get()) {
                            try (Socket socket = connect(address)) {
                                for (int n = 0; n < requests; n++) {
                                    assertThat(ask(socket)).isEqualTo("x");
                                    answers.incrementAndGet();
                                }
                            } catch (IOException e) {
                                throw new AssertionError("after " + answers + " answers", e);
                            }
                        }
                    },
                    task -> Thread.ofPlatform().daemon().start(task)));
        }
        for (int loops : new int[] {1, 4, 2, 3, 1}) {
            int before = answers.get();
            await().atMost(SOON).until(() -> answers.get() > before + 50 || failed(clients));
            Takeover next = begin();
            TcpServer successor = start(next, "x", address, loops);
            next.complete();
            awaitHandedOver(takeover);
            server.drained().get(SOON.toSeconds(), TimeUnit.SECONDS);
            server.close();
            takeover = next;
            server = successor;
        }
        over.set(true);
        for (CompletableFuture<Void> client : clients) {
            client.get(SOON.toSeconds(), TimeUnit.SECONDS);
        }
    }

    private static boolean failed(List<CompletableFuture<Void>> clients) {
        return clients.stream().anyMatch(CompletableFuture::isCompletedExceptionally);
    }

    @Test
    @DisplayName("bp-6: connections that wait at any of the predecessor's listeners are served by the successor")
    void whatWaitsAtEachListener() throws Exception {
        int loops = 4;
        CountDownLatch held = new CountDownLatch(loops);
        CountDownLatch release = new CountDownLatch(1);
        Takeover first = begin();
        TcpServer one = keep(builder(first, loops).address(ANY_PORT).start((connection, data) -> {
            held.countDown();
            awaitUninterruptibly(release);
        }));
        InetSocketAddress address = one.address();
        first.complete();
        try {
            await().atMost(SOON).until(() -> {
                keep(connect(address)).getOutputStream().write('?'); // at some loop
                return held.getCount() == 0;
            });
            List<Socket> waiting = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                waiting.add(keep(connect(address))); // no loop can accept
            }
            Takeover second = begin();
            start(second, "two", address, 1);
            second.complete();
            awaitHandedOver(first);
            for (Socket each : waiting) {
                assertThat(ask(each)).isEqualTo("two");
            }
        } finally {
            release.countDown();
        }
    }

    @Test
    @DisplayName("bp-6: a server at a Unix socket changes hands, and its file stays as long as one of them listens")
    void atAUnixSocket() throws Exception {
        UnixAddress address = UnixAddress.of(directory.resolve("socket"));
        Takeover first = begin();
        TcpServer one = keep(builder(first, 2).address(address).start(answering("one")));
        first.complete();
        Takeover second = begin();
        TcpServer two = keep(builder(second, 1).address(address).start(answering("two")));
        second.complete();
        awaitHandedOver(first);

        one.close();
        assertThat(address.path()).exists();
        try (SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            client.connect(UnixDomainSocketAddress.of(address.path()));
            client.write(ByteBuffer.wrap(new byte[1]));
            ByteBuffer answer = ByteBuffer.allocate(3);
            client.read(answer);
            assertThat(answer.array()).isEqualTo("two".getBytes(UTF_8));
        }
        two.close();
        assertThat(address.path()).doesNotExist();
    }

    @Test
    @DisplayName("bp-6: the sockets of a UDP server change hands, too")
    void datagrams() throws Exception {
        Takeover first = begin();
        UdpServer one = keep(udp(first, ANY_PORT, 2, "one"));
        first.complete();
        Takeover second = begin();
        UdpServer two = keep(udp(second, one.address(), 1, "two"));
        assertThat(two.datagramsReceived()).isZero();
        second.complete();
        awaitHandedOver(first);
        one.close();

        try (DatagramSocket client = new DatagramSocket()) {
            client.setSoTimeout((int) SOON.toMillis());
            for (int i = 0; i < 20; i++) { // by one of the two sockets, and by the other
                client.disconnect();
                client.connect(one.address());
                client.send(new DatagramPacket(new byte[1], 1));
                DatagramPacket answer = new DatagramPacket(new byte[10], 10);
                client.receive(answer);
                assertThat(new String(answer.getData(), 0, answer.getLength(), UTF_8))
                        .isEqualTo("two");
            }
        }
    }

    private static UdpServer udp(Takeover takeover, InetSocketAddress address, int loops, String name)
            throws IOException {
        return UdpServer.builder()
                .reactors(Reactors.builder().reactors(loops).withoutWatchdog())
                .address(address)
                .takeover(takeover, "test")
                .start((from, data) -> from.reply(ByteBuffer.wrap(name.getBytes(UTF_8))));
    }

    @Test
    @DisplayName(
            "bp-6: a predecessor whose loop is blocked is taken over, and its end does not end the successor's listener")
    void aBlockedLoop() throws Exception {
        CountDownLatch inHandler = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Takeover first = begin();
        TcpServer one = keep(builder(first, 1).address(ANY_PORT).start((connection, data) -> {
            inHandler.countDown();
            awaitUninterruptibly(release);
        }));
        InetSocketAddress address = one.address();
        first.complete();
        try (Socket blocking = connect(address)) {
            blocking.getOutputStream().write(1);
            assertThat(inHandler.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();

            Takeover second = begin();
            start(second, "two", address, 1);
            second.complete();
            awaitHandedOver(first);
            assertThat(one.shutdown(BRIEF).remaining()).isNotEmpty();

            assertThat(ask(address)).isEqualTo("two");
        } finally {
            release.countDown();
        }
        one.close();
        assertThat(ask(address)).isEqualTo("two");
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    // ---- It does not, and nothing happens ----

    @Test
    @DisplayName("bp-6: a successor that ends before it is ready changes nothing")
    void aSuccessorThatEnds() throws Exception {
        Takeover first = begin();
        InetSocketAddress address = start(first, "one", ANY_PORT, 2).address();
        first.complete();

        Takeover second = begin();
        TcpServer two = start(second, "two", address, 2);
        two.close();
        second.close();

        assertServes(first, address);
    }

    @Test
    @DisplayName("bp-6: a successor that is never ready is given up, and told so when it is")
    void aSuccessorThatIsTooLate() throws Exception {
        Takeover first = keep(Takeover.begin(path(), BRIEF));
        InetSocketAddress address = start(first, "one", ANY_PORT, 1).address();
        first.complete();
        Takeover late = begin();
        TcpServer two = start(late, "two", address, 1);
        Takeover next = begin(); // it is served, so the late one was given up

        assertThatThrownBy(late::complete)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot take over from process")
                .hasMessageContaining("which goes on: process")
                .hasMessageContaining("did not become ready: it said nothing for 50 ms");

        next.close();
        two.close();
        late.close();
        assertThat(ask(address)).isEqualTo("one");
        assertThat(first.handedOver()).isNotDone();
    }

    @Test
    @DisplayName("bp-6: a successor that would listen elsewhere, or lacks a server, is refused, and nothing happens")
    void aSuccessorThatDoesNotFit() throws Exception {
        Takeover first = begin();
        InetSocketAddress address = start(first, "one", ANY_PORT, 1).address();
        first.complete();

        Takeover elsewhere = begin();
        assertThatThrownBy(() -> start(elsewhere, "two", new InetSocketAddress("127.0.0.1", 1), 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot take over “test” at ")
                .hasMessageContaining("“test” at 127.0.0.1:" + address.getPort());
        elsewhere.close();
        Takeover other = begin();
        assertThatThrownBy(() -> TcpServer.builder().takeover(other, "other").start(answering("two")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("it has no server of that name");
        assertThatThrownBy(other::complete)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("which nothing in this process takes over");
        other.close();
        Takeover onChannels = begin();
        assertThatThrownBy(() -> TcpServer.builder()
                        .reactors(Reactors.builder().reactors(1).backend("nio"))
                        .address(address)
                        .takeover(onChannels, "test")
                        .start(answering("two")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("which has no descriptors; use epoll, kqueue or poll");
        onChannels.close();

        assertServes(first, address);
    }

    /** It does, and it can be taken over. */
    private void assertServes(Takeover first, InetSocketAddress address) throws Exception {
        for (int i = 0; i < 20; i++) {
            assertThat(ask(address)).isEqualTo("one");
        }
        assertThat(first.handedOver()).isNotDone();
        Takeover next = begin();
        start(next, "next", address, 1);
        next.complete();
        awaitHandedOver(first);
        assertThat(ask(address)).isEqualTo("next");
    }

    @Test
    @DisplayName("bp-6: garbage at the socket, another version, and descriptors that nobody asked for change nothing")
    void garbage() throws Exception {
        Takeover first = begin();
        InetSocketAddress address = start(first, "one", ANY_PORT, 1).address();
        first.complete();
        assertThat(Files.getPosixFilePermissions(path())).isEqualTo(PosixFilePermissions.fromString("rw-------"));

        assertThat(say("GET / HTTP/1.1\r\n\r\n")).contains("failed it does not speak the protocol");
        assertThat(say("x".repeat(10_000))).contains("failed");
        assertThat(say("millrace-takeover 2 7\n")).contains("it speaks version 2");
        assertThat(say("millrace-takeover 1 7\nnonsense\n"))
                .contains("socket tcp own test 127.0.0.1:" + address.getPort())
                .contains("did not become ready: it said “nonsense”");
        assertThat(say("")).contains("failed");

        assertServes(first, address);
    }

    /** Returns all that is answered. */
    private String say(String words) throws IOException {
        try (SocketChannel client = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            client.connect(UnixDomainSocketAddress.of(path()));
            ByteBuffer bytes = ByteBuffer.wrap(words.getBytes(UTF_8));
            StringBuilder answer = new StringBuilder();
            try {
                while (bytes.hasRemaining()) {
                    client.write(bytes);
                }
                client.shutdownOutput();
                ByteBuffer into = ByteBuffer.allocate(1000);
                while (client.read(into) >= 0) {
                    answer.append(UTF_8.decode(into.flip()));
                    into.clear();
                }
            } catch (IOException e) {
                answer.append("failed ").append(e.getMessage()); // reset: it has not read everything
            }
            return answer.toString();
        }
    }

    @Test
    @DisplayName(
            "bp-6: a predecessor that passes something else than it says is refused, and its descriptors are closed")
    void aPredecessorThatLies() throws Exception {
        UnixAddress at = UnixAddress.of(path());
        for (String lie : List.of("socket tcp own test 127.0.0.1:1", "socket udp own test 127.0.0.1:1", "nonsense")) {
            try (UnixListener liar = Net.natively().listen(at)) {
                CompletableFuture<Takeover> beginning = CompletableFuture.supplyAsync(() -> {
                    try {
                        return Takeover.begin(path());
                    } catch (IOException e) {
                        throw new CompletionException(e);
                    }
                });
                await().atMost(SOON)
                        .until(() -> Notifier.waitFor(liar, Interest.READABLE, Duration.ZERO)
                                .isReadable());
                try (UnixStream stream = liar.accept()) {
                    stream.tryWrite(ByteBuffer.wrap("millrace-takeover 1 7 1\n".getBytes(UTF_8)));
                    stream.tryWrite(ByteBuffer.wrap((lie + "\n").getBytes(UTF_8)), liar);
                    assertThatThrownBy(() -> beginning.get(SOON.toSeconds(), TimeUnit.SECONDS))
                            .rootCause()
                            .isInstanceOf(IOException.class)
                            .hasMessageContaining(lie);
                    stream.close(); // the descriptor could still be on its way
                    assertThat(numbersOf(liar)).hasSize(1);
                }
            }
        }
    }

    /** The descriptors of this process for the same socket. */
    private static List<Path> numbersOf(UnixListener listener) throws IOException {
        Path all = Path.of("/proc/self/fd");
        Assumptions.assumeTrue(Files.exists(all), "no /proc to count descriptors in");
        Matcher number = Pattern.compile("fd (\\d+)").matcher(listener.toString());
        assertThat(number.find()).isTrue();
        Path socket = Files.readSymbolicLink(all.resolve(number.group(1)));
        try (Stream<Path> fds = Files.list(all)) {
            return fds.filter(fd -> socket.equals(linkOf(fd))).toList();
        }
    }

    private static Path linkOf(Path fd) {
        try {
            return Files.readSymbolicLink(fd);
        } catch (IOException e) {
            return fd; // closed since the directory was read
        }
    }

    @Test
    @DisplayName("bp-6: a predecessor that dies when it was told does not keep its successor from serving")
    void aPredecessorThatDies() throws Exception {
        UnixAddress at = UnixAddress.of(path());
        UnixListener dying = Net.natively().listen(at);
        TcpListener web = Net.natively().listen(ANY_PORT, ListenOptions.standard());
        InetSocketAddress address = web.localAddress();
        CompletableFuture<Void> death = CompletableFuture.runAsync(() -> {
            try {
                Notifier.waitFor(dying, Interest.READABLE, SOON);
                try (UnixStream stream = dying.accept()) {
                    stream.tryWrite(ByteBuffer.wrap("millrace-takeover 1 7 2\n".getBytes(UTF_8)));
                    stream.tryWrite(ByteBuffer.wrap("socket unix own takeover x\n".getBytes(UTF_8)), dying);
                    stream.tryWrite(ByteBuffer.wrap("socket tcp own test 127.0.0.1:1\n".getBytes(UTF_8)), web);
                    StringBuilder said = new StringBuilder();
                    while (said.indexOf("ready") < 0) {
                        Notifier.waitFor(stream, Interest.READABLE, SOON);
                        ByteBuffer into = ByteBuffer.allocate(100);
                        stream.tryRead(into);
                        said.append(UTF_8.decode(into.flip()));
                    }
                    dying.removeFileOnClose(false);
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            } finally {
                dying.close();
                web.close();
            }
        });

        Takeover heir = begin();
        start(heir, "heir", address, 1);
        heir.complete();
        death.get(SOON.toSeconds(), TimeUnit.SECONDS);

        assertThat(ask(address)).isEqualTo("heir");
        assertThat(heir.predecessor()).hasValue(7);
        Takeover next = begin();
        start(next, "next", address, 1);
        next.complete();
        awaitHandedOver(heir);
    }

    @Test
    @DisplayName("bp-6: a stale file is replaced; a server that is started too late, or twice by one name, is refused")
    void edges() throws Exception {
        UnixListener killed = Net.natively().listen(UnixAddress.of(path()));
        killed.removeFileOnClose(false);
        killed.close();
        Takeover takeover = begin();
        TcpServer server = start(takeover, "one", ANY_PORT, 1);
        assertThatThrownBy(() -> start(takeover, "one", ANY_PORT, 1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("the name is taken");
        takeover.complete();
        assertThatThrownBy(takeover::complete).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> TcpServer.builder().takeover(takeover, "late").start(answering("late")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("start all servers before complete()");
        assertThatThrownBy(() -> TcpServer.builder().takeover(takeover, "two words"))
                .isInstanceOf(IllegalArgumentException.class);
        server.close();
        assertThatThrownBy(this::begin)
                .isInstanceOf(IOException.class)
                .hasMessageContaining("this process is shutting down; start again when it has ended");
        takeover.close();
        assertThat(begin().predecessor()).isEmpty();
    }

    // ---- By a service manager ----

    @Test
    @DisplayName("bp-6: a server serves the sockets that it was passed, and leaves what waits there when it stops")
    void socketsOfAServiceManager() throws Exception {
        try (TcpListener manager = Net.natively().listen(ANY_PORT)) {
            InetSocketAddress address = manager.localAddress();
            for (String name : List.of("one", "two")) {
                try (TcpServer server = TcpServer.builder()
                        .reactors(Reactors.builder().reactors(2).withoutWatchdog())
                        .listeners(List.of(passed(manager)))
                        .start(answering(name))) {
                    assertThat(server.address()).isEqualTo(address);
                    for (int i = 0; i < 3; i++) {
                        assertThat(ask(address)).isEqualTo(name);
                    }
                }
            }
            CompletableFuture<TcpServer> stopping = new CompletableFuture<>();
            CompletableFuture<Socket> connected = new CompletableFuture<>();
            stopping.complete(keep(TcpServer.builder()
                    .reactors(Reactors.builder().reactors(1).withoutWatchdog())
                    .listeners(List.of(passed(manager)))
                    .start((connection, data) -> {
                        if (!connected
                                .isDone()) { // on the loop, which cannot accept meanwhile, and then some in a turn
                            for (int i = 0; i < 100; i++) {
                                keep(connect(address));
                            }
                            connected.complete(keep(connect(address)));
                        }
                        stopping.join().stopAccepting();
                    })));
            Socket asking = keep(connect(address));
            await().atMost(SOON)
                    .until(() -> !stopping.join().context().connections().isEmpty());
            asking.getOutputStream().write('?');
            Socket waiting = connected.get(SOON.toSeconds(), TimeUnit.SECONDS);
            stopping.join().stopAccepting().get(SOON.toSeconds(), TimeUnit.SECONDS);
            try (TcpServer server =
                    TcpServer.builder().listeners(List.of(passed(manager))).start(answering("three"))) {
                assertThat(ask(waiting)).isEqualTo("three");
                assertThat(server.unixAddress()).isNull();
            }
            assertThatThrownBy(() -> TcpServer.builder().listeners(List.of()))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    private PassedDescriptor passed(Source source) throws IOException {
        Path through = directory.resolve("pass");
        try (UnixListener listener = Net.natively().listen(UnixAddress.of(through));
                UnixStream here = Net.natively().connect(listener.address());
                UnixStream there = listener.accept()) {
            here.tryWrite(ByteBuffer.wrap(new byte[1]), source);
            List<PassedDescriptor> passed = new ArrayList<>();
            there.tryRead(ByteBuffer.allocate(1), passed);
            return passed.getFirst();
        }
    }
}
