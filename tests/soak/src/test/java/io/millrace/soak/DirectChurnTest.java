package io.millrace.soak;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.millrace.engine.OffLoop;
import io.millrace.engine.OnLoop;
import io.millrace.engine.Reactors;
import io.millrace.engine.VirtualThreadReport;
import io.millrace.poll.Channel;
import io.millrace.poll.Interest;
import io.millrace.poll.Readiness;
import io.millrace.poll.Registration;
import io.millrace.server.DirectClient;
import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import io.millrace.server.ShutdownResult;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.OpenFiles;
import io.millrace.testkit.Reports;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Conversations that end in every way, many at once: 1,500 in every build, 10,000 under {@code -Psoak}, or {@code
 * -Dmillrace.conversations=}. The seed is in the message of a failure; {@code -Dmillrace.seed=} uses it again.
 */
@DisplayName("Conversations that are churned")
@EnabledOnOs(OS.LINUX)
class DirectChurnTest {
    private static final int CONVERSATIONS =
            Integer.getInteger("millrace.conversations", Boolean.getBoolean("millrace.soak") ? 10_000 : 1_500);
    private static final long SEED = Long.getLong("millrace.seed", System.nanoTime());
    private static final int AT_ONCE = 100;
    private static final String STUCK = "a conversation is stuck";

    /** What the two ends of a connection do. */
    private enum Kind {
        ECHO,
        RESET_BY_PEER,
        READ_TIMES_OUT,
        INTERRUPTED,
        CLOSED_ELSEWHERE,
        ABORTED_ELSEWHERE,
        THROWS,
        PEER_DOES_NOT_READ,
        WAITS_FOR_EVERYTHING,
        WAITS_FOR_SOURCES,
        HALF_CLOSES,
        ENDS_UNSENT,
        DISTURBED_AT_ANY_TIME
    }

    /** More than the system takes at once. */
    private static final int UNSENT = 300_000;

    private final ConcurrentHashMap<Integer, DirectSocket> sockets = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Integer, Thread> threads = new ConcurrentHashMap<>();
    private final AtomicInteger present = new AtomicInteger();
    private final Map<Kind, LongAdder> served = counters();
    private final Map<Kind, LongAdder> met = counters();
    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<WeakReference<DirectSocket>> samples = new ConcurrentLinkedQueue<>();

    private static Map<Kind, LongAdder> counters() {
        Map<Kind, LongAdder> counters = new EnumMap<>(Kind.class);
        for (Kind kind : Kind.values()) {
            counters.put(kind, new LongAdder());
        }
        return counters;
    }

    @ParameterizedTest
    @CsvSource({"epoll, true", "epoll, false", "poll, true", "nio, true"})
    @Timeout(900)
    @DisplayName(
            "vt-4, vt-6: closes, interrupts, timeouts and resets at random: none is stuck, nothing is left, no thread, no descriptor")
    void churn(String backend, boolean onLoops, @TempDir Path folder) throws Exception {
        assertThat(VirtualThreadReport.probe().onLoops()).isTrue();
        String run = "seed " + SEED + " (run it with -Dmillrace.seed=" + SEED + ")";
        int count = backend.equals("epoll") ? CONVERSATIONS : CONVERSATIONS / 5;
        assertSeesConversations(onLoops, folder);
        System.out.println(
                count + " conversations on " + backend + (onLoops ? ", on the loops, " : ", elsewhere, ") + run);
        long direct;
        try (Reports reports = new Reports()) { // conversations throw, and that is reported: not on the terminal
            churn(backend, onLoops, Math.min(count, AT_ONCE), SEED + 1, run);
            Map<String, Integer> before = OpenFiles.count();
            direct = directBytes();
            churn(backend, onLoops, count, SEED, run);
            Await.until(run + ": descriptors as before, " + before, () -> OpenFiles.areNoMoreThan(before));
            assertThat(reports.lines()).as(run).noneMatch(line -> line.contains("could not end in order"));
        }
        assertThat(conversationThreads(folder)).as(run).isZero();
        Await.until(run + ": direct memory is kept", () -> {
            System.gc();
            return directBytes() <= direct;
        });
        Await.until(run + ": sockets are kept", () -> {
            System.gc();
            return samples.stream().allMatch(sample -> sample.refersTo(null));
        });
    }

