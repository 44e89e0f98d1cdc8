package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Dispatch;
import io.millrace.poll.Clock;
import io.millrace.poll.ManualClock;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.LimitException;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.server.tls.Tls;
import io.millrace.server.tls.TlsSession;
import io.millrace.server.tls.TlsTruncatedException;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SNIHostName;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("What TLS adds to a connection")
@Timeout(60)
class TlsConnectionTest {
    private static final ServerSetting SETTING = new ServerSetting("epoll", Dispatch.LOOP);
    private static final TestCertificates CERTIFICATES = TestCertificates.shared();

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<Throwable> errors = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<Connection> connections = new LinkedBlockingQueue<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    /** Echoes, and tells what it is told. */
    private class Recording implements ConnectionHandler {
        @Override
        public void onConnect(Connection connection) {
            connections.add(connection);
            log.add("connect");
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            log.add("data " + US_ASCII.decode(data.duplicate()));
            connection.send(data);
        }

        @Override
        public void onEndOfInput(Connection connection) throws Exception {
            log.add("end");
            ConnectionHandler.super.onEndOfInput(connection);
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            log.add("error");
            errors.add(failure);
        }

        @Override
        public void onDisconnect(Connection connection) {
            log.add("disconnect");
        }
    }

    private TcpServer start(Tls tls) throws IOException {
        return start(tls, Clock.system());
    }

    private TcpServer start(Tls tls, Clock clock) throws IOException {
        ServerSetting.Opened manager = SETTING.open(clock);
        opened.add(manager);
        TcpServer server = manager.server().tls(tls).start(new Recording());
        opened.add(server);
        return server;
    }

    private static Tls.Builder server() {
        return Tls.builder().certificate(CERTIFICATES.chain("ec"), CERTIFICATES.key("ec"));
    }

