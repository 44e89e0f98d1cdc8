package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Reactors;
import io.millrace.poll.Clock;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.Background;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("What fails below the engine ends it visibly, or harms nothing")
@Timeout(120)
class UnaskedEndTest {
    /** A clock that fails once, on a thread of the manager. */
    private static final class Failing implements Clock {
        private final AtomicBoolean fails = new AtomicBoolean();
        private final Error failure;

        Failing(Error failure) {
            this.failure = failure;
        }

        @Override
        public long nanoTime() {
            if (Thread.currentThread().getName().startsWith("tested-") && fails.compareAndSet(true, false)) {
                throw failure;
            }
            return System.nanoTime();
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#ours")
    @DisplayName("end-1, end-2: a reactor that fails itself ends its manager: everybody is told, and why")
    void aReactorThatFailsEndsItsManager(Managers kind) throws Exception {
        Failing clock = new Failing(new InternalError("thrown by a clock of the test"));
        Calls calls = new Calls();
        try (Reactors manager = kind.reactors(clock).open();
                TcpServer server = TcpServer.builder().manager(manager).start(calls);
                Socket one = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort());
                Socket two = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            calls.awaitConnected(2);
            manager.schedule(Duration.ofDays(1), fired -> {});
            clock.fails.set(true);
            manager.execute(() -> {});
            assertThatThrownBy(() -> manager.termination().get(10, TimeUnit.SECONDS))
                    .isInstanceOf(ExecutionException.class)
                    .hasCause(clock.failure);
            Await.until("it has ended", manager::isTerminated);
            calls.awaitAllEnded();
            assertThat(one.getInputStream().read()).isEqualTo(-1);
            assertThat(two.getInputStream().read()).isEqualTo(-1);
            assertThatThrownBy(() -> manager.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
            assertThatThrownBy(() -> TcpServer.builder().manager(manager).start(calls))
                    .isInstanceOf(RejectedExecutionException.class)
                    .hasMessageContaining("shut down");
            Background.run(server::close).result();
        }
        Clocks.awaitNoThread("tested-");
    }

    /** Another JVM, with whatever limits. */
    static Process start(Class<?> main, String limits, List<String> options, String... arguments) throws IOException {
        List<String> java = new ArrayList<>();
        java.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        java.addAll(options);
        java.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", System.getProperty("java.class.path")));
        java.add("--enable-native-access=ALL-UNNAMED");
        java.add(main.getName());
        java.addAll(List.of(arguments));
        List<String> command = new ArrayList<>(List.of("sh", "-c", limits + " exec \"$@\"", "sh"));
        command.addAll(java);
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("end-2: without memory for one more thread nothing opens, and nothing is left behind")
    void aThreadTooMany() throws Exception {
        // Each thread takes a gibibyte of addresses, so the limit is reached after a few.
        Process child = start(
                ThreadsChild.class,
                "ulimit -v 14000000;",
                List.of(
                        "-Xss1g",
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-XX:ReservedCodeCacheSize=32m",
                        "-XX:CompressedClassSpaceSize=32m"));
        try {
            String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(child.waitFor()).as(output).isZero();
            assertThat(output.lines().filter(line -> line.startsWith("ok ")))
                    .as(output)
                    .hasSize(5);
        } finally {
            child.destroyForcibly();
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"LOOP", "POOL", "VIRTUAL"})
    @EnabledOnOs(OS.LINUX)
    @DisplayName("end-1: a server whose heap was full serves again, or has ended and said so")
    void aFullHeap(String dispatch) throws Exception {
        Process child = start(HeapChild.class, "", List.of("-Xmx24m", "-XX:+UseSerialGC"), dispatch);
        try (InputStream output = child.getInputStream()) {
            int port = Integer.parseInt(line(output));
            Background<String> said = Background.call(() -> new String(output.readAllBytes(), StandardCharsets.UTF_8));
            assertThat(serves(port)).isTrue(); // and has loaded what it needs for that
            for (int i = 0; i < 20; i++) {
                try (Socket socket = new Socket()) {
                    socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
                    socket.setSoTimeout(100);
                    socket.getOutputStream().write(i % 3 == 0 ? 'h' : 'e');
                    socket.getInputStream().read();
                } catch (IOException e) {
                    // It has no memory for us.
                }
            }
            release(child);
            try {
                Await.until("it serves, or has ended", () -> serves(port) || !child.isAlive());
            } catch (AssertionError e) {
                String threads = threads(child);
                child.destroyForcibly();
                throw new AssertionError(said.result() + threads, e);
            }
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"reactor", "item", "watchdog"})
    @EnabledOnOs(OS.LINUX)
    @DisplayName(
            "end-1, end-2, mr-1: what fails for the first time when there is no memory at all is contained, and its end is told")
    void noMemoryAtAll(String what) throws Exception {
        Process child = start(FullHeapChild.class, "", List.of("-Xmx24m", "-XX:+UseSerialGC"), what);
        Background<String> said =
                Background.call(() -> new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
        try {
            boolean over = child.waitFor(40, TimeUnit.SECONDS);
            String threads = over ? "" : threads(child);
            child.destroyForcibly();
            assertThat(over && child.exitValue() == 0)
                    .as(said.result() + threads)
                    .isTrue();
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    /** What the threads of a JVM do, for the message of a failure. */
    private static String threads(Process child) throws IOException {
        Process dump = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jstack")
                                .toString(),
                        Long.toString(child.pid()))
                .redirectErrorStream(true)
                .start();
        return new String(dump.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static void release(Process child) {
        try {
            child.getOutputStream().write('\n');
            child.getOutputStream().flush();
        } catch (IOException e) {
            // It has ended, which is one of the two things that it may do.
        }
    }

    private static boolean serves(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(1_000);
            socket.getOutputStream().write('e');
            return socket.getInputStream().read() == 'e';
        } catch (IOException e) {
            return false;
        }
    }

    private static String line(InputStream from) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = from.read(); next != '\n' && next >= 0; next = from.read()) {
            line.append((char) next);
        }
        return line.toString();
    }
}
