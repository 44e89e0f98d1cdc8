package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Reactors;
import io.millrace.server.Conversation;
import io.millrace.server.DirectClient;
import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.server.tls.Tls;
import io.millrace.server.tls.TlsTruncatedException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("Direct style over TLS")
@Timeout(30)
class DirectTlsTest {
    private static final TestCertificates CERTIFICATES = TestCertificates.shared();

    private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();

    static Stream<Arguments> places() {
        return Stream.of("epoll", "poll", "nio")
                .flatMap(backend -> Stream.of(true, false).map(onLoops -> Arguments.of(backend, onLoops)));
    }

    private static Reactors open(String backend) {
        return Reactors.builder()
                .reactors(1)
                .backend(backend)
                .withoutWatchdog()
                .name("the-loop")
                .open();
    }

    private static DirectServer start(Reactors on, boolean onLoops, Conversation conversation) throws IOException {
        return DirectServer.start(
                TcpServer.builder().manager(on).loopThreads(onLoops).tls(CERTIFICATES.server()), conversation);
    }

    private static DirectClient client(Reactors on, Tls tls) {
        return DirectClient.open(TcpClient.builder().manager(on).tls(tls));
    }

    private static Socket plain(DirectServer server) throws IOException {
        Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static SSLSocket secure(Socket plain, String version) throws IOException {
        SSLSocket socket =
                (SSLSocket) CERTIFICATES.context("client").getSocketFactory().createSocket(plain, "localhost", 1, true);
        socket.setEnabledProtocols(new String[] {version});
        return socket;
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 client and server talk, in small pieces and in large ones, and know what was agreed on")
    void echo(String backend, boolean onLoops) throws Exception {
        byte[] large = new byte[3 << 20];
        new Random(19).nextBytes(large);
        try (Reactors reactors = open(backend);
                DirectServer server = start(reactors, onLoops, socket -> {
                    log.add(socket.tls().orElseThrow().protocol());
                    log.add(Thread.currentThread().toString());
                    socket.write(socket.readLine(100) + "\n");
                    ByteBuffer all = ByteBuffer.allocate(large.length);
                    socket.readFully(all);
                    socket.write(all.flip());
                });
                DirectClient client = client(reactors, CERTIFICATES.client());
                DirectSocket socket =
                        client.connect("localhost", server.address().getPort())) {
            assertThat(socket.tls().orElseThrow().serverName()).isEqualTo("localhost");
            socket.write("hel");
            socket.write("lo\n");
            assertThat(socket.readLine(100)).isEqualTo("hello");
            Thread writer = Thread.ofVirtual().start(() -> {
                try {
                    socket.write(large);
                } catch (IOException e) {
                    log.add("failed: " + e);
                }
            });
            assertThat(socket.readExactly(large.length)).isEqualTo(large);
            assertThat(socket.readLine(100)).isNull();
            writer.join();
            assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("TLSv1.3");
            assertThat(log.poll(20, TimeUnit.SECONDS)).contains(onLoops ? "the-loop" : "ForkJoinPool");
            assertThat(log).isEmpty();
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 with TLS 1.3, a half close lets the other direction go on, both ways")
    void halfClose(String backend, boolean onLoops) throws Exception {
        try (Reactors reactors = open(backend);
                DirectServer server = start(reactors, onLoops, socket -> {
                    socket.closeOutput();
                    String line = socket.readLine(100);
                    log.add("after the half close: " + line + ", " + socket.readLine(100));
                });
                DirectServer other = start(reactors, onLoops, socket -> {
                    String line = socket.readLine(100);
                    assertThat(socket.readLine(100)).isNull();
                    socket.write("answer to " + line + "\n");
                });
                DirectClient client = client(reactors, CERTIFICATES.client())) {
            try (DirectSocket socket = client.connect(server.address())) {
                assertThat(socket.readLine(100)).isNull();
                socket.write("question\n");
                socket.closeOutput();
                assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo("after the half close: question, null");
            }
            try (DirectSocket socket = client.connect(other.address())) {
                socket.write("question\n");
                socket.closeOutput();
                assertThat(socket.readLine(100)).isEqualTo("answer to question");
                assertThat(socket.readLine(100)).isNull();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 an input that is cut off without an announcement is an exception, and not an end")
    void truncated(String backend, boolean onLoops) throws Exception {
        try (Reactors reactors = open(backend);
                DirectServer server = start(reactors, onLoops, socket -> {
                    try {
                        while (socket.readLine(100) != null) {
                            socket.write("line\n");
                        }
                        log.add("an end");
                    } catch (SocketException e) {
                        log.add(e.getCause().getClass().getSimpleName());
                    }
                })) {
            for (String version : new String[] {"TLSv1.3", "TLSv1.2"}) {
                try (Socket plain = plain(server);
                        SSLSocket socket = secure(plain, version)) {
                    socket.getOutputStream().write("one\n".getBytes(UTF_8));
                    assertThat(socket.getInputStream().readNBytes(5)).isEqualTo("line\n".getBytes(UTF_8));
                    plain.shutdownOutput();
                    assertThat(log.poll(20, TimeUnit.SECONDS)).isEqualTo(TlsTruncatedException.class.getSimpleName());
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("places")
    @DisplayName("vt-1 a handshake that fails is the connect's exception, and no conversation begins")
    void handshakeFails(String backend, boolean onLoops) throws Exception {
        Tls stranger = Tls.builder()
                .trust(CERTIFICATES.authority())
                .serverName("other.example")
                .build();
        try (Reactors reactors = open(backend);
                DirectServer server = start(reactors, onLoops, socket -> log.add("began"));
                DirectClient client = client(reactors, stranger);
                DirectClient friend = client(reactors, CERTIFICATES.client())) {
            assertThatThrownBy(() -> client.connect(server.address()))
                    .isInstanceOf(SSLHandshakeException.class)
                    .hasMessageContaining("other.example")
                    .hasCauseInstanceOf(SSLHandshakeException.class);
            assertThat(log).isEmpty();
            try (DirectSocket socket = friend.connect(server.address())) {
                assertThat(socket.readLine(10)).isNull();
            }
            assertThat(log).containsExactly("began");
        }
    }
}
