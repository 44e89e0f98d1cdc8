package io.millrace.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** What testssl.sh finds. It takes minutes, so only {@code .ci/long} asks for it, by {@code -Dmillrace.testssl=true}. */
@DisplayName("millrace serve with TLS, judged by testssl.sh")
@EnabledIfSystemProperty(named = "millrace.testssl", matches = "true")
class TestSslTest {
    private static final Pattern FINDING = Pattern.compile(
            "\"id\"\\s*:\\s*\"([^\"]*)\".*?\"severity\"\\s*:\\s*\"([^\"]*)\".*?\"finding\"\\s*:\\s*\"([^\"]*)\"",
            Pattern.DOTALL);

    /** What a server on this machine, with an authority of a test, cannot have: revocation, DNS and transparency. */
    private static final Set<String> NOT_OURS =
            Set.of("cert_revocation", "DNS_CAArecord", "cert_crlDistributionPoints", "cert_ocspURL", "OCSP_stapling");

    /** {@code WARN} is what testssl.sh says of itself: that it could not try something here. */
    private static final Set<String> BAD = Set.of("MEDIUM", "HIGH", "CRITICAL", "FATAL");

    @TempDir
    Path directory;

    private String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as(said).isTrue();
        return said;
    }

    /** An authority, and a certificate of it for localhost, as docs/tls.md makes them. */
    private void makeCertificates() throws Exception {
        run(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-days",
                "365",
                "-subj",
                "/CN=Millrace test authority",
                "-addext",
                "basicConstraints=critical,CA:TRUE",
                "-addext",
                "keyUsage=critical,keyCertSign,cRLSign",
                "-keyout",
                "ca.key",
                "-out",
                "ca.pem");
        run(
                "openssl",
                "req",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
                "-nodes",
                "-subj",
                "/CN=localhost",
                "-keyout",
                "key.pem",
                "-out",
                "request.pem");
        Files.writeString(
                directory.resolve("extensions"),
                "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n"
                        + "keyUsage=critical,digitalSignature\nbasicConstraints=CA:FALSE\n");
        run(
                "openssl",
                "x509",
                "-req",
                "-in",
                "request.pem",
                "-CA",
                "ca.pem",
                "-CAkey",
                "ca.key",
                "-CAcreateserial",
                "-days",
                "90",
                "-extfile",
                "extensions",
                "-out",
                "cert.pem");
        Files.writeString(
                directory.resolve("chain.pem"),
                Files.readString(directory.resolve("cert.pem")) + Files.readString(directory.resolve("ca.pem")));
    }

    @Test
    @Timeout(value = 9, unit = TimeUnit.MINUTES)
    @DisplayName("tls-1: testssl.sh finds nothing above LOW")
    void nothingAboveLow() throws Exception {
        Tools.require("openssl", "openssl");
        Tools.require("testssl", "testssl.sh");
        makeCertificates();
        try (Cli server = Cli.serve(
                "echo",
                "--tls-cert",
                directory.resolve("chain.pem").toString(),
                "--tls-key",
                directory.resolve("key.pem").toString())) {
            String said = run(
                    "testssl",
                    "--quiet",
                    "--color",
                    "0",
                    "--warnings",
                    "off",
                    "--nodns",
                    "none",
                    "--ip",
                    "127.0.0.1",
                    "--add-ca",
                    directory.resolve("ca.pem").toString(),
                    "--jsonfile",
                    directory.resolve("report.json").toString(),
                    "localhost:" + server.port());
            Matcher findings = FINDING.matcher(Files.readString(directory.resolve("report.json")));
            List<String> bad = new ArrayList<>();
            int all = 0;
            while (findings.find()) {
                all++;
                String line = findings.group(2) + " " + findings.group(1) + ": " + findings.group(3);
                if (BAD.contains(findings.group(2))
                        && !NOT_OURS.contains(findings.group(1).split(" ")[0])) {
                    bad.add(line);
                } else if (!Set.of("OK", "INFO", "DEBUG").contains(findings.group(2))) {
                    System.out.println("testssl.sh: " + line);
                }
            }
            System.out.println("testssl.sh: " + all + " findings, none above LOW but " + bad);
            assertThat(all).as(said).isGreaterThan(100);
            assertThat(bad).as(said).isEmpty();
        }
    }
}
