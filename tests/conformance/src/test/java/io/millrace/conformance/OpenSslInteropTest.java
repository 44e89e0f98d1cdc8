package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.poll.Clock;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.server.tls.Tls;
import io.millrace.server.tls.TlsSession;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("TLS with openssl at the other end, in both roles")
@Timeout(60)
class OpenSslInteropTest {
    private static final TestCertificates CERTIFICATES = TestCertificates.shared();

    private final List<AutoCloseable> opened = new ArrayList<>();
    private final LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<TlsSession> sessions = new LinkedBlockingQueue<>();

    @BeforeEach
    void requireOpenSsl() {
        OpenSsl.require();
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    private class Echo implements ConnectionHandler {
        @Override
        public void onConnect(Connection connection) {
            sessions.add(connection.tls().orElseThrow());
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            connection.send(data);
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            log.add(failure.toString());
        }
    }

    private TcpServer start(Tls tls) throws IOException {
        return start(tls, new Echo());
    }

    private TcpServer start(Tls tls, ConnectionHandler handler) throws IOException {
        ServerSetting.Opened manager = new ServerSetting("epoll", Dispatch.LOOP).open(Clock.system());
        opened.add(manager);
        TcpServer server = manager.server().tls(tls).start(handler);
        opened.add(server);
        return server;
    }

    private Process start(String... arguments) throws IOException {
        Process process = OpenSsl.start(arguments);
        opened.add(process::destroyForcibly);
        return process;
    }

    private String[] client(TcpServer server, String... more) {
        List<String> arguments = new ArrayList<>(List.of(
                "s_client",
                "-connect",
                "127.0.0.1:" + server.address().getPort(),
                "-CAfile",
                CERTIFICATES.authority().toString(),
                "-verify_return_error",
                "-servername",
                "localhost"));
        arguments.addAll(Arrays.asList(more));
        return arguments.toArray(String[]::new);
    }

    /** What s_client says before it echoes; it has said everything when the connection ends. */
    private String talk(Process client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(US_ASCII));
        client.getOutputStream().flush();
        return hear(client, text);
    }

    /** Reads what s_client says, up to some text. */
    private static String hear(Process client, String text) throws IOException {
        StringBuilder said = new StringBuilder();
        InputStream in = client.getInputStream();
        while (!said.toString().contains(text)) {
            int next = in.read();
            assertThat(next).as(said.toString()).isNotEqualTo(-1);
            said.append((char) next);
        }
        return said.toString();
    }

    // ---- s_client ----

    @ParameterizedTest
    @CsvSource({"ec, -tls1_3", "ec, -tls1_2", "rsa, -tls1_3", "rsa, -tls1_2"})
    @DisplayName("tls-1: s_client verifies us and gets its echo, in both versions, with RSA and EC")
    void client(String alias, String version) throws Exception {
        TcpServer server = start(Tls.builder()
                .certificate(CERTIFICATES.chain(alias), CERTIFICATES.key(alias))
                .applicationProtocols("h2", "echo")
                .build());
        Process client = start(client(server, version, "-alpn", "echo"));
        String said = talk(client, "hello openssl");
        assertThat(said).contains("Verify return code: 0 (ok)").contains("ALPN protocol: echo");
        TlsSession session = sessions.poll(20, TimeUnit.SECONDS);
        assertThat(session.protocol()).isEqualTo(version.equals("-tls1_3") ? "TLSv1.3" : "TLSv1.2");
        assertThat(session.serverName()).isEqualTo("localhost");
        assertThat(session.applicationProtocol()).isEqualTo("echo");
        client.getOutputStream().write("Q\n".getBytes(US_ASCII)); // has it end in order
        client.getOutputStream().close();
        assertThat(client.waitFor(20, TimeUnit.SECONDS)).isTrue();
        await().until(() -> server.context().connections().isEmpty());
    }

