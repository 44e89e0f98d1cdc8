package io.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("mill-11: a server that runs out of descriptors")
@EnabledOnOs(OS.LINUX)
@Timeout(90)
class OutOfDescriptorsTest {
    private static final int LIMIT = 100;

    @TempDir
    static Path jars;

    /** In jars, which are open: a class in a directory cannot be loaded without a descriptor. */
    private static String classPath() {
        List<String> entries = new ArrayList<>();
        ToolProvider jar = ToolProvider.findFirst("jar").orElseThrow();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (Files.isDirectory(Path.of(entry))) {
                Path packed = jars.resolve(entries.size() + ".jar");
                if (!Files.exists(packed)) {
                    int exit = jar.run(System.out, System.err, "-cf0", packed.toString(), "-C", entry, ".");
                    assertThat(exit).isZero();
                }
                entries.add(packed.toString());
            } else {
                entries.add(entry);
            }
        }
        return String.join(File.pathSeparator, entries);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("turns connections away without spinning, serves those it has, and recovers when some close")
    void recovers(String backend) throws Exception {
        Process server = new ProcessBuilder(
                        "bash",
                        "-c",
                        "ulimit -n " + LIMIT + " && exec \"$@\"",
                        "server",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:-MaxFDLimit",
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        classPath(),
                        FewDescriptorsServer.class.getName(),
                        backend)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
            int port = Integer.parseInt(String.valueOf(out.readLine()));
            List<Socket> served = new ArrayList<>();
            int turnedAway = 0;
            for (int i = 0; i < 2 * LIMIT; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                if (turnedAway < 3 && echoes(socket)) {
                    served.add(socket);
                } else {
                    turnedAway++;
                    socket.close();
                }
                if (turnedAway >= 3) {
                    break;
                }
            }
            assertThat(served).isNotEmpty();
            assertThat(turnedAway).isEqualTo(3);
            // Those it has are served, and it does not spin meanwhile.
            Duration before = cpu(server);
            assertThat(new CountDownLatch(1).await(1, TimeUnit.SECONDS)).isFalse();
            for (Socket socket : served) {
                assertThat(echoes(socket)).isTrue();
            }
            assertThat(cpu(server).minus(before)).isLessThan(Duration.ofMillis(700));
            for (Socket socket : served) {
                socket.close();
            }
            boolean again = false;
            while (!again) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    again = echoes(socket);
                }
            }
            server.getOutputStream().close();
            assertThat(out.readLine()).startsWith("errors ").isNotEqualTo("errors 0");
            assertThat(server.waitFor(20, TimeUnit.SECONDS)).isTrue();
            assertThat(server.exitValue()).isZero();
        } finally {
            server.destroyForcibly();
        }
    }

    private static boolean echoes(Socket socket) {
        try {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(42);
            return socket.getInputStream().read() == 42;
        } catch (IOException e) {
            return false;
        }
    }

    private static Duration cpu(Process process) {
        return process.info().totalCpuDuration().orElseThrow();
    }
}
