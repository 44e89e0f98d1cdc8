package io.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.HotSpotDiagnosticMXBean;
import io.millrace.engine.OffLoop;
import io.millrace.engine.OnLoop;
import io.millrace.engine.Reactors;
import io.millrace.engine.VirtualThreadReport;
import io.millrace.poll.Channel;
import io.millrace.poll.Interest;
import io.millrace.poll.Registration;
import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import io.millrace.server.ShutdownResult;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.OpenFiles;
import io.millrace.testkit.Reports;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Servers that end under conversations, whatever those do: 40 servers with ten conversations each in every build, 1,000
 * under {@code -Psoak}, or {@code -Dmillrace.endings=}. The seed of a server is in the message of its failure; {@code
 * -Dmillrace.seed=} repeats that one.
 */
@DisplayName("Servers that end under conversations")
@EnabledOnOs(OS.LINUX)
class DirectEndingsTest {
    private static final int SERVERS =
            Integer.getInteger("millrace.endings", Boolean.getBoolean("millrace.soak") ? 1_000 : 40);
    private static final Long ONE_SEED = Long.getLong("millrace.seed");
    private static final int CONVERSATIONS = 10;

    /** More than the system takes, and less than a writer has to wait for. */
    private static final int MUCH = 8 << 20;

    /** Far more than an end takes, and far less than what it would otherwise wait for. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** What a conversation is doing. */
    private enum Doing {
        READS,
        READS_WITH_LIMIT,
        WRITES,
        FLUSHES,
        SLEEPS,
        LOCKS,
        ENTERS_MONITOR,
        WAITS_IN_MONITOR,
        HOLDS_MONITOR,
        OFF_LOOP,
        OFF_LOOP_STUBBORN,
        TAKES,
        WAITS_FOR_SOURCE,
        WAITS_FOR_FUTURE,
        STUBBORN,
        STUBBORN_AT_LAST,
        COMPUTES
    }

    /** What ends them. */
    private enum Ending {
        SHUTDOWN,
        SHUTDOWN_AT_ONCE,
        SHUTDOWN_TWICE,
        MANAGER_CLOSES,
        BOTH,
        CLOSED_ELSEWHERE,
        ABORTED_ELSEWHERE,
        INTERRUPTED,
        PEERS_RESET
    }

    private final Queue<WeakReference<DirectSocket>> samples = new ConcurrentLinkedQueue<>();

    @ParameterizedTest
    @CsvSource({"epoll, true", "epoll, false", "poll, true", "nio, true"})
    @Timeout(900)
    @DisplayName(
            "vt-2, vt-4, vt-6: whatever conversations do and whatever ends them: the end comes in time and names them, each runs its finally, nothing is left")
    void ends(String backend, boolean onLoops, @TempDir Path folder) throws Exception {
        assertThat(VirtualThreadReport.probe().onLoops()).isTrue();
        int count = ONE_SEED != null ? 1 : backend.equals("epoll") ? SERVERS : Math.max(1, SERVERS / 5);
        long first = ONE_SEED != null ? ONE_SEED : System.nanoTime();
        try (Reports reports = new Reports()) { // conversations throw, and that is reported: not on the terminal
            new Round(backend, onLoops, first - 1).run();
            Map<String, Integer> before = OpenFiles.count();
            for (int i = 0; i < count; i++) {
                new Round(backend, onLoops, first + i).run();
            }
            Await.until(
                    "seeds from " + first + ": descriptors as before, " + before,
                    () -> OpenFiles.areNoMoreThan(before));
            assertThat(reports.lines()).noneMatch(line -> line.contains("IllegalMonitorState"));
        }
        Await.until(
                "seeds from " + first + ": no thread", () -> leftThreads(folder).isEmpty());
        Await.until("seeds from " + first + ": sockets are kept", () -> {
            System.gc();
            return samples.stream().allMatch(sample -> sample.refersTo(null));
        });
    }