    private void churn(String backend, boolean onLoops, int count, long seed, String run) throws Exception {
        served.values().forEach(LongAdder::reset);
        met.values().forEach(LongAdder::reset);
        Random random = new Random(seed);
        try (Reactors reactors =
                Reactors.builder().reactors(2).backend(backend).name("churn").open()) {
            DirectServer server =
                    DirectServer.start(TcpServer.builder().manager(reactors).loopThreads(onLoops), this::converse);
            try (DirectClient client = DirectClient.open(TcpClient.builder().manager(reactors))) {
                Semaphore room = new Semaphore(AT_ONCE);
                List<Thread> peers = new ArrayList<>();
                for (int i = 0; i < count && failures.isEmpty(); i++) {
                    room.acquire();
                    int id = i;
                    long its = random.nextLong();
                    peers.add(Thread.ofVirtual().start(() -> {
                        try {
                            meet(server.address(), client, id, new Random(its));
                        } catch (Throwable e) {
                            failures.add(new AssertionError(run + ": conversation " + id, e));
                        } finally {
                            room.release();
                        }
                    }));
                }
                for (Thread peer : peers) {
                    assertThat(peer.join(Duration.ofSeconds(60)))
                            .as(run + ": " + STUCK)
                            .isTrue();
                }
            }
            Await.until(
                    run + ": " + STUCK + ", " + present + " of them: " + server.server() + "\n" + reactors.dump(),
                    () -> present.get() == 0);
            ShutdownResult ended = server.shutdown(Duration.ofSeconds(20));
            assertThat(ended.remaining()).as(run).isEmpty();
            Await.until(run + ": no alarm", () -> !reactors.dump().contains("alarms are pending"));
        }
        for (Throwable failure : failures) {
            throw new AssertionError(run, failure);
        }
        for (Kind kind : Kind.values()) {
            assertThat(served.get(kind).sum())
                    .as(run + ": " + kind)
                    .isEqualTo(met.get(kind).sum());
        }
        assertThat(served.values().stream().mapToLong(LongAdder::sum).sum())
                .as(run)
                .isEqualTo(count);
        assertThat(sockets).as(run).isEmpty();
    }

    // ---- The server's end ----

    private void converse(DirectSocket socket) throws Exception {
        present.incrementAndGet();
        int id = -1;
        try {
            String[] words = socket.readLine(100).split(" ");
            id = Integer.parseInt(words[1]);
            if (id % 500 == 0) {
                samples.add(new WeakReference<>(socket));
            }
            threads.put(id, Thread.currentThread());
            sockets.put(id, socket);
            socket.write("ready\n");
            Kind kind = Kind.valueOf(words[0]);
            served.get(kind).increment();
            converse(socket, kind);
        } finally {
            if (id >= 0) {
                sockets.remove(id);
                threads.remove(id);
            }
            present.decrementAndGet();
        }
    }

