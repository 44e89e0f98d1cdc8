package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventManager;
import io.millrace.engine.Reactors;
import io.millrace.poll.Clock;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A callback that leaves its thread interrupted: a loop stops by a flag, so the interrupt means nothing to it, and must reach nobody else. */
@DisplayName("Interrupts")
@Timeout(60)
class InterruptsTest {
    private static final byte INTERRUPT = 1;
    private static final byte FILE = 2;
    private static final byte BOTH = 3;

    @TempDir
    Path directory;

    private static EventManager open(Managers kind) {
        return kind == Managers.FOREIGN || kind == Managers.COMPLETION
                ? kind.open()
                : kind.reactors(Clock.system()).reactors(1).open();
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("io.millrace.conformance.Managers#withDispatch")
    @DisplayName(
            "end-1: an interrupt that a callback leaves behind reaches no other connection, and breaks no file that is sent")
    void leftBehind(Managers kind, Dispatch dispatch) throws Exception {
        byte[] content = new byte[300_000];
        new Random(15).nextBytes(content);
        Path file = Files.write(directory.resolve("file"), content);
        LinkedBlockingQueue<Boolean> interrupted = new LinkedBlockingQueue<>();
        try (EventManager manager = open(kind);
                TcpServer server = TcpServer.builder()
                        .manager(manager)
                        .dispatch(dispatch, 1)
                        .start((connection, data) -> {
                            interrupted.add(Thread.currentThread().isInterrupted());
                            byte order = data.get();
                            if ((order & INTERRUPT) != 0) {
                                Thread.currentThread().interrupt();
                            }
                            if ((order & FILE) != 0) {
                                connection.sendFile(file);
                            }
                        });
                Socket first = connect(server);
                Socket second = connect(server)) {
            for (int i = 0; i < 3; i++) {
                first.getOutputStream().write(INTERRUPT);
                assertThat(interrupted.poll(10, TimeUnit.SECONDS)).isFalse();
                assertGets(second, FILE, content);
                assertThat(interrupted.poll(10, TimeUnit.SECONDS))
                        .as("another one's interrupt")
                        .isFalse();
                assertGets(second, BOTH, content);
                assertThat(interrupted.poll(10, TimeUnit.SECONDS)).isFalse();
            }
        }
    }

    private static Socket connect(TcpServer server) throws Exception {
        Socket socket =
                new Socket(InetAddress.getLoopbackAddress(), server.address().getPort());
        socket.setSoTimeout((int) Await.DEADLINE.toMillis());
        return socket;
    }

    private static void assertGets(Socket socket, byte order, byte[] content) throws Exception {
        socket.getOutputStream().write(order);
        assertThat(Arrays.equals(socket.getInputStream().readNBytes(content.length), content))
                .isTrue();
    }

    @ParameterizedTest
    @MethodSource("io.millrace.conformance.Managers#ours")
    @DisplayName("end-1: nor do the next task, alarm and callback of a last turn see it, and the manager ends as ever")
    void tasksAndAlarms(Managers kind) throws Exception {
        List<Boolean> interrupted = new CopyOnWriteArrayList<>();
        Runnable leaves = () -> {
            interrupted.add(Thread.currentThread().isInterrupted());
            Thread.currentThread().interrupt();
        };
        CountDownLatch ran = new CountDownLatch(1);
        try (Reactors manager = kind.reactors(Clock.system()).reactors(1).open()) {
            manager.schedule(Duration.ofDays(1), fired -> leaves.run());
            manager.schedule(Duration.ofDays(2), fired -> leaves.run());
            manager.execute(leaves);
            manager.execute(leaves);
            manager.schedule(Duration.ZERO, fired -> {
                leaves.run();
                ran.countDown();
            });
            assertThat(ran.await(10, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(interrupted).hasSize(5).containsOnly(false);
    }

    @Test
    @DisplayName("mr-1: a watchdog whose callback leaves an interrupt behind does not spin")
    void theWatchdog() throws Exception {
        AtomicInteger looks = new AtomicInteger();
        CompletableFuture<Integer> reported = new CompletableFuture<>();
        Clock counting = () -> {
            if (Thread.currentThread().getName().endsWith("-watchdog")) {
                looks.incrementAndGet();
            }
            return System.nanoTime();
        };
        CountDownLatch gate = new CountDownLatch(1);
        try (Reactors manager = Reactors.builder()
                .reactors(1)
                .name("tested")
                .clock(counting)
                .watchdog(Duration.ofMillis(40), blocked -> {
                    Thread.currentThread().interrupt();
                    reported.complete(looks.get());
                })
                .open()) {
            manager.execute(() -> Await.until("the test lets it go", () -> gate.getCount() == 0));
            int before = reported.get(10, TimeUnit.SECONDS);
            long began = System.nanoTime();
            // Up to four looks at the clock in each period of 20 ms: not before 200 ms are over.
            Await.until("it goes on looking", () -> looks.get() > before + 40);
            assertThat(System.nanoTime() - began).isGreaterThan(100_000_000);
            gate.countDown();
        } finally {
            gate.countDown();
        }
    }
}
