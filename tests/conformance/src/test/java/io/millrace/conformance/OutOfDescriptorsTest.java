package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testkit.Await;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("A server that runs out of descriptors")
@Timeout(120)
class OutOfDescriptorsTest {
    private static final int PEERS = 80;

    /** What the child says, line by line. */
    private static final class Child implements AutoCloseable {
        private final Process process;
        private final LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
        private final List<String> said = new ArrayList<>();

        Child(String backend) throws IOException {
            process = UnaskedEndTest.start(
                    DescriptorsChild.class, "ulimit -n 64;", List.of("-Duser.timezone=Asia/Kolkata"), backend);
            Thread.ofPlatform()
                    .daemon()
                    .start(() -> process.inputReader().lines().forEach(lines::add));
        }

        /** Reads on, to a line that begins like this. */
        String line(String beginning) {
            try {
                for (; ; ) {
                    String line = lines.poll(20, TimeUnit.SECONDS);
                    assertThat(line)
                            .as("a line with '%s' after %s", beginning, said)
                            .isNotNull();
                    said.add(line);
                    if (line.startsWith(beginning)) {
                        return line;
                    }
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        String ask() {
            try {
                say("state");
                return line("state ");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Until for a second it has told of nothing more, and no alarm is pending: far longer than it waits to try again. */
        void awaitSilence() {
            String[] last = {ask()};
            long[] since = {System.nanoTime()};
            Await.until("it is silent", () -> {
                String state = ask();
                if (!state.equals(last[0]) || state.endsWith(" busy")) {
                    last[0] = state;
                    since[0] = System.nanoTime();
                }
                return System.nanoTime() - since[0] > 1_000_000_000;
            });
        }

        /** Whether it echoes; false if it has closed the connection. */
        boolean serves(Socket socket) {
            try {
                socket.setSoTimeout(20_000);
                socket.getOutputStream().write('x');
                return socket.getInputStream().read() == 'x';
            } catch (SocketTimeoutException e) {
                throw new AssertionError("neither served nor turned away; it says " + said + lines, e);
            } catch (IOException e) {
                return false;
            }
        }

        void say(String word) throws IOException {
            OutputStream input = process.getOutputStream();
            input.write((word + "\n").getBytes(StandardCharsets.UTF_8));
            input.flush();
        }

        @Override
        public void close() {
            process.destroyForcibly().onExit().join();
        }
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @EnabledOnOs(OS.LINUX)
    @DisplayName("mill-11, srv-4: turns away those who wait, says so and what to do, and is silent when nobody waits")
    void turnsAwayAndIsSilent(String backend) throws Exception {
        List<Socket> sockets = new ArrayList<>();
        try (Child child = new Child(backend)) {
            int port = Integer.parseInt(child.line(""));
            for (int i = 0; i < PEERS; i++) {
                sockets.add(new Socket(InetAddress.getLoopbackAddress(), port));
            }
            assertThat(child.line("WARNING: "))
                    .contains("cannot accept on /127.0.0.1:" + port)
                    .contains("EMFILE")
                    .contains("raise the limit of open files (ulimit -n)");
            int served = 0;
            for (Socket socket : sockets) {
                served += child.serves(socket) ? 1 : 0;
            }
            assertThat(served).isBetween(10, PEERS - 1);
            child.awaitSilence();
            // When there are descriptors again it serves again, without being told.
            for (Socket socket : sockets) {
                socket.close();
            }
            Await.until("it serves again", () -> serves(child, port));
            child.say("end");
            assertThat(child.line("offset ")).isEqualTo("offset +05:30");
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    private static boolean serves(Child child, int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return child.serves(socket);
        } catch (IOException e) {
            return false;
        }
    }
}