    private void converse(DirectSocket socket, Kind kind) throws Exception {
        switch (kind) {
            case ECHO, RESET_BY_PEER -> echo(socket);
            case READ_TIMES_OUT -> {
                socket.setReadTimeout(Duration.ofMillis(5));
                try {
                    socket.readLine(100);
                    throw new AssertionError("no timeout");
                } catch (SocketTimeoutException e) {
                    socket.setReadTimeout(Duration.ZERO);
                    socket.write("late\n");
                    echo(socket);
                }
            }
            case INTERRUPTED -> {
                try {
                    socket.readLine(100);
                    throw new AssertionError("no interrupt");
                } catch (InterruptedIOException e) {
                    assertThat(Thread.interrupted()).isTrue();
                    socket.write("interrupted\n");
                    echo(socket);
                }
            }
            case CLOSED_ELSEWHERE, ABORTED_ELSEWHERE -> {
                try {
                    socket.readLine(100);
                    throw new AssertionError("still open");
                } catch (SocketException e) {
                    // closed
                }
            }
            case THROWS -> {
                socket.readLine(100);
                throw new IllegalStateException("on purpose");
            }
            case PEER_DOES_NOT_READ -> {
                byte[] much = new byte[1 << 20];
                while (true) {
                    socket.write(much);
                }
            }
            case WAITS_FOR_EVERYTHING -> {
                Thread.sleep(Duration.ofNanos(100_000));
                OffLoop.call(() -> 1);
                Channel<Integer> channel = Channel.unbounded();
                Thread.ofVirtual().start(() -> channel.send(1));
                channel.take();
                synchronized (failures) {
                    socket.write("waited\n");
                }
                echo(socket);
            }
            case WAITS_FOR_SOURCES -> {
                try (Registration never = new Registration();
                        Registration soon = new Registration()) {
                    assertThat(OnLoop.await(never, Interest.READABLE, Duration.ofNanos(100_000)))
                            .isEqualTo(Readiness.NONE);
                    Thread.ofVirtual().start(() -> soon.setReadiness(Readiness.READABLE));
                    assertThat(OnLoop.await(soon, Interest.READABLE).isReadable())
                            .isTrue();
                }
                socket.write("waited\n");
                echo(socket);
            }
            case HALF_CLOSES -> {
                socket.write("half\n");
                socket.closeOutput();
                assertThat(socket.readLine(100)).isEqualTo("other half");
                assertThat(socket.readLine(100)).isNull();
            }
            case ENDS_UNSENT -> socket.write(new byte[UNSENT]);
            case DISTURBED_AT_ANY_TIME -> goOn(socket);
        }
    }

    /** Does everything that waits, and is interrupted meanwhile, until it is closed. */
    private static void goOn(DirectSocket socket) throws Exception {
        socket.setReadTimeout(Duration.ofNanos(50_000));
        while (true) {
            try (Registration never = new Registration()) {
                socket.write(new byte[5_000]);
                socket.flush();
                OffLoop.call(() -> 1);
                OnLoop.await(never, Interest.READABLE, Duration.ofNanos(50_000));
                Thread.sleep(Duration.ofNanos(1_000));
                socket.readLine(100);
            } catch (InterruptedIOException | InterruptedException e) { // and a timeout is one of the former
                boolean ignored = Thread.interrupted(); // go on, until it is closed
            }
        }
    }

    private static void echo(DirectSocket socket) throws IOException {
        for (String line = socket.readLine(100); line != null; line = socket.readLine(100)) {
            socket.write(line + "\n");
        }
    }

    // ---- The peer's end ----

    private void meet(InetSocketAddress server, DirectClient client, int id, Random random) throws Exception {
        Kind[] kinds = Kind.values();
        Kind kind = kinds[random.nextInt(kinds.length)];
        met.get(kind).increment();
        if (random.nextBoolean()) {
            try (DirectSocket socket = client.connect(server)) {
                socket.setReadTimeout(Duration.ofSeconds(30));
                meet(new Direct(socket), kind, id, random);
            }
        } else {
            try (Socket socket = new Socket(server.getAddress(), server.getPort())) {
                socket.setSoTimeout(30_000);
                meet(new Jdk(socket), kind, id, random);
            }
        }
    }

    /** The same for our sockets and those of the JDK. */
    private interface Peer {
        void write(String text) throws IOException;

        String readLine() throws IOException;

        /** Returns how many bytes came until the end. */
        long readAll() throws IOException;

        void closeOutput() throws IOException;

        void reset() throws IOException;
    }

    private record Direct(DirectSocket socket) implements Peer {
        @Override
        public void write(String text) throws IOException {
            socket.write(text);
        }

        @Override
        public String readLine() throws IOException {
            return socket.readLine(100);
        }

        @Override
        public long readAll() throws IOException {
            return socket.inputStream().transferTo(OutputStream.nullOutputStream());
        }

        @Override
        public void closeOutput() throws IOException {
            socket.closeOutput();
        }

        @Override
        public void reset() {
            socket.abort();
        }
    }

    private record Jdk(Socket socket) implements Peer {
        @Override
        public void write(String text) throws IOException {
            socket.getOutputStream().write(text.getBytes(UTF_8));
        }