    private static List<String> leftThreads(Path folder) {
        try {
            Path file = folder.resolve("threads.txt");
            Files.deleteIfExists(file);
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .dumpThreads(file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
            return Files.readAllLines(file).stream()
                    .filter(line -> line.contains("millrace-conversation")
                            || line.contains("millrace-off-loop")
                            || line.contains("direct-endings"))
                    .toList();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** One server. */
    private final class Round {
        private final String name;
        private final String backend;
        private final boolean onLoops;
        private final Random random;
        private final Ending ending;
        private final Doing[] doings = new Doing[CONVERSATIONS];

        private final CountDownLatch begun = new CountDownLatch(CONVERSATIONS);
        private final AtomicInteger unended = new AtomicInteger(CONVERSATIONS);
        private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
        private final DirectSocket[] sockets = new DirectSocket[CONVERSATIONS];
        private final Thread[] threads = new Thread[CONVERSATIONS];

        private volatile boolean released;
        private Thread holder = Thread.currentThread();
        private final ReentrantLock lock = new ReentrantLock();
        private final Object monitor = new Object();
        private final CompletableFuture<Void> never = new CompletableFuture<>();

        Round(String backend, boolean onLoops, long seed) {
            this.backend = backend;
            this.onLoops = onLoops;
            this.random = new Random(seed);
            this.ending = Ending.values()[random.nextInt(Ending.values().length)];
            for (int i = 0; i < CONVERSATIONS; i++) {
                doings[i] = Doing.values()[random.nextInt(Doing.values().length)];
            }
            int last = CONVERSATIONS - 1;
            for (int i = 0; i < last; i++) {
                if (doings[i] == Doing.COMPUTES) {
                    doings[i] = Doing.READS; // it may block the loop, so that nothing else begins after it
                }
            }
            this.name = "seed " + seed + " (-Dmillrace.seed=" + seed + "), " + backend + ", "
                    + (onLoops ? "on the loops" : "elsewhere") + ", " + ending + " of " + List.of(doings);
        }

        void run() throws Exception {
            CountDownLatch held = new CountDownLatch(1);
            holder = Thread.ofPlatform().start(() -> {
                lock.lock();
                synchronized (monitor) {
                    held.countDown();
                    while (!released) {
                        LockSupport.park();
                    }
                }
                lock.unlock();
            });
            held.await();
            List<Socket> peers = new ArrayList<>();
            Reactors reactors = Reactors.builder()
                    .reactors(1 + random.nextInt(2))
                    .backend(backend)
                    .name("direct-endings")
                    .open();
            try {
                DirectServer server = DirectServer.start(
                        TcpServer.builder()
                                .manager(reactors)
                                .loopThreads(onLoops)
                                .waterMarks(MUCH, 2 * MUCH, 4 * MUCH),
                        this::converse);
                for (int i = 0; i < CONVERSATIONS; i++) {
                    long before = begun.getCount();
                    Socket peer = new Socket();
                    peers.add(peer);
                    peer.setReceiveBufferSize(64 << 10);
                    peer.connect(server.address());
                    peer.getOutputStream().write((i + "\n").getBytes(java.nio.charset.StandardCharsets.US_ASCII));
                    Await.until(name + ": conversation " + i + " begins", () -> begun.getCount() < before);
                }
                end(server, reactors, peers);
                release();
                Await.until(name + ": " + unended + " have not ended\n" + reactors.dump(), () -> unended.get() == 0);
                ShutdownResult how = server.shutdown(Duration.ofMillis(100));
                Await.until(
                        name + ": remaining " + how, () -> server.remaining().isEmpty());
            } finally {
                release();
                reactors.close();
                for (Socket peer : peers) {
                    peer.close();
                }
            }
            assertThat(wrong).as(name).isEmpty();
            for (DirectSocket socket : sockets) {
                samples.add(new WeakReference<>(socket));
            }
            holder.join();
        }

        private void end(DirectServer server, Reactors reactors, List<Socket> peers) throws Exception {
            switch (ending) {
                case SHUTDOWN -> expectAllNamed(inTime(() -> server.shutdown(Duration.ofMillis(20))));
                case SHUTDOWN_AT_ONCE -> expectAllNamed(inTime(() -> server.shutdown(Duration.ZERO)));
                case SHUTDOWN_TWICE -> {
                    Thread other = Thread.ofPlatform().start(() -> server.shutdown(Duration.ofDays(1)));
                    Await.until(name, () -> server.toString().contains("closing"));
                    inTime(() -> server.shutdown(Duration.ofMillis(20)));
                    release();
                    assertThat(other.join(PATIENCE)).as(name).isTrue();
                }
                case MANAGER_CLOSES -> {
                    inTime(() -> {
                        reactors.close();
                        return null;
                    });
                    interruptAll(); // those that wait for something else than their connections
                }
                case BOTH -> {
                    Thread other = Thread.ofPlatform().start(reactors::close);
                    inTime(() -> server.shutdown(Duration.ofMillis(20)));
                    assertThat(other.join(PATIENCE)).as(name).isTrue();
                }
                case CLOSED_ELSEWHERE -> {
                    for (DirectSocket socket : sockets) {
                        socket.close();
                    }
                    interruptAll();
                }
                case ABORTED_ELSEWHERE -> {
                    for (DirectSocket socket : sockets) {
                        socket.abort();
                    }
                    interruptAll();
                }
                case INTERRUPTED -> interruptAll();
                case PEERS_RESET -> {
                    for (Socket peer : peers) {
                        peer.setSoLinger(true, 0);
                        peer.close();
                    }
                    interruptAll();
                }
            }
        }

        private void release() {
            released = true;
            LockSupport.unpark(holder);
        }

        private void interruptAll() {
            for (Thread thread : threads) {
                thread.interrupt();
            }
        }

        private <T> T inTime(java.util.concurrent.Callable<T> what) throws Exception {
            java.util.concurrent.FutureTask<T> task = new java.util.concurrent.FutureTask<>(what);
            Thread thread = Thread.ofPlatform().start(task);
            try {
                return task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            } catch (java.util.concurrent.TimeoutException e) {
                throw new AssertionError(name + ": does not return\n" + List.of(thread.getStackTrace()), e);
            }
        }

        /** None could end by itself, so all were cut off; those that are stubborn remain. */
        private void expectAllNamed(ShutdownResult how) {
            assertThat(how.drained()).as(name).isFalse();
            assertThat(how.cutOff())
                    .as(name)
                    .hasSize(CONVERSATIONS)
                    .allSatisfy(text -> assertThat(text).contains("whose conversation had not ended"));
        }

        // ---- The conversations ----

        private void converse(DirectSocket socket) throws Exception {
            int id = Integer.parseInt(socket.readLine(10));
            sockets[id] = socket;
            threads[id] = Thread.currentThread();
            try {
                begun.countDown();
                act(doings[id], socket);
                if (doings[id] != Doing.STUBBORN && doings[id] != Doing.COMPUTES) {
                    expectReleased(doings[id]);
                }
            } finally {
                if (doings[id] == Doing.STUBBORN_AT_LAST) {
                    persist();
                }
                unended.decrementAndGet();
            }
        }

        private void expectReleased(Doing doing) {
            if (!released) {
                wrong.add(doing + " has returned");
            }
        }

        private void act(Doing doing, DirectSocket socket) throws Exception {
            switch (doing) {
                case READS, STUBBORN_AT_LAST -> socket.readLine(10);
                case READS_WITH_LIMIT -> {
                    socket.setReadTimeout(Duration.ofHours(1));
                    socket.readLine(10);
                }
                case WRITES -> {
                    while (true) {
                        socket.write(new byte[1 << 20]);
                    }
                }
                case FLUSHES -> {
                    socket.setWriteTimeout(Duration.ofHours(1));
                    socket.write(new byte[MUCH]);
                    socket.flush();
                }
                case SLEEPS -> Thread.sleep(Duration.ofDays(1));
                case LOCKS -> {
                    lock.lock();
                    lock.unlock();
                }
                case ENTERS_MONITOR -> {
                    synchronized (monitor) {
                        expectReleased(doing);
                    }
                }
                case WAITS_IN_MONITOR -> {
                    Object own = new Object();
                    synchronized (own) {
                        while (!released) {
                            own.wait();
                        }
                    }
                }
                case HOLDS_MONITOR -> {
                    synchronized (new Object()) {
                        socket.readLine(10);
                    }
                }
                case OFF_LOOP ->
                    OffLoop.call(() -> {
                        Thread.sleep(Duration.ofDays(1));
                        return 1;
                    });
                case OFF_LOOP_STUBBORN ->
                    OffLoop.call(() -> {
                        persist();
                        return 1;
                    });
                case TAKES -> {
                    try (Channel<Integer> channel = Channel.unbounded()) {
                        channel.take();
                    }
                }
                case WAITS_FOR_SOURCE -> {
                    try (Registration source = new Registration()) {
                        OnLoop.await(source, Interest.READABLE, Duration.ofHours(1));
                    }
                }
                case WAITS_FOR_FUTURE -> never.get();
                case STUBBORN -> persist();
                case COMPUTES -> {
                    while (!released) {
                        Thread.onSpinWait();
                    }
                }
            }
        }

        /** Waits until it is released, whatever happens. */
        private void persist() {
            boolean interrupted = false;
            while (!released) {
                LockSupport.parkNanos(this, 10_000_000);
                interrupted |= Thread.interrupted();
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
