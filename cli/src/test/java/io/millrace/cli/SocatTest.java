package io.millrace.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("srv-14: Unix sockets and UDP, judged by socat")
@Timeout(120)
class SocatTest {
    @TempDir
    private Path directory;

    @BeforeEach
    void tools() {
        Tools.require("socat", "socat");
    }

    private static byte[] socat(byte[] input, String... args) throws Exception {
        String[] command = new String[args.length + 1];
        command[0] = "socat";
        System.arraycopy(args, 0, command, 1, args.length);
        Process process = new ProcessBuilder(command).start();
        Thread.ofVirtual().start(() -> {
            try (var out = process.getOutputStream()) {
                out.write(input);
            } catch (java.io.IOException e) {
                // It has ended, which the caller sees.
            }
        });
        byte[] got = process.getInputStream().readAllBytes();
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        return got;
    }

    private static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(4).nextBytes(bytes);
        return bytes;
    }

    @Test
    @DisplayName("srv-14: socat is served at a Unix socket, whose file has its mode and goes at the end")
    void unixServer() throws Exception {
        Path path = directory.resolve("s");
        byte[] bytes = random(1 << 20);
        try (Cli server = Cli.start("serve", "echo", "--unix", path.toString(), "--unix-mode", "600")) {
            assertThat(server.firstLine()).startsWith("listening on unix:" + path + " (echo, ");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                    .isEqualTo("rw-------");
            assertThat(socat(bytes, "-t10", "-", "UNIX-CONNECT:" + path)).isEqualTo(bytes);
            server.signal("TERM");
            assertThat(server.exit()).isZero();
        }
        assertThat(path).doesNotExist();
    }

    @Test
    @DisplayName("srv-14: a server that was killed leaves its file, and the next one starts all the same")
    void killed() throws Exception {
        Path path = directory.resolve("s");
        try (Cli server = Cli.start("serve", "echo", "--unix", path.toString())) {
            assertThat(server.firstLine()).startsWith("listening");
            server.signal("KILL");
            server.exit();
        }
        assertThat(path).exists();
        try (Cli server = Cli.start("serve", "echo", "--unix", path.toString());
                Cli second = Cli.start("serve", "echo", "--unix", path.toString() + "x")) {
            assertThat(server.firstLine()).startsWith("listening");
            assertThat(second.firstLine()).startsWith("listening");
            assertThat(socat("x".getBytes(UTF_8), "-t10", "-", "UNIX-CONNECT:" + path))
                    .hasSize(1);
            try (Cli third = Cli.start("serve", "echo", "--unix", path.toString())) {
                assertThat(third.exit()).isEqualTo(2);
                assertThat(third.errors()).contains("a server is listening there already");
            }
        }
    }

    @Test
    @DisplayName("srv-14: a proxy from a Unix socket to that of socat, and on to one of TCP")
    void unixClient() throws Exception {
        Path front = directory.resolve("front");
        Path back = directory.resolve("back");
        byte[] bytes = random(1 << 20);
        Process upstream = new ProcessBuilder("socat", "UNIX-LISTEN:" + back + ",fork", "EXEC:cat").start();
        try (Cli proxy = Cli.start("proxy", "unix:" + front, "unix:" + back)) {
            assertThat(proxy.firstLine()).startsWith("listening on unix:" + front + " (proxy, ");
            Awaitility.await().until(() -> Files.exists(back));
            assertThat(socat(bytes, "-t10", "-", "UNIX-CONNECT:" + front)).isEqualTo(bytes);
        } finally {
            upstream.destroy();
        }
    }

    @Test
    @DisplayName("srv-14: socat gets its datagrams back, and the server says how many there were")
    void udp() throws Exception {
        try (Cli server = Cli.serve("echo", "--udp")) {
            int port = server.port();
            for (int i = 0; i < 5; i++) {
                String text = "datagram " + i + "\n";
                assertThat(new String(socat(text.getBytes(UTF_8), "-t1", "-", "UDP:127.0.0.1:" + port), UTF_8))
                        .isEqualTo(text);
            }
            server.signal("TERM");
            assertThat(server.rest()).containsExactly("stopped by SIGTERM: 5 datagrams in, 5 out");
            assertThat(server.exit()).isZero();
        }
    }
}
