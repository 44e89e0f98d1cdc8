package io.millrace.cli.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Mutated requests: -Dmillrace.requests= says how many, and -Dmillrace.seed= repeats a run. 5,000 in a build, 100,000
 * more in .ci/run, a million in .ci/long and with -Psoak.
 *
 * <p>What is sent is known, so what must come back is, too, but for the statuses: {@link Heads} says which requests there
 * are, each must have its answer, in order, until one says that it is the last, and then there must be an end. A body is
 * nothing but what is in the directory, and a request that another server could read differently has none. Behind the
 * mutated requests there is always a good one, which must be answered if it is one by itself, and the connection is open.
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
            "GET /hello.txt HTTP/1.1\r\nHost: a\r\nRange: bytes=3-5\r\nIf-Match: *\r\n\r\n",
            "GET /hello.txt HTTP/1.0\r\nIf-None-Match: W/\"a\", *\r\nConnection: keep-alive\r\n\r\n",
            "GET /sub HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n\r\nGET /sub/ HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n\r\n",
            "GET /large.bin HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n\r\n",
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

    private static final String LAST = "GET /hello.txt?last HTTP/1.1\r\nHost: a\r\n\r\n";

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

    private static String[] cut(String text, Random random) {
        int at = random.nextInt(3) == 0 ? random.nextInt(text.length()) : text.length();
        return new String[] {text.substring(0, at), text.substring(at)};
    }

    @Test
    @Timeout(3600)
    @DisplayName("srv-14: each mutated request gets one well-formed answer or an end, nothing from outside, and all"
            + " behind it is as if it had been a good one")
    void fuzz(@TempDir Path outside) throws Exception {
        Path site = Files.createDirectory(outside.resolve("www"));
        Files.writeString(outside.resolve("secret.txt"), SECRET);
        Files.writeString(site.resolve("hello.txt"), "hello, world");
        byte[] large = new byte[100_000];
        new Random(7).nextBytes(large);
        Files.write(site.resolve("large.bin"), large);
        Files.createDirectory(site.resolve("sub"));
        Files.createSymbolicLink(site.resolve("out"), outside.resolve("secret.txt"));
        long seed = Long.getLong("millrace.seed", System.nanoTime());
        Random random = new Random(seed);
        int count = requests();
        try (HttpRig rig = new HttpRig(site)) {
            List<byte[]> served = List.of(
                    "hello, world".getBytes(ISO_8859_1),
                    large,
                    rig.get("/").body(),
                    rig.get("/sub/").body());
            Answers answers = new Answers(served);
            int descriptors = -1;
            for (int done = 0; done < count; ) {
                StringBuilder sent = new StringBuilder();
                for (int i = 1 + random.nextInt(3); i > 0; i--) { // what follows one that is refused is not looked at
                    sent.append(mutate(random));
                    done++;
                }
                sent.append(LAST);
                try {
                    answers.check(Heads.of(sent.toString()), exchange(rig, cut(sent.toString(), random)));
                } catch (Throwable e) {
                    throw new AssertionError("-Dmillrace.seed=" + seed + ", after " + done + " requests: " + sent, e);
                }
                if (descriptors < 0 && done > count / 10) {
                    descriptors = descriptors(rig);
                }
            }
            assertThat(descriptors(rig)).as("what is left open").isLessThanOrEqualTo(descriptors);
            assertThat(answers.statuses())
                    .as("the mutations reach every kind of answer")
                    .contains(200, 204, 206, 301, 304, 400, 404, 405, 413, 501);
        }
    }

    /** How many descriptors are open when there is no connection. */
    private static int descriptors(HttpRig rig) throws IOException {
        await().until(() -> rig.server.connections().isEmpty());
        Path open = Path.of("/proc/self/fd");
        if (!Files.exists(open)) {
            return 0;
        }
        try (Stream<Path> all = Files.list(open)) {
            return (int) all.count();
        }
    }

    /** All that comes back, until the end. A reset is a failure: what was answered could be lost. */
    private static byte[] exchange(HttpRig rig, String... pieces) throws IOException {
        try (HttpRig.Client client = rig.connect()) {
            for (String piece : pieces) {
                client.send(piece);
            }
            client.socket.shutdownOutput();
            return client.socket.getInputStream().readAllBytes();
        }
    }
}