    private Socket plain(TcpServer server) throws IOException {
        Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort());
        opened.add(socket);
        socket.setSoTimeout(20_000);
        return socket;
    }

    /** A client of the JDK, whose handshake is yet to come. */
    private SSLSocket secure(Socket plain, SSLContext context, String... protocols) throws IOException {
        SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket(plain, "localhost", 1, true);
        if (protocols.length > 0) {
            socket.setEnabledProtocols(protocols);
        }
        return socket;
    }

    private SSLSocket secure(TcpServer server, String... protocols) throws IOException {
        SSLSocket socket = secure(plain(server), CERTIFICATES.context("client"), protocols);
        socket.startHandshake();
        return socket;
    }

    private TcpClient client(Tls tls) {
        TcpClient client = TcpClient.builder().tls(tls).open();
        opened.add(client);
        return client;
    }

    private String next() throws InterruptedException {
        return String.valueOf(log.poll(20, TimeUnit.SECONDS));
    }

    private Throwable error() throws InterruptedException {
        Throwable error = errors.poll(20, TimeUnit.SECONDS);
        assertThat(error).isNotNull();
        return error;
    }

    private TlsSession session() throws InterruptedException {
        Connection connection = connections.poll(20, TimeUnit.SECONDS);
        assertThat(connection).isNotNull();
        return connection.tls().orElseThrow();
    }

    private static String echo(SSLSocket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(US_ASCII));
        return new String(socket.getInputStream().readNBytes(text.length()), US_ASCII);
    }

    // ---- tls-1 ----

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    @DisplayName("tls-1: server and client talk in both versions, and a client verifies whom it talks to")
    void both(String version) throws Exception {
        TcpServer server = start(server().protocols(version).build());
        LinkedBlockingQueue<String> received = new LinkedBlockingQueue<>();
        Connection connection = client(CERTIFICATES.client())
                .connect(
                        "localhost",
                        server.address().getPort(),
                        (same, data) -> received.add(US_ASCII.decode(data).toString()))
                .get(20, TimeUnit.SECONDS);
        connection.send("hello");
        assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo("hello");
        TlsSession own = connection.tls().orElseThrow();
        assertThat(own.protocol()).isEqualTo(version);
        assertThat(own.serverName()).isEqualTo("localhost");
        assertThat(own.peerCertificates())
                .extracting(X509Certificate::getSubjectX500Principal)
                .first()
                .hasToString("CN=localhost");
        TlsSession other = session();
        assertThat(other.cipherSuite()).isEqualTo(own.cipherSuite());
        assertThat(other.peerCertificates()).isEmpty();
        connection.close();
        assertThat(List.of(next(), next(), next(), next()))
                .containsExactly("connect", "data hello", "end", "disconnect");
        assertThat(errors).isEmpty();
    }

    @Test
    @DisplayName("tls-1: a certificate for another name, or of an unknown authority, fails the connect, and says why")
    void notVerified() throws Exception {
        TcpServer server = start(CERTIFICATES.server());
        TcpClient other = client(Tls.builder()
                .trust(CERTIFICATES.authority())
                .serverName("other.example")
                .build());
        assertThatThrownBy(() ->
                        other.connect(server.address(), (same, data) -> {}).get(20, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(SSLHandshakeException.class)
                .hasMessageContaining("other.example");
        assertThat(error()).isInstanceOf(SSLException.class);
        assertThatThrownBy(() -> client(Tls.client())
                        .connect("localhost", server.address().getPort(), (same, data) -> {})
                        .get(20, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("unable to find valid certification path");
        assertThat(error()).isInstanceOf(SSLException.class);
        assertThat(log).containsOnly("error");
    }

    @Test
    @DisplayName("tls-1: a context of the JDK's can be used, on both sides")
    void contexts() throws Exception {
        TcpServer server = start(Tls.of(CERTIFICATES.context("rsa")));
        Connection connection = client(Tls.of(CERTIFICATES.context("client")))
                .connect("localhost", server.address().getPort(), (same, data) -> {})
                .get(20, TimeUnit.SECONDS);
        assertThat(connection
                        .tls()
                        .orElseThrow()
                        .peerCertificates()
                        .getFirst()
                        .getPublicKey()
                        .getAlgorithm())
                .isEqualTo("RSA");
        assertThatThrownBy(() -> Tls.of(CERTIFICATES.context("rsa")).reload())
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("tls-1: settings that make no sense are refused where they are made")
    void settings() throws Exception {
        Tls client = Tls.client();
        assertThatThrownBy(() -> TcpServer.builder().tls(client))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Tls.server(chain, key)");
        assertThatThrownBy(() -> Tls.builder().protocols("TLSv1.1"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("only TLSv1.3 and TLSv1.2");
        assertThatThrownBy(() ->
                        server().clientCertificates(Tls.ClientCertificates.NEED).build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("call trust");
        assertThatThrownBy(() -> Tls.builder().handshakeTimeout(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
        SSLContext unready = SSLContext.getInstance("TLS");
        assertThatThrownBy(() -> Tls.of(unready))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("call its init");
        for (String name : new String[] {"", "x".repeat(256), "\u20ac"}) {
            assertThatThrownBy(() -> Tls.builder().applicationProtocols(name))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("1 to 255 bytes");
        }
        for (Tls.Builder builder : List.of(
                server().ciphers("TLS_NONE"),
                server().ciphers(),
                server().protocols("TLSv1.3").ciphers("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
                Tls.builder().ciphers("TLS_ECDH_anon_WITH_AES_128_CBC_SHA"))) {
            assertThatThrownBy(builder::build)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("name cipher suites");
        }
    }

    // ---- tls-2 ----

    @Test
    @DisplayName("tls-2: of several certificates, a server shows the one for the name that the client asks for")
    void serverNames() throws Exception {
        TcpServer server = start(server().certificate(CERTIFICATES.chain("other"), CERTIFICATES.key("other"))
                .certificate(CERTIFICATES.chain("rsa"), CERTIFICATES.key("rsa"))
                .build());
        for (String[] expected : new String[][] {
            {"localhost", "CN=localhost"},
            {"other.example", "CN=other"},
            {"OTHER.example", "CN=other"},
            {"a.wild.example", "CN=other"},
            {"a.b.wild.example", "CN=localhost"},
            {"unknown.example", "CN=localhost"}
        }) {
            SSLSocket socket = secure(plain(server), CERTIFICATES.context("client"));
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setServerNames(List.of(new SNIHostName(expected[0])));
            socket.setSSLParameters(parameters);
            socket.startHandshake();
            assertThat(socket.getSession().getPeerPrincipal()).as(expected[0]).hasToString(expected[1]);
            assertThat(session().serverName()).isEqualToIgnoringCase(expected[0]);
        }
        SSLSocket old = secure(plain(server), CERTIFICATES.context("client"), "TLSv1.2");
        old.setEnabledCipherSuites(new String[] {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"});
        old.startHandshake();
        assertThat(old.getSession().getPeerCertificates()[0].getPublicKey().getAlgorithm())
                .isEqualTo("RSA");
    }

    @Test
    @DisplayName(
            "tls-2: a client asks for a name without the dot at its end, and for none if it connects to an address")
    void namesAskedFor() throws Exception {
        TcpServer server = start(CERTIFICATES.server());
        for (String[] expected : new String[][] {{"localhost.", "localhost"}, {"127.0.0.1", null}}) {
            Connection connection = client(Tls.builder()
                            .trust(CERTIFICATES.authority())
                            .serverName(expected[0])
                            .build())
                    .connect(server.address(), (same, data) -> {})
                    .get(20, TimeUnit.SECONDS);
            assertThat(connection.tls().orElseThrow().serverName()).isEqualTo(expected[1]);
            assertThat(session().serverName()).isEqualTo(expected[1]);
        }
    }

    @Test
    @DisplayName("tls-2: a server prefers ciphers in the order in which they were named, whatever its client prefers")
    void preferredCiphers() throws Exception {
        String[] ciphers = {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"};
        for (int i = 0; i < 2; i++) {
            TcpServer server =
                    start(server().ciphers(ciphers[i], ciphers[1 - i]).build());
            SSLSocket socket = secure(plain(server), CERTIFICATES.context("client"), "TLSv1.2");
            socket.setEnabledCipherSuites(new String[] {ciphers[1 - i], ciphers[i]});
            socket.startHandshake();
            assertThat(socket.getSession().getCipherSuite()).isEqualTo(ciphers[i]);
        }
    }

    @Test
    @DisplayName("tls-2: the protocol above is agreed on (ALPN), and a handshake without a common one fails")
    void applicationProtocols() throws Exception {
        TcpServer server = start(server().applicationProtocols("h2", "http/1.1").build());
        Connection connection = client(Tls.builder()
                        .trust(CERTIFICATES.authority())
                        .applicationProtocols("http/1.1", "h2")
                        .build())
                .connect(server.address(), (same, data) -> {})
                .get(20, TimeUnit.SECONDS);
        assertThat(connection.tls().orElseThrow().applicationProtocol()).isEqualTo("h2");
        assertThat(session().applicationProtocol()).isEqualTo("h2");
        TcpClient stranger = client(Tls.builder()
                .trust(CERTIFICATES.authority())
                .applicationProtocols("gopher")
                .build());
        assertThatThrownBy(() ->
                        stranger.connect(server.address(), (same, data) -> {}).get(20, TimeUnit.SECONDS))
                .hasMessageContaining("no_application_protocol");
    }

    @Test
    @DisplayName("tls-2: client certificates are asked for, shown, and without one a client is refused")
    void clientCertificates() throws Exception {
        TcpServer server = start(server().trust(CERTIFICATES.authority())
                .clientCertificates(Tls.ClientCertificates.NEED)
                .build());
        client(Tls.builder()
                        .trust(CERTIFICATES.authority())
                        .certificate(CERTIFICATES.chain("client"), CERTIFICATES.key("client"))
                        .build())
                .connect(server.address(), (same, data) -> {})
                .get(20, TimeUnit.SECONDS);
        assertThat(session().peerCertificates())
                .extracting(X509Certificate::getSubjectX500Principal)
                .first()
                .hasToString("CN=a client");
        assertThat(next()).isEqualTo("connect");
        var ignored = client(CERTIFICATES.client()).connect(server.address(), (same, data) -> {});
        assertThat(next()).isEqualTo("error");
        assertThat(error()).isInstanceOf(SSLHandshakeException.class);
    }

    @Test
    @DisplayName("tls-2: a client without a certificate that is wanted, but not needed, is served")
    void wantedCertificates() throws Exception {
        TcpServer server = start(server().trust(CERTIFICATES.authority())
                .clientCertificates(Tls.ClientCertificates.WANT)
                .build());
        client(CERTIFICATES.client())
                .connect(server.address(), (same, data) -> {})
                .get(20, TimeUnit.SECONDS);
        assertThat(session().peerCertificates()).isEmpty();
    }

    // ---- tls-3 ----

    @ParameterizedTest
    @ValueSource(strings = {"GET / HTTP/1.1\r\n\r\n", "hi", "\0\0\0\0\0\0\0\0"})
    @DisplayName("tls-3: a peer that does not speak TLS gets an alert and an end, and the error says what it sent")
    void plainText(String sent) throws Exception {
        TcpServer server = start(CERTIFICATES.server());
        Socket socket = plain(server);
        socket.getOutputStream().write(sent.getBytes(US_ASCII));
        assertThat(socket.getInputStream().readAllBytes()).containsExactly(21, 3, 3, 0, 2, 2, 10);
        assertThat(error())
                .isInstanceOf(SSLException.class)
                .hasMessageContaining("does not speak TLS")
                .hasMessageContaining(
                        sent.startsWith("\0") ? "byte 0" : sent.strip().substring(0, 2));
        assertThat(log).containsExactly("error");
    }

    @Test
    @DisplayName("tls-3: a handshake that is not complete in time ends; before, no handler and no broadcast meets it")
    void deadline() throws Exception {
        ManualClock clock = new ManualClock();
        TcpServer server =
                start(server().handshakeTimeout(Duration.ofSeconds(3)).build(), clock);
        Socket socket = plain(server);
        socket.getOutputStream().write(new byte[] {22, 3, 1, 2, 0});
        org.awaitility.Awaitility.await().until(() -> server.connectionsOpened() == 1);
        assertThat(server.context().broadcast(ByteBuffer.wrap(new byte[1]))).isZero();
        assertThat(server.context().connections()).isEmpty();
        clock.advance(Duration.ofSeconds(2));
        assertThat(log).isEmpty();
        org.awaitility.Awaitility.await().until(() -> {
            clock.advance(Duration.ofSeconds(1)); // the alarm may be set only now
            return !log.isEmpty();
        });
        assertThat(error()).isInstanceOf(SocketTimeoutException.class).hasMessageContaining("3000 ms");
        assertThat(socket.getInputStream().read()).isEqualTo(-1);
        assertThat(log).containsExactly("error");
    }

    @Test
    @DisplayName("tls-3: a server that is shut down does not wait for handshakes")
    void shutdownDuringAHandshake() throws Exception {
        TcpServer server = start(CERTIFICATES.server());
        Socket socket = plain(server);
        org.awaitility.Awaitility.await().until(() -> server.connectionsOpened() == 1);
        long begin = System.nanoTime();
        assertThat(server.shutdown(Duration.ofSeconds(20)).drained()).isTrue();
        assertThat(System.nanoTime() - begin).isLessThan(TimeUnit.SECONDS.toNanos(15));
        assertThat(socket.getInputStream().read()).isEqualTo(-1);
        assertThat(log).isEmpty();
    }

    @Test
    @DisplayName("tls-3: handshakes beyond the limit are turned away with the reason, and those that stand go on")
    void tooMany() throws Exception {
        TcpServer server = start(server().handshakeLimit(1, 0).build());
        SSLSocket first = secure(server);
        List<Thread> storm = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            storm.add(Thread.ofPlatform().daemon().start(() -> {
                for (int n = 0; n < 200 && errors.isEmpty(); n++) {
                    try {
                        secure(server).close();
                    } catch (IOException e) {
                        // Turned away.
                    }
                }
            }));
        }
        for (Thread each : storm) {
            each.join();
        }
        Throwable reason = error();
        while (!(reason instanceof LimitException)) {
            reason = error();
        }
        assertThat(reason).hasMessageContaining("turned a TLS handshake away").hasMessageContaining("handshakeLimit");
        assertThat(echo(first, "still there")).isEqualTo("still there");
    }

    @Test
    @DisplayName("tls-3: renegotiation is refused")
    void renegotiation() throws Exception {
        TcpServer server = start(CERTIFICATES.server());
        SSLSocket socket = secure(server, "TLSv1.2");
        assertThat(echo(socket, "a")).isEqualTo("a");
        socket.startHandshake();
        assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(IOException.class);
        assertThat(error()).hasMessageContaining("renegotiation");
    }

    // ---- Ends ----

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    @DisplayName("tls-5: an input that ends without close_notify is told as truncated, and not as an end")
    void truncated(String version) throws Exception {
        TcpServer server = start(CERTIFICATES.server());
        Socket plain = plain(server);
        SSLSocket socket = secure(plain, CERTIFICATES.context("client"), version);
        assertThat(echo(socket, "part")).isEqualTo("part");
        plain.shutdownOutput();
        assertThat(List.of(next(), next(), next(), next()))
                .containsExactly("connect", "data part", "error", "disconnect");
        assertThat(error()).isInstanceOf(TlsTruncatedException.class).hasMessageContaining("close_notify");
    }

    @ParameterizedTest
    @ValueSource(strings = {"TLSv1.3", "TLSv1.2"})
    @DisplayName("tls-5: a close is announced by close_notify, and so is an abort that loses nothing; a reset is not")
    void closeNotify(String version) throws Exception {
        TcpServer server = start(CERTIFICATES.server());
        LinkedBlockingQueue<String> told = new LinkedBlockingQueue<>();
        TcpClient client = client(
                Tls.builder().trust(CERTIFICATES.authority()).protocols(version).build());
        Map<Consumer<Connection>, String> endings = Map.of(
                Connection::close, "end",
                Connection::abort, "end",
                Connection::reset, "error");
        for (Map.Entry<Consumer<Connection>, String> ending : endings.entrySet()) {
            var ignored = client.connect(server.address(), new ConnectionHandler() {
                @Override
                public void onData(Connection connection, ByteBuffer data) {
                    told.add(US_ASCII.decode(data).toString());
                }

                @Override
                public void onEndOfInput(Connection connection) {
                    told.add("end");
                    connection.close();
                }

                @Override
                public void onError(@Nullable Connection connection, Throwable failure) {
                    told.add("error");
                }
            });
            Connection connection = connections.poll(20, TimeUnit.SECONDS);
            connection.send("all");
            assertThat(told.poll(20, TimeUnit.SECONDS)).isEqualTo("all");
            ending.getKey().accept(connection);
            assertThat(told.poll(20, TimeUnit.SECONDS)).isEqualTo(ending.getValue());
        }
    }

    @Test
    @DisplayName("tls-4: with TLS 1.3, a peer that has ended its output still gets the whole answer")
    void halfClose() throws Exception {
        ServerSetting.Opened manager = SETTING.open(Clock.system());
        opened.add(manager);
        TcpServer server = manager.server().tls(CERTIFICATES.server()).start(new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {}

            @Override
            public void onEndOfInput(Connection connection) {
                connection.send(ByteBuffer.allocate(5 << 20));
                connection.close();
            }
        });
        opened.add(server);
        SSLSocket socket = secure(server);
        socket.getOutputStream().write(1);
        socket.shutdownOutput();
        assertThat(socket.getInputStream().readAllBytes()).hasSize(5 << 20);
    }

    @Test
    @DisplayName("tls-4: with TLS 1.2, a peer's end ends both directions; what was sent after it is told as lost")
    void noHalfClose() throws Exception {
        ServerSetting.Opened manager = SETTING.open(Clock.system());
        opened.add(manager);
        TcpServer server = manager.server().tls(CERTIFICATES.server()).start(new Recording() {
            @Override
            public void onEndOfInput(Connection connection) {
                log.add("end");
                connection.send(ByteBuffer.allocate(100), (same, failure) -> log.add("failed: " + (failure != null)));
                connection.close();
            }
        });
        opened.add(server);
        SSLSocket socket = secure(server, "TLSv1.2");
        socket.close();
        assertThat(List.of(next(), next(), next(), next(), next()))
                .containsExactly("connect", "end", "failed: true", "error", "disconnect");
        assertThat(error()).hasMessageContaining("TLS 1.2 ends both directions");
    }

    // ---- tls-6 ----

    @Test
    @DisplayName("tls-6: a reload takes effect for new handshakes; a broken file is refused, and the old one stays")
    void reload(@TempDir Path directory) throws Exception {
        Path chain = directory.resolve("chain.pem");
        Path key = directory.resolve("key.pem");
        Files.copy(CERTIFICATES.chain("ec"), chain);
        Files.copy(CERTIFICATES.key("ec"), key);
        Tls tls = Tls.server(chain, key);
        assertThat(tls.files()).containsExactly(chain, key);
        assertThat(tls.expiry().orElseThrow())
                .isBetween(
                        Instant.now().plus(Duration.ofDays(28)), Instant.now().plus(Duration.ofDays(31)));
        TcpServer server = start(tls);
        SSLSocket before = secure(server);
        assertThat(keyOf(before)).isEqualTo("EC");
        Files.writeString(key, "nothing");
        Instant expiry = tls.expiry().orElseThrow();
        assertThatThrownBy(tls::reload).isInstanceOf(IOException.class).hasMessageContaining("key.pem");
        assertThat(tls.expiry()).hasValue(expiry);
        assertThat(keyOf(secure(server))).isEqualTo("EC");
        Files.writeString(chain, Files.readString(CERTIFICATES.chain("rsa")));
        Files.writeString(key, Files.readString(CERTIFICATES.key("rsa")));
        tls.reload();
        assertThat(keyOf(secure(server))).isEqualTo("RSA");
        assertThat(echo(before, "stands")).isEqualTo("stands");
    }

    private static String keyOf(SSLSocket socket) throws IOException {
        return socket.getSession().getPeerCertificates()[0].getPublicKey().getAlgorithm();
    }

    @Test
    @DisplayName("tls-6: of several certificates, and of trusted authorities, the first to expire is told")
    void expiry() throws Exception {
        Instant soon = Instant.now().plus(Duration.ofDays(21));
        Path brief = CERTIFICATES.chain("short");
        Path key = CERTIFICATES.key("short");
        assertThat(server().certificate(brief, key).build().expiry().orElseThrow())
                .isBefore(soon);
        assertThat(Tls.builder()
                        .certificate(brief, key)
                        .certificate(CERTIFICATES.chain("ec"), CERTIFICATES.key("ec"))
                        .build()
                        .expiry()
                        .orElseThrow())
                .isBefore(soon);
        assertThat(server().trust(brief).build().expiry().orElseThrow()).isBefore(soon);
        assertThat(CERTIFICATES.server().expiry().orElseThrow()).isAfter(soon);
        assertThat(Tls.client().expiry()).isEmpty();
    }

    @Test
    @DisplayName("tls-6: certificates are swapped under load, and no handshake fails")
    void reloadUnderLoad(@TempDir Path directory) throws Exception {
        Path chain = Files.copy(CERTIFICATES.chain("ec"), directory.resolve("chain.pem"));
        Path key = Files.copy(CERTIFICATES.key("ec"), directory.resolve("key.pem"));
        Tls tls = Tls.server(chain, key);
        TcpServer server = start(tls);
        for (int i = 0; i < 30; i++) {
            String next = i % 2 == 0 ? "rsa" : "ec";
            Thread swap = Thread.ofPlatform().start(() -> {
                try {
                    Files.writeString(chain, Files.readString(CERTIFICATES.chain(next)));
                    Files.writeString(key, Files.readString(CERTIFICATES.key(next)));
                    tls.reload();
                } catch (IOException e) {
                    errors.add(e);
                }
            });
            assertThat(echo(secure(server), "x")).isEqualTo("x");
            swap.join();
        }
        assertThat(errors).isEmpty();
    }

    @Test
    @DisplayName("tls-2: a plain connection has no session")
    void plainHasNone() throws Exception {
        TcpServer server = TcpServer.listen(0, new Recording());
        opened.add(server);
        new Socket(server.address().getAddress(), server.address().getPort()).close();
        Connection connection = connections.poll(20, TimeUnit.SECONDS);
        assertThat(connection.tls()).isEmpty();
    }
}
