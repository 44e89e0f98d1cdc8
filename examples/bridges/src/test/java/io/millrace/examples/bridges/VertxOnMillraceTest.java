package io.millrace.examples.bridges;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Runs the program as one of its own, and asks it from outside. */
class VertxOnMillraceTest {
    @Test
    @DisplayName("nty-4: Vert.x and a TcpServer answer on one thread")
    void bothAnswer() throws Exception {
        Process program = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        VertxOnMillrace.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (BufferedReader out = program.inputReader(StandardCharsets.UTF_8)) {
            Matcher ports = Pattern.compile("Vert.x on port (\\d+), TcpServer on port (\\d+)")
                    .matcher(out.readLine());
            assertThat(ports.find()).isTrue();
            assertThat(get("http://127.0.0.1:" + ports.group(1) + "/")).isEqualTo("hello from vertx-0");
            try (Socket socket = new Socket("127.0.0.1", Integer.parseInt(ports.group(2)))) {
                socket.setSoTimeout(10_000);
                socket.getOutputStream().write("echo".getBytes(StandardCharsets.US_ASCII));
                assertThat(new String(socket.getInputStream().readNBytes(4), StandardCharsets.US_ASCII))
                        .isEqualTo("echo");
            }
            program.outputWriter(StandardCharsets.UTF_8).append("\n").flush();
            assertThat(program.waitFor(20, TimeUnit.SECONDS)).isTrue();
            assertThat(program.exitValue()).isZero();
        } finally {
            program.destroyForcibly();
        }
    }

    private static String get(String address) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            return client.send(
                            HttpRequest.newBuilder(URI.create(address)).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }
}
