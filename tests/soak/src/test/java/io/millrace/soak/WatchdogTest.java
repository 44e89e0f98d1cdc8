package io.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A server in a process of its own, under conditions that look like a blocked handler and are not; and under one that is. */
@DisplayName("mr-1: the watchdog")
@EnabledOnOs(OS.LINUX)
@Timeout(90)
class WatchdogTest {
    private static final long SECONDS = Boolean.getBoolean("millrace.soak") ? 30 : 3;

    @TempDir
    private Path directory;

    private final class Watched implements AutoCloseable {
        private final Path log = directory.resolve("log");
        private final Process process;
        private final Socket socket;

        Watched(String... prefix) throws IOException {
            List<String> command = new ArrayList<>(List.of(prefix));
            command.addAll(List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "--enable-native-access=ALL-UNNAMED",
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-cp",
                    System.getProperty("java.class.path"),
                    WatchedServer.class.getName()));
            process = new ProcessBuilder(command).redirectError(log.toFile()).start();
            BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
            int port = Integer.parseInt(String.valueOf(out.readLine()));
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(60_000);
        }

        void echo(char what) throws IOException {
            socket.getOutputStream().write(what);
            assertThat(socket.getInputStream().read()).isEqualTo(what);
        }

        /** As much as it can, for some time. */
        void load() throws IOException {
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
            while (System.nanoTime() - end < 0) {
                echo('x');
            }
        }

        /** After its end, when all is written. */
        List<String> reports() throws Exception {
            socket.close();
            process.getOutputStream().close();
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
            return Files.readAllLines(log).stream()
                    .filter(line -> line.startsWith("WARNING"))
                    .toList();
        }

        @Override
        public void close() {
            process.destroyForcibly();
        }
    }

    @Test
    @DisplayName("reports a handler that sleeps or computes, once for each place, and names it")
    void blocked() throws Exception {
        try (Watched server = new Watched()) {
            for (int i = 0; i < 5; i++) {
                server.echo('s');
                server.echo('x');
            }
            server.echo('c');
            List<String> reports = server.reports();
            // One place, where it parks, and one or two lines of the loop that computes.
            assertThat(reports).isNotEmpty().hasSizeLessThanOrEqualTo(4);
            assertThat(reports)
                    .allMatch(line -> line.contains("watched-0 has been held for") && line.contains("connection 1"));
        }
    }

    @Test
    @DisplayName("blames nobody beside six busy processes on its core")
    void starved() throws Exception {
        List<Process> busy = new ArrayList<>();
        try (Watched server = new Watched("taskset", "-c", "0")) {
            for (int i = 0; i < 6; i++) {
                busy.add(new ProcessBuilder("taskset", "-c", "0", "sh", "-c", "while :; do :; done").start());
            }
            server.load();
            busy.forEach(Process::destroyForcibly);
            assertThat(server.reports()).isEmpty();
        } finally {
            busy.forEach(Process::destroyForcibly);
        }
    }

    @Test
    @DisplayName("blames nobody when the process was stopped for a while")
    void stopped() throws Exception {
        try (Watched server = new Watched()) {
            for (int i = 0; i < SECONDS; i++) {
                server.echo('x');
                // So that it is stopped in the middle of something, as far as that can be had.
                Thread load = Thread.ofVirtual().start(() -> {
                    try {
                        for (int j = 0; j < 20_000; j++) {
                            server.echo('x');
                        }
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                });
                signal(server.process, "STOP");
                assertThat(load.join(java.time.Duration.ofMillis(400))).isFalse();
                signal(server.process, "CONT");
                assertThat(load.join(java.time.Duration.ofSeconds(30))).isTrue();
            }
            assertThat(server.reports()).isEmpty();
        }
    }

    @Test
    @DisplayName("blames nobody when a quota of 0.2 processors is used up")
    void throttled() throws Exception {
        Path group =
                Path.of("/sys/fs/cgroup/cpu/millrace-" + ProcessHandle.current().pid());
        try {
            Files.createDirectory(group);
        } catch (IOException e) {
            Assumptions.abort("skipped: needs to make a control group with a quota (root, cgroup v1): " + e);
        }
        try (Watched server = new Watched()) {
            Files.writeString(group.resolve("cpu.cfs_period_us"), "1000000");
            Files.writeString(group.resolve("cpu.cfs_quota_us"), "200000");
            Files.writeString(group.resolve("cgroup.procs"), Long.toString(server.process.pid()));
            server.load();
            Files.writeString(group.resolve("cpu.cfs_quota_us"), "-1");
            assertThat(server.reports()).isEmpty();
        } finally {
            Files.delete(group);
        }
    }

    private static void signal(Process process, String name) throws Exception {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
        assertThat(kill.waitFor()).isZero();
    }
}