        @Override
        public String readLine() throws IOException {
            StringBuilder line = new StringBuilder();
            for (int next = socket.getInputStream().read();
                    next >= 0;
                    next = socket.getInputStream().read()) {
                if (next == '\n') {
                    return line.toString();
                }
                line.append((char) next);
            }
            return line.isEmpty() ? null : line.toString();
        }

        @Override
        public long readAll() throws IOException {
            return socket.getInputStream().transferTo(OutputStream.nullOutputStream());
        }

        @Override
        public void closeOutput() throws IOException {
            socket.shutdownOutput();
        }

        @Override
        public void reset() throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
        }
    }

    private void meet(Peer peer, Kind kind, int id, Random random) throws Exception {
        peer.write(kind + " " + id + "\n");
        expect(peer, "ready");
        switch (kind) {
            case ECHO -> exchange(peer, random);
            case RESET_BY_PEER, PEER_DOES_NOT_READ -> {
                if (kind == Kind.RESET_BY_PEER && random.nextBoolean()) {
                    peer.write("half a li");
                }
                peer.reset();
            }
            case READ_TIMES_OUT -> {
                expect(peer, "late");
                exchange(peer, random);
            }
            case INTERRUPTED -> {
                threads.get(id).interrupt();
                expect(peer, "interrupted");
                exchange(peer, random);
            }
            case CLOSED_ELSEWHERE -> {
                sockets.get(id).close();
                assertThat(peer.readLine()).isNull();
            }
            case ABORTED_ELSEWHERE -> {
                sockets.get(id).abort();
                try {
                    assertThat(peer.readLine()).isNull();
                } catch (SocketException e) {
                    // reset
                }
            }
            case THROWS -> {
                peer.write("anything\n");
                assertThat(peer.readLine()).isNull();
            }
            case WAITS_FOR_EVERYTHING, WAITS_FOR_SOURCES -> {
                expect(peer, "waited");
                exchange(peer, random);
            }
            case HALF_CLOSES -> {
                expect(peer, "half");
                assertThat(peer.readLine()).isNull();
                peer.write("other half\n");
                peer.closeOutput();
            }
            case ENDS_UNSENT -> assertThat(peer.readAll()).isEqualTo(UNSENT);
            case DISTURBED_AT_ANY_TIME -> {
                for (int left = random.nextInt(10); left > 0; left--) {
                    LockSupport.parkNanos(random.nextInt(100_000));
                    threads.get(id).interrupt();
                }
                DirectSocket socket = sockets.get(id);
                if (random.nextBoolean()) {
                    socket.close();
                    assertThat(peer.readAll() % 5_000).isZero();
                } else {
                    socket.abort();
                }
            }
        }
    }

    private static void exchange(Peer peer, Random random) throws IOException {
        for (int left = random.nextInt(4); left > 0; left--) {
            String line = "line " + left;
            peer.write(line + "\n");
            expect(peer, line);
        }
        peer.closeOutput();
        assertThat(peer.readLine()).isNull();
    }

    private static void expect(Peer peer, String line) throws IOException {
        assertThat(peer.readLine()).isEqualTo(line);
    }

    /** Otherwise their number would prove nothing. */
    private static void assertSeesConversations(boolean onLoops, Path folder) throws IOException {
        try (Reactors reactors = Reactors.builder().reactors(1).name("churn").open();
                DirectServer server =
                        DirectServer.start(TcpServer.builder().manager(reactors).loopThreads(onLoops), socket -> {
                            socket.write("ready\n");
                            socket.readLine(10);
                        });
                Socket socket = new Socket(
                        server.address().getAddress(), server.address().getPort())) {
            assertThat(new Jdk(socket).readLine()).isEqualTo("ready");
            assertThat(conversationThreads(folder)).isEqualTo(1);
        }
    }

    private static long directBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    /** Counts the virtual threads of conversations that are alive. */
    private static long conversationThreads(Path folder) throws IOException {
        Path file = folder.resolve("threads.txt");
        Files.deleteIfExists(file);
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .dumpThreads(file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
        return Files.readAllLines(file).stream()
                .filter(line -> line.contains("millrace-conversation"))
                .count();
    }
}