    @Test
    @DisplayName(
            "tls-1: s_client with an old version, or with a cipher without forward secrecy, is refused with an alert")
    void oldClient() throws Exception {
        TcpServer server = start(CERTIFICATES.server());
        assertThat(OpenSsl.run(client(server, "-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0")))
                .contains("alert protocol version");
        assertThat(OpenSsl.run(client(server, "-tls1_2", "-cipher", "AES128-SHA")))
                .contains("alert handshake failure");
        // The JDK would accept this one, whose encryption is not authenticated.
        assertThat(OpenSsl.run(client(server, "-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA256")))
                .contains("alert handshake failure");
        await().until(() -> log.size() == 3);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-tls1_3", "-tls1_2"})
    @DisplayName("tls-2: s_client resumes a session")
    void resumption(String version, @TempDir Path directory) throws Exception {
        TcpServer server = start(CERTIFICATES.server());
        String saved = directory.resolve("session").toString();
        Process first = start(client(server, version, "-sess_out", saved));
        talk(first, "first");
        first.getOutputStream().close();
        first.waitFor(20, TimeUnit.SECONDS);
        Process second = start(client(server, version, "-sess_in", saved));
        assertThat(talk(second, "second")).contains("Reused, ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-tls1_3", "-tls1_2"})
    @DisplayName("tls-2: a session is not resumed for another name, and the name is the one that is asked for now")
    void resumptionForAnotherName(String version, @TempDir Path directory) throws Exception {
        TcpServer server = start(CERTIFICATES.server());
        String saved = directory.resolve("session").toString();
        Process first = start(client(server, version, "-sess_out", saved));
        talk(first, "first");
        first.getOutputStream().close();
        first.waitFor(20, TimeUnit.SECONDS);
        Process second = start(client(server, version, "-sess_in", saved, "-servername", "other.example"));
        assertThat(talk(second, "second")).contains("New, ");
        assertThat(sessions).extracting(TlsSession::serverName).containsExactly("localhost", "other.example");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-tls1_3", "-tls1_2"})
    @DisplayName("tls-2: s_client shows a certificate that we ask for")
    void clientCertificate(String version) throws Exception {
        TcpServer server = start(Tls.builder()
                .certificate(CERTIFICATES.chain("ec"), CERTIFICATES.key("ec"))
                .trust(CERTIFICATES.authority())
                .clientCertificates(Tls.ClientCertificates.NEED)
                .build());
        Process client = start(client(
                server,
                version,
                "-cert",
                CERTIFICATES.chain("client").toString(),
                "-key",
                CERTIFICATES.key("client").toString()));
        talk(client, "it is me");
        assertThat(sessions.poll(20, TimeUnit.SECONDS)
                        .peerCertificates()
                        .getFirst()
                        .getSubjectX500Principal())
                .hasToString("CN=a client");
    }

    @Test
    @DisplayName("tls-4: s_client updates the keys of a connection that stands, in both directions")
    void keyUpdate() throws Exception {
        TcpServer server = start(CERTIFICATES.server());
        Process client = start(client(server, "-tls1_3"));
        talk(client, "before\n");
        client.getOutputStream().write("K\n".getBytes(US_ASCII)); // asks for ours, too
        client.getOutputStream().flush();
        hear(client, "KEYUPDATE"); // before the next text: what comes with a command is lost
        talk(client, "after\n");
        assertThat(log).isEmpty();
    }

    @Test
    @DisplayName("tls-2: s_client gets the certificate for the name that it asks for")
    void serverName() throws Exception {
        TcpServer server = start(Tls.builder()
                .certificate(CERTIFICATES.chain("ec"), CERTIFICATES.key("ec"))
                .certificate(CERTIFICATES.chain("other"), CERTIFICATES.key("other"))
                .build());
        assertThat(OpenSsl.run(
                        "s_client",
                        "-connect",
                        "127.0.0.1:" + server.address().getPort(),
                        "-servername",
                        "other.example"))
                .containsPattern("subject=CN ?= ?other");
        assertThat(OpenSsl.run(
                        "s_client", "-connect", "127.0.0.1:" + server.address().getPort(), "-noservername"))
                .containsPattern("subject=CN ?= ?localhost");
    }

    @Test
    @DisplayName("tls-4: s_client ends its output, and we still send; nobody takes that for an error")
    void halfClose() throws Exception {
        CompletableFuture<String> written = new CompletableFuture<>();
        TcpServer server = start(CERTIFICATES.server(), new Echo() {
            @Override
            public void onEndOfInput(Connection connection) {
                connection.send(ByteBuffer.allocate(200_000), (same, failure) -> written.complete("" + failure));
                connection.close();
            }
        });
        Process client = start(client(server, "-tls1_3"));
        talk(client, "the last word\n");
        client.getOutputStream().close(); // has it send close_notify and read on
        assertThat(written.get(20, TimeUnit.SECONDS)).isEqualTo("null");
        client.getInputStream().readAllBytes();
        await().until(() -> server.context().connections().isEmpty());
        assertThat(log).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"-tls1_3", "-tls1_2"})
    @DisplayName("tls-4: 20 MB there and back through s_client")
    void large(String version, @TempDir Path directory) throws Exception {
        TcpServer server = start(CERTIFICATES.server());
        byte[] data = new byte[20_000_000];
        new Random(20).nextBytes(data);
        Path file = Files.write(directory.resolve("data"), data);
        List<String> command = new ArrayList<>(List.of("openssl"));
        command.addAll(List.of(client(server, version, "-quiet")));
        Process client = new ProcessBuilder(command)
                .redirectInput(file.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        opened.add(client::destroyForcibly);
        assertThat(client.getInputStream().readNBytes(data.length)).isEqualTo(data);
        assertThat(log).isEmpty();
    }

    @Test
    @DisplayName("tls-4: a s_client that does not read fills our queue up to the water mark, and then gets everything")
    void slow() throws Exception {
        byte[] data = new byte[20_000_000];
        new Random(21).nextBytes(data);
        CompletableFuture<Connection> full = new CompletableFuture<>();
        TcpServer server = start(CERTIFICATES.server(), new Echo() {
            @Override
            public void onConnect(Connection connection) {
                connection.send(ByteBuffer.wrap(data));
                full.complete(connection);
            }
        });
        List<String> command = new ArrayList<>(List.of("openssl"));
        command.addAll(List.of(client(server, "-tls1_3", "-quiet")));
        Process client = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        opened.add(client::destroyForcibly);
        Connection connection = full.get(20, TimeUnit.SECONDS);
        assertThat(connection.isWritable()).isFalse();
        assertThat(connection.queuedBytes()).isPositive();
        assertThat(client.getInputStream().readNBytes(data.length)).isEqualTo(data);
        await().until(() -> connection.queuedBytes() == 0 && connection.isWritable());
        assertThat(connection.bytesSent()).isEqualTo(data.length);
        assertThat(log).isEmpty();
    }

    // ---- s_server ----

    @ParameterizedTest
    @ValueSource(strings = {"-tls1_3", "-tls1_2"})
    @DisplayName("tls-2: we resume a session with s_server, which has a certificate for the name that we ask for")
    void resumesWithServer(String version) throws Exception {
        int port = freePort();
        Process server = start(
                "s_server",
                "-accept",
                "127.0.0.1:" + port,
                version,
                "-cert",
                CERTIFICATES.chain("other").toString(),
                "-key",
                CERTIFICATES.key("other").toString(),
                "-servername",
                "localhost",
                "-cert2",
                CERTIFICATES.chain("rsa").toString(),
                "-key2",
                CERTIFICATES.key("rsa").toString());
        StringBuffer said = new StringBuffer();
        Thread.ofPlatform().daemon().start(() -> {
            try (InputStream in = server.getInputStream()) {
                for (int next = in.read(); next >= 0; next = in.read()) {
                    said.append((char) next);
                }
            } catch (IOException e) {
                said.append(e);
            }
        });
        await().until(() -> said.indexOf("ACCEPT") >= 0);
        TcpClient client = TcpClient.builder().tls(CERTIFICATES.client()).open();
        opened.add(client);
        for (int i = 1; i <= 2; i++) {
            LinkedBlockingQueue<String> received = new LinkedBlockingQueue<>();
            Connection connection = client.connect(
                            "localhost",
                            port,
                            (same, data) -> received.add(US_ASCII.decode(data).toString()))
                    .get(20, TimeUnit.SECONDS);
            assertThat(connection
                            .tls()
                            .orElseThrow()
                            .peerCertificates()
                            .getFirst()
                            .getPublicKey()
                            .getAlgorithm())
                    .isEqualTo("RSA");
            // A ticket of TLS 1.3 comes before what is sent after it.
            server.getOutputStream().write("go on\n".getBytes(US_ASCII));
            server.getOutputStream().flush();
            assertThat(received.poll(20, TimeUnit.SECONDS)).isEqualTo("go on\n");
            String word = "connection " + i;
            connection.send(word + "\n");
            await().until(() -> said.indexOf(word) >= 0);
            assertThat(said.indexOf("Reused session-id") >= 0)
                    .as(said.toString())
                    .isEqualTo(i == 2);
            connection.close();
            await().until(() -> connection.isClosed());
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket unused = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return unused.getLocalPort();
        }
    }

    @ParameterizedTest
    @CsvSource({"ec, -tls1_3", "ec, -tls1_2", "rsa, -tls1_3", "rsa, -tls1_2"})
    @DisplayName(
            "tls-1, tls-2: we verify s_server, ask for its name and protocol, show a certificate, and get its echo")
    void server(String alias, String version) throws Exception {
        int port = freePort();
        Process server = start(
                "s_server",
                "-accept",
                "127.0.0.1:" + port,
                version,
                "-cert",
                CERTIFICATES.chain(alias).toString(),
                "-key",
                CERTIFICATES.key(alias).toString(),
                "-CAfile",
                CERTIFICATES.authority().toString(),
                "-Verify",
                "2",
                "-verify_return_error",
                "-alpn",
                "echo",
                "-rev",
                "-quiet");
        awaitListening(server, port);
        TcpClient client = TcpClient.builder()
                .tls(Tls.builder()
                        .trust(CERTIFICATES.authority())
                        .certificate(CERTIFICATES.chain("client"), CERTIFICATES.key("client"))
                        .applicationProtocols("echo")
                        .build())
                .open();
        opened.add(client);
        CompletableFuture<String> answer = new CompletableFuture<>();
        StringBuilder received = new StringBuilder();
        Connection connection = client.connect("localhost", port, new ConnectionHandler() {
                    @Override
                    public void onData(Connection same, ByteBuffer data) {
                        received.append(US_ASCII.decode(data));
                        if (received.indexOf("\n") >= 0) {
                            answer.complete(received.toString());
                        }
                    }

                    @Override
                    public void onError(@Nullable Connection same, Throwable failure) {
                        answer.completeExceptionally(failure);
                    }
                })
                .get(20, TimeUnit.SECONDS);
        connection.send("stressed\n");
        assertThat(answer.get(20, TimeUnit.SECONDS)).isEqualTo("desserts\n");
        assertThat(connection.tls().orElseThrow().applicationProtocol()).isEqualTo("echo");
        connection.close();
    }

    private static void awaitListening(Process server, int port) {
        await().pollInSameThread().until(() -> {
            assertThat(server.isAlive())
                    .as(() -> {
                        try {
                            return new String(server.getInputStream().readAllBytes(), UTF_8);
                        } catch (IOException e) {
                            return e.toString();
                        }
                    })
                    .isTrue();
            try (Socket probe = new Socket()) {
                probe.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return true;
            } catch (IOException e) {
                return false;
            }
        });
    }
}
