package io.millrace.cli.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Mutated requests: -Dmillrace.requests= says how many, and -Dmillrace.seed= repeats a run. 5,000 in a build, 100,000 in
 * .ci/long, a million with -Psoak.
 */
@DisplayName("srv-14: serve http gets nonsense")
class HttpFuzzTest {
    private static final String SECRET = "the secret outside";
    private static final List<String> SEEDS = List.of(
            "GET /hello.txt HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /sub/../../secret.txt HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /%2e%2e/secret.txt HTTP/1.1\r\nHost: a\r\nRange: bytes=0-5\r\n\r\n",
            "HEAD /large.bin HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
            "GET /large.bin HTTP/1.1\r\nHost: a\r\nRange: bytes=-100\r\nIf-Range: \"x\"\r\n\r\n",
            "GET http://a/out HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello",
            "OPTIONS * HTTP/1.1\r\nHost: a\r\nIf-Modified-Since: Fri, 02 Jan 2026 03:04:05 GMT\r\n\r\n");
    private static final List<String> PIECES = List.of(
            "\r\n",
            "\n",
            "\r",
            "\0",
            " ",
            "..",
            "/",
            "%2e",
            "%2f",
            "%00",
            "%",
            ":",
            "secret.txt",
            "out",
            "HTTP/1.1",
            "Host: a\r\n",
            "Content-Length: 0\r\n",
            "Transfer-Encoding: chunked\r\n",
            "\u00ff",
            "?",
            "#",
            "\\",
            "GET ",
            "bytes=0-",
            "\t",
            "\"",
            ",",
            "-1",
            "99999999999999999999");

    private static int requests() {
        return Integer.getInteger("millrace.requests", Boolean.getBoolean("millrace.soak") ? 1_000_000 : 5_000);
    }

    private static String mutate(Random random) {
        StringBuilder text = new StringBuilder(SEEDS.get(random.nextInt(SEEDS.size())));
        for (int i = random.nextInt(6); i > 0; i--) {
            int at = random.nextInt(text.length());
            switch (random.nextInt(5)) {
                case 0 -> text.setCharAt(at, (char) random.nextInt(256));
                case 1 -> text.insert(at, PIECES.get(random.nextInt(PIECES.size())));
                case 2 -> text.delete(at, Math.min(text.length(), at + 1 + random.nextInt(8)));
                case 3 -> text.insert(at, text.substring(at, Math.min(text.length(), at + 20)));
                default -> {
                    String other = SEEDS.get(random.nextInt(SEEDS.size()));
                    text.insert(at, other.substring(random.nextInt(other.length())));
                }
            }
            if (text.isEmpty()) {
                text.append('x');
            }
        }
        return text.toString();
    }

    @Test
    @Timeout(3600)
    @DisplayName(
            "srv-14: each connection gets well-formed answers and an end, nothing from outside, and the server lives")
    void fuzz(@TempDir Path outside) throws Exception {
        Path site = Files.createDirectory(outside.resolve("www"));
        Files.writeString(outside.resolve("secret.txt"), SECRET);
        Files.writeString(site.resolve("hello.txt"), "hello, world");
        Files.write(site.resolve("large.bin"), new byte[100_000]);
        Files.createDirectory(site.resolve("sub"));
        Files.createSymbolicLink(site.resolve("out"), outside.resolve("secret.txt"));
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        Random random = new Random(seed);
        int count = requests();
        try (HttpRig rig = new HttpRig(site)) {
            for (int done = 0; done < count; ) {
                StringBuilder sent = new StringBuilder();
                for (int i = 1 + random.nextInt(3); i > 0; i--) { // what follows one that is refused is not looked at
                    sent.append(mutate(random));
                    done++;
                }
                try {
                    exchange(rig, sent.toString());
                } catch (Throwable e) {
                    throw new AssertionError("-Dmillrace.seed=" + seed + ", after " + done + " requests: " + sent, e);
                }
            }
            assertThat(rig.get("/hello.txt").text()).isEqualTo("hello, world");
        }
    }

    /** What is answered must be a sequence of answers, and then an end, as if no other server were on the way. */
    private static void exchange(HttpRig rig, String sent) throws IOException {
        try (HttpRig.Client client = rig.connect()) {
            Thread sender = Thread.ofVirtual().start(() -> {
                try {
                    client.socket.getOutputStream().write(sent.getBytes(ISO_8859_1));
                    client.socket.shutdownOutput();
                } catch (IOException e) {
                    // It was refused before all was sent.
                }
            });
            try {
                // Whether an answer is that to a HEAD cannot be known here, so only the bytes are looked at.
                String got = new String(client.socket.getInputStream().readAllBytes(), ISO_8859_1);
                assertThat(got).doesNotContain(SECRET);
                assertThat(got.isEmpty() || got.startsWith("HTTP/1.1 ")).isTrue();
                assertThat(got).doesNotContain("HTTP/1.1 500");
            } catch (java.net.SocketException e) {
                // Reset: it was closed while more was coming.
            } finally {
                sender.interrupt();
            }
        }
    }
}
