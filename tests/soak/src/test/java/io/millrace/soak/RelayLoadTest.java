package io.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Reactors;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Relay;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import java.nio.ByteBuffer;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A tenth in every build, all of it under {@code -Psoak}. */
@DisplayName("A relay under load")
@Timeout(300)
class RelayLoadTest {
    private static final boolean SOAK = Boolean.getBoolean("millrace.soak");
    private static final int AT_ONCE = 64;
    /** Many times the high-water mark, and more than the buffers of the kernel: so each pair pauses and resumes all the time. */
    private static final int BYTES = 128 << 10;

    private static byte byteAt(long id, int position) {
        return (byte) (id * 31 + position * 7L + (position >> 8));
    }

    /** Sends all its bytes, ends its output, and looks at what comes back. */
    private static final class Sender implements ConnectionHandler {
        private final long id;
        private final Semaphore places;
        private final AtomicInteger whole;
        private int received;
        private boolean wrong;

        Sender(long id, Semaphore places, AtomicInteger whole) {
            this.id = id;
            this.places = places;
            this.whole = whole;
        }

        @Override
        public void onConnect(Connection connection) {
            ByteBuffer bytes = ByteBuffer.allocate(BYTES);
            for (int i = 0; i < BYTES; i++) {
                bytes.put(byteAt(id, i));
            }
            connection.send(bytes.flip());
            connection.closeOutput();
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            while (data.hasRemaining()) {
                wrong |= data.get() != byteAt(id, received++);
            }
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            wrong = true;
        }

        @Override
        public void onDisconnect(Connection connection) {
            if (received == BYTES && !wrong) {
                whole.incrementAndGet();
            }
            places.release();
        }
    }

    @Test
    @DisplayName("srv-8: no resume is lost in 10,000 pairs on two loops, which fill up over and over")
    void pairs() throws Exception {
        int count = SOAK ? 10_000 : 1_000;
        AtomicInteger whole = new AtomicInteger();
        Semaphore places = new Semaphore(AT_ONCE);
        try (Reactors peers = Reactors.builder().reactors(1).open();
                Reactors near = Reactors.builder().reactors(1).open();
                Reactors far = Reactors.builder().reactors(1).open();
                TcpServer echo = TcpServer.builder()
                        .manager(peers)
                        .readWhileFull(true)
                        .start(new ConnectionHandler() {
                            @Override
                            public void onData(Connection connection, ByteBuffer data) {
                                connection.send(data);
                            }

                            @Override
                            public void onEndOfInput(Connection connection) {
                                connection.closeOutput();
                            }
                        });
                TcpClient upstream = TcpClient.builder()
                        .manager(far)
                        .waterMarks(1 << 10, 2 << 10, 1 << 20)
                        .bufferSize(4 << 10)
                        .open();
                TcpServer proxy = TcpServer.builder()
                        .manager(near)
                        .waterMarks(1 << 10, 2 << 10, 1 << 20)
                        .bufferSize(4 << 10)
                        .start(Relay.proxy(upstream, echo.address()));
                TcpClient client = TcpClient.builder().manager(peers).open()) {
            for (int i = 0; i < count; i++) {
                assertThat(places.tryAcquire(30, TimeUnit.SECONDS))
                        .as("pair %s can begin: fewer than %s are stuck", i, AT_ONCE)
                        .isTrue();
                var ignored = client.connect(proxy.address(), new Sender(i, places, whole));
            }
            assertThat(places.tryAcquire(AT_ONCE, 60, TimeUnit.SECONDS))
                    .as("all pairs end")
                    .isTrue();
            assertThat(whole).hasValue(count);
            Await.until(
                    "both sides of all relays have ended",
                    () -> proxy.context().connections().isEmpty()
                            && upstream.context().connections().isEmpty());
        }
    }
}
