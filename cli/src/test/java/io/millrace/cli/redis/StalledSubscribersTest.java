package io.millrace.cli.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Cli;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("srv-19: redis with a heap of 128 MB, and subscribers that do not read")
@Timeout(90)
class StalledSubscribersTest {
    private static final int STALLED = 12;
    private static final int HEALTHY = 3;
    private static final int SIZE = 8_000;
    /** As much for one subscriber as the heap has. */
    private static final int MESSAGES = 16_000;

    private static Socket subscriber(int port) throws IOException {
        Socket socket = Cli.connect(port);
        socket.getOutputStream().write("SUBSCRIBE news\r\n".getBytes(US_ASCII));
        assertThat(socket.getInputStream().readNBytes("*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n".length()))
                .asString(US_ASCII)
                .startsWith("*3");
        return socket;
    }

    @Test
    @DisplayName("the server lives, and the healthy ones get everything")
    void lives() throws Exception {
        byte[] message = ("*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$" + SIZE + "\r\n" + "x".repeat(SIZE) + "\r\n")
                .getBytes(US_ASCII);
        byte[] publish = ("*3\r\n$7\r\nPUBLISH\r\n$4\r\nnews\r\n$" + SIZE + "\r\n" + "x".repeat(SIZE) + "\r\n")
                .getBytes(US_ASCII);
        try (Cli cli = Cli.serveWith(List.of("-Xmx128m"), "redis")) {
            int port = cli.port();
            List<Socket> stalled = new ArrayList<>();
            for (int i = 0; i < STALLED; i++) {
                stalled.add(subscriber(port));
            }
            List<Thread> readers = new ArrayList<>();
            AtomicInteger complete = new AtomicInteger();
            for (int i = 0; i < HEALTHY; i++) {
                Socket socket = subscriber(port);
                readers.add(Thread.ofPlatform().start(() -> {
                    try (InputStream in = new BufferedInputStream(socket.getInputStream(), 1 << 16)) {
                        for (int n = 0; n < MESSAGES; n++) {
                            in.skipNBytes(message.length);
                        }
                        complete.incrementAndGet();
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                }));
            }
            try (Socket publisher = Cli.connect(port)) {
                InputStream replies = new BufferedInputStream(publisher.getInputStream());
                for (int n = 0; n < MESSAGES; n++) {
                    publisher.getOutputStream().write(publish);
                    assertThat(replies.read()).isEqualTo(':');
                    while (replies.read() != '\n') {
                        // to the end of the count
                    }
                }
            }
            for (Thread reader : readers) {
                reader.join();
            }
            assertThat(complete).hasValue(HEALTHY);
            for (Socket socket : stalled) {
                socket.close();
            }
            cli.signal("TERM");
            assertThat(cli.rest()).singleElement().asString().startsWith("stopped by SIGTERM");
            assertThat(cli.exit()).isZero();
        }
    }
}
