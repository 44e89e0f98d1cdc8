package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.poll.Clock;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A slice of what {@code TlsFuzzTest} does, with real sockets, threads and clients. */
@DisplayName("A real server whose TLS clients are broken")
@Timeout(120)
class TlsBrokenPeersTest {
    private static final int SESSIONS = Boolean.getBoolean("millrace.soak") ? 1_000 : 40;
    private static final TestCertificates CERTIFICATES = TestCertificates.shared();

    /** A plain socket that changes, drops or doubles a byte of what is sent through it. */
    private static final class BreakingSocket extends Socket {
        private final Random random;
        private final int at;

        BreakingSocket(Random random, int at) {
            this.random = random;
            this.at = at;
        }

        @Override
        public OutputStream getOutputStream() throws IOException {
            OutputStream real = super.getOutputStream();
            return new FilterOutputStream(real) {
                private int sent;

                @Override
                public void write(int next) throws IOException {
                    write(new byte[] {(byte) next}, 0, 1);
                }

                @Override
                public void write(byte[] bytes, int from, int count) throws IOException {
                    byte[] copy = new byte[count];
                    System.arraycopy(bytes, from, copy, 0, count);
                    int place = at - sent;
                    sent += count;
                    if (place < 0 || place >= count) {
                        real.write(copy);
                        return;
                    }
                    switch (random.nextInt(4)) {
                        case 0 -> copy[place] ^= (byte) (1 + random.nextInt(255));
                        case 1 -> real.write(copy, 0, place); // some of it twice
                        case 2 -> {
                            real.write(copy, 0, place);
                            real.write(copy, place + 1, count - place - 1);
                            return;
                        }
                        default -> {
                            real.write(copy, 0, place);
                            shutdownOutput();
                            return;
                        }
                    }
                    real.write(copy);
                }
            };
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("tls-3, tls-5: every one of them ends, none stays, and the others are served as before")
    void brokenPeers(String backend) throws Exception {
        try (ServerSetting.Opened manager = new ServerSetting(backend, Dispatch.LOOP).open(Clock.system());
                TcpServer server = manager.server().tls(CERTIFICATES.server()).start(new ConnectionHandler() {
                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        connection.send(data);
                    }

                    @Override
                    public void onError(@Nullable Connection connection, Throwable failure) {
                        // As expected.
                    }
                })) {
            SSLContext context = CERTIFICATES.context("client");
            for (int seed = 0; seed < SESSIONS; seed++) {
                Random random = new Random(seed);
                try (Socket plain = new BreakingSocket(random, random.nextInt(1_000))) {
                    plain.connect(new InetSocketAddress(
                            server.address().getAddress(), server.address().getPort()));
                    plain.setSoTimeout(300);
                    SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, "localhost", 1, true);
                    socket.setEnabledProtocols(new String[] {random.nextBoolean() ? "TLSv1.3" : "TLSv1.2"});
                    socket.startHandshake();
                    byte[] data = new byte[600];
                    socket.getOutputStream().write(data);
                    socket.getInputStream().readNBytes(data.length);
                } catch (java.net.SocketTimeoutException e) {
                    // The server waits for the rest of a record that got longer, as it must; its client gives up.
                } catch (IOException e) {
                    // It was told so.
                }
            }
            await().atMost(20, TimeUnit.SECONDS)
                    .until(() -> server.context().connections().isEmpty());
            try (Socket plain = new Socket(
                            server.address().getAddress(), server.address().getPort());
                    SSLSocket socket =
                            (SSLSocket) context.getSocketFactory().createSocket(plain, "localhost", 1, true)) {
                socket.getOutputStream().write("fine".getBytes(US_ASCII));
                assertThat(new String(socket.getInputStream().readNBytes(4), US_ASCII))
                        .isEqualTo("fine");
            }
        }
    }
}
