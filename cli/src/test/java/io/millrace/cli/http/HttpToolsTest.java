package io.millrace.cli.http;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Cli;
import io.millrace.cli.Tools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("srv-14: serve http, judged by the programs of others")
@Timeout(120)
class HttpToolsTest {
    @TempDir
    private Path directory;

    private Path site;

    @BeforeEach
    void build() throws IOException {
        site = Files.createDirectory(directory.resolve("www"));
        byte[] bytes = new byte[1 << 20];
        new Random(5).nextBytes(bytes);
        Files.write(site.resolve("large.bin"), bytes);
        Files.writeString(site.resolve("small.txt"), "x".repeat(1024));
        Files.writeString(directory.resolve("secret.txt"), "secret");
    }

    private String run(String... command) throws Exception {
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }

    @Test
    @DisplayName("srv-14: curl gets files, parts, what has not changed, and nothing outside")
    void curl() throws Exception {
        Tools.require("curl", "curl");
        try (Cli server = Cli.serve("http", site.toString())) {
            String url = "http://127.0.0.1:" + server.port();
            run("curl", "-sf", "-o", "got", url + "/large.bin");
            assertThat(directory.resolve("got")).hasSameBinaryContentAs(site.resolve("large.bin"));
            // An interrupted transfer that goes on where it was.
            Files.write(
                    directory.resolve("got"),
                    java.util.Arrays.copyOf(Files.readAllBytes(site.resolve("large.bin")), 5000));
            run("curl", "-sf", "-C", "-", "-o", "got", url + "/large.bin");
            assertThat(directory.resolve("got")).hasSameBinaryContentAs(site.resolve("large.bin"));
            run("curl", "-sf", "--etag-save", "tag", "-o", "got", url + "/small.txt");
            assertThat(run("curl", "-s", "--etag-compare", "tag", "-w", "%{http_code}", url + "/small.txt"))
                    .isEqualTo("304");
            assertThat(run(
                            "curl",
                            "-s",
                            "-z",
                            "site.stamp",
                            "-w",
                            "%{http_code}",
                            "-o",
                            "/dev/null",
                            url + "/small.txt"))
                    .contains("200");
            assertThat(run("curl", "-s", "--path-as-is", "-w", "%{http_code}", "-o", "got", url + "/../secret.txt"))
                    .isEqualTo("404");
            assertThat(run(
                            "curl",
                            "-s",
                            "-w",
                            "%{num_connects} ",
                            "-o",
                            "/dev/null",
                            url + "/small.txt",
                            "-o",
                            "/dev/null",
                            url + "/small.txt"))
                    .as("one connection for both")
                    .isEqualTo("1 0 ");
            assertThat(run("curl", "-sI", url + "/small.txt")).contains("Content-Length: 1024");
        }
    }

    @Test
    @DisplayName("srv-14, tls-4: over HTTPS, and ALPN agrees on http/1.1")
    void https() throws Exception {
        Tools.require("curl", "curl");
        try (Cli server = Cli.serve("http", site.toString(), "--tls", "self-signed")) {
            String url = "https://127.0.0.1:" + server.port();
            String said = run("curl", "-skv", "--http2", "-o", "got", url + "/large.bin");
            assertThat(said).contains("ALPN: server accepted http/1.1");
            assertThat(directory.resolve("got")).hasSameBinaryContentAs(site.resolve("large.bin"));
        }
    }

    @Test
    @DisplayName("srv-14: over a Unix socket")
    void unix() throws Exception {
        Tools.require("curl", "curl");
        Path path = directory.resolve("s");
        try (Cli server = Cli.start("serve", "http", site.toString(), "--unix", path.toString())) {
            assertThat(server.firstLine()).contains("listening on unix:" + path);
            assertThat(run("curl", "-sf", "--unix-socket", path.toString(), "http://a/small.txt"))
                    .hasSize(1024);
        }
    }

    @Test
    @DisplayName("srv-14: wrk counts no failure")
    void wrk() throws Exception {
        Tools.require("wrk", "wrk");
        try (Cli server = Cli.serve("http", site.toString())) {
            int port = server.port();
            for (String file : List.of("small.txt", "large.bin")) {
                String said = run("wrk", "-t1", "-c20", "-d2s", "http://127.0.0.1:" + port + "/" + file);
                assertThat(said).doesNotContain("Non-2xx").doesNotContain("Socket errors");
                Matcher requests = Pattern.compile("(\\d+) requests in").matcher(said);
                assertThat(requests.find()).isTrue();
                assertThat(Integer.parseInt(requests.group(1))).isGreaterThan(10);
            }
        }
    }

    @Test
    @DisplayName("srv-14: slowhttptest does not deny the service to others")
    void slow() throws Exception {
        Tools.require("slowhttptest", "slowhttptest");
        try (Cli server = Cli.serve("http", site.toString(), "--idle", "2")) {
            String url = "http://127.0.0.1:" + server.port() + "/large.bin";
            // Slow headers (slowloris), and slow reading of a file.
            for (List<String> mode :
                    List.of(List.of("-H", "-i", "1"), List.of("-X", "-w", "10", "-y", "20", "-z", "1"))) {
                List<String> command = new java.util.ArrayList<>(List.of("slowhttptest"));
                command.addAll(mode);
                command.addAll(List.of("-c", "100", "-r", "100", "-l", "8", "-p", "3", "-u", url));
                String said = run(command.toArray(String[]::new)).replaceAll("\u001b\\[[0-9;]*m", "");
                assertThat(said)
                        .as(said)
                        .contains("service available:   YES")
                        .doesNotContain("service available:   NO");
            }
        }
    }
}
