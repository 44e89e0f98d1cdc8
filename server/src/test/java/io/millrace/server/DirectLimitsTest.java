package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.server.connection.StreamConnection;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("Limits of time of a direct socket")
@Timeout(30)
class DirectLimitsTest {
    private final ManualClock clock = new ManualClock();
    private Reactors reactors;
    private ServerSocket listener;
    private DirectClient client;
    private DirectSocket socket;
    private Socket peer;

    @BeforeEach
    void connect() throws IOException {
        reactors = Reactors.builder()
                .reactors(1)
                .backend("poll")
                .clock(clock)
                .withoutWatchdog()
                .open();
        listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        client = DirectClient.open(TcpClient.builder().manager(reactors));
        socket = client.connect(new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort()));
        peer = listener.accept();
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        client.close();
        listener.close();
        reactors.close();
    }

    /** A thread that does something, and what became of it. */
    private final class Waiting {
        private final CompletableFuture<String> ended = new CompletableFuture<>();
        private final Thread thread;

        Waiting(Callable<?> what) {
            thread = Thread.ofVirtual().start(() -> {
                try {
                    ended.complete("returned " + what.call());
                } catch (Exception e) {
                    ended.complete(e.getClass().getSimpleName());
                }
            });
            await().until(() -> ended.isDone() || thread.getState() == Thread.State.WAITING);
        }

        String result() throws Exception {
            return ended.get(20, TimeUnit.SECONDS);
        }
    }

    private Waiting read() {
        return new Waiting(() -> socket.read(ByteBuffer.allocate(1)));
    }

    /** Lets time pass, and returns when the loop has seen it. */
    private void advance(int seconds) throws Exception {
        clock.advance(Duration.ofSeconds(seconds));
        for (int i = 0; i < 2; i++) { // what is due in the first turn runs in it
            CompletableFuture<Void> turn = new CompletableFuture<>();
            ((StreamConnection) socket.connection()).loop().execute(() -> turn.complete(null));
            turn.get(20, TimeUnit.SECONDS);
        }
    }

    @Test
    @DisplayName("vt-1 of the limit of a call and the limit of all calls, the earlier one counts")
    void theEarlierLimit() throws Exception {
        socket.setReadTimeout(Duration.ofSeconds(10));
        socket.setTimeLimit(Duration.ofSeconds(3));
        Waiting first = read();
        advance(2);
        assertThat(first.ended).isNotDone();
        advance(1);
        assertThat(first.result()).isEqualTo("SocketTimeoutException");
        Waiting second = read();
        advance(0);
        assertThat(second.result()).as("the time for all is over").isEqualTo("SocketTimeoutException");
        socket.setReadTimeout(Duration.ofSeconds(1));
        socket.setTimeLimit(Duration.ofSeconds(3));
        Waiting third = read();
        advance(1);
        assertThat(third.result()).isEqualTo("SocketTimeoutException");
    }

    @Test
    @DisplayName("vt-1 the limit of all calls goes on from one to the next, and bytes that are there are read after it")
    void theLimitOfAll() throws Exception {
        socket.setTimeLimit(Duration.ofSeconds(3));
        Waiting first = read();
        advance(2);
        peer.getOutputStream().write(new byte[2]);
        assertThat(first.result()).isEqualTo("returned 1");
        assertThat(read().result()).isEqualTo("returned 1");
        Waiting third = read();
        advance(1);
        assertThat(third.result()).isEqualTo("SocketTimeoutException");
        peer.getOutputStream().write(new byte[1]);
        await().until(() -> socket.connection().bytesReceived() == 3);
        assertThat(read().result()).as("it need not wait").isEqualTo("returned 1");
    }

    @Test
    @DisplayName("vt-1 a limit of zero takes back the one before")
    void noLimit() throws Exception {
        socket.setReadTimeout(Duration.ofSeconds(3));
        socket.setTimeLimit(Duration.ofSeconds(3));
        socket.setReadTimeout(Duration.ZERO);
        socket.setTimeLimit(Duration.ZERO);
        Waiting read = read();
        advance(100);
        assertThat(read.ended).isNotDone();
        peer.getOutputStream().write(1);
        assertThat(read.result()).isEqualTo("returned 1");
    }

    @Test
    @DisplayName("vt-1 the limit of a frame begins with its first byte, and not again with the others")
    void theLimitOfAFrame() throws Exception {
        Framing framing = Framing.lengthPrefixed(2, 100).within(Duration.ofSeconds(3));
        Waiting read = new Waiting(() -> socket.readFrame(framing));
        advance(100); // nothing has begun
        assertThat(read.ended).isNotDone();
        peer.getOutputStream().write(0);
        await().until(() -> reactors.dump().contains("alarms are pending")); // it has
        advance(2);
        assertThat(read.ended).isNotDone();
        peer.getOutputStream().write(1);
        await().until(() -> socket.connection().bytesReceived() == 2);
        advance(1);
        assertThat(read.result()).isEqualTo("SocketTimeoutException");
    }
}
