package io.millrace.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("millrace serve and proxy with TLS, and openssl and redis-cli as their peers")
class TlsTest {
    @TempDir
    Path directory;

    private static String run(String input, String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try (OutputStream to = process.getOutputStream()) {
            to.write(input.getBytes(UTF_8));
        }
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).as(said).isTrue();
        return said;
    }

    /** A certificate for localhost, which is its own authority. */
    private void makeCertificate() throws Exception {
        Tools.require("openssl", "openssl");
        run(
                "",
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-keyout",
                directory.resolve("key.pem").toString(),
                "-out",
                directory.resolve("cert.pem").toString(),
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
                "-addext",
                "subjectAltName=DNS:localhost,IP:127.0.0.1");
        assertThat(directory.resolve("cert.pem")).exists();
    }

    private String[] withFiles(String... options) {
        List<String> all = new ArrayList<>(List.of(options));
        all.addAll(List.of(
                "--tls-cert",
                directory.resolve("cert.pem").toString(),
                "--tls-key",
                directory.resolve("key.pem").toString()));
        return all.toArray(String[]::new);
    }

    @Test
    @DisplayName("tls-1: --tls self-signed makes a certificate, prints its fingerprint, and openssl sees the same")
    void selfSigned() throws Exception {
        Tools.require("openssl", "openssl");
        try (Cli server = Cli.serve("echo", "--tls", "self-signed")) {
            int port = server.port();
            String shown = run("", "openssl", "s_client", "-connect", "127.0.0.1:" + port, "-showcerts");
            Path certificate = Files.writeString(directory.resolve("shown"), shown);
            String fingerprint =
                    run("", "openssl", "x509", "-in", certificate.toString(), "-noout", "-fingerprint", "-sha256");
            server.signal("TERM");
            List<String> lines = server.rest();
            assertThat(lines.getFirst())
                    .startsWith("certificate for localhost")
                    .endsWith(fingerprint.strip().split("=")[1]);
            assertThat(server.exit()).isZero();
        }
    }

    @Test
    @DisplayName("tls-1: redis-cli --tls against serve redis with a certificate from files")
    void redis() throws Exception {
        Tools.require("redis-cli", "redis-tools");
        makeCertificate();
        try (Cli server = Cli.serve(withFiles("redis"))) {
            String port = Integer.toString(server.port());
            String ca = directory.resolve("cert.pem").toString();
            assertThat(run("", "redis-cli", "-p", port, "--tls", "--cacert", ca, "-h", "localhost", "set", "a", "b"))
                    .isEqualTo("OK\n");
            assertThat(run("", "redis-cli", "-p", port, "--tls", "--cacert", ca, "-h", "localhost", "get", "a"))
                    .isEqualTo("b\n");
        }
    }

    @Test
    @DisplayName("tls-4: a proxy ends TLS on one side, and begins it on the other")
    void proxy() throws Exception {
        makeCertificate();
        String ca = directory.resolve("cert.pem").toString();
        try (Cli echo = Cli.serve(withFiles("echo"));
                Cli proxy =
                        Cli.start(withFiles("proxy", "127.0.0.1:0", "localhost:" + echo.port(), "--upstream-ca", ca))) {
            // A s_client that is told nothing more ends when its input does; -ign_eof has it wait for the peer's end.
            String port = Integer.toString(proxy.port());
            Process client = new ProcessBuilder(
                            "openssl", "s_client", "-quiet", "-connect", "127.0.0.1:" + port, "-CAfile", ca)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            client.getOutputStream().write("through\n".getBytes(UTF_8));
            client.getOutputStream().flush();
            assertThat(new String(client.getInputStream().readNBytes(8), UTF_8)).isEqualTo("through\n");
            client.destroy();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @DisplayName("tls-6: serve uses a new certificate when its files change, and on SIGHUP; a broken one is reported")
    void reload(boolean signalled) throws Exception {
        makeCertificate();
        Path broken = directory.resolve("broken");
        try (Cli server = Cli.serve(withFiles("echo"))) {
            int port = server.port();
            String first = fingerprint(port);
            if (signalled) {
                // A file that stays broken is reported at once, if somebody asks for it.
                Files.copy(directory.resolve("key.pem"), broken);
                Files.writeString(directory.resolve("key.pem"), "no key");
                server.signal("HUP");
                server.awaitError("TLS goes on with the certificates that it has: cannot use");
                assertThat(fingerprint(port)).isEqualTo(first);
            }
            makeCertificate();
            if (signalled) {
                server.signal("HUP");
            }
            await().atMost(20, TimeUnit.SECONDS).until(() -> !fingerprint(port).equals(first));
            server.signal("TERM");
            assertThat(server.exit()).isZero();
        }
    }

    private String fingerprint(int port) throws Exception {
        String shown = run("", "openssl", "s_client", "-connect", "127.0.0.1:" + port, "-showcerts");
        Path certificate = Files.writeString(directory.resolve("shown"), shown);
        return run("", "openssl", "x509", "-in", certificate.toString(), "-noout", "-fingerprint", "-sha256");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--tls maybe | --tls must be self-signed, not maybe",
                "--tls-cert a.pem | --tls-cert and --tls-key belong together; --tls-key is missing",
                "--tls-key a.pem | --tls-cert is missing",
                "--tls self-signed --tls-cert a.pem --tls-key b.pem | give either --tls self-signed",
                "--tls-cert none.pem --tls-key none.pem | cannot use none.pem: there is no such file",
            })
    @DisplayName("tls-1: options that make no sense are refused in one line, with exit status 2")
    void refused(String options, String reason) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        List<String> args = new ArrayList<>(List.of("serve", "--port", "0"));
        args.addAll(List.of(options.split(" ")));
        int status = Main.run(
                args.toArray(String[]::new), new PrintStream(OutputStream.nullOutputStream()), new PrintStream(err));
        assertThat(err.toString(UTF_8))
                .startsWith("millrace: ")
                .contains(reason)
                .hasLineCount(1);
        assertThat(status).isEqualTo(2);
    }
}
