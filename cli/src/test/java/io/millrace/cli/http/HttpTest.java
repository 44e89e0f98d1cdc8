package io.millrace.cli.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.cli.http.HttpRig.Answer;
import io.millrace.cli.http.HttpRig.Client;
import io.millrace.poll.ManualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("srv-14: serve http")
@Timeout(60)
class HttpTest {
    private static final String SECRET = "the secret outside";
    private static final int LARGE = 3 << 20;
    private static final Instant MODIFIED = Instant.parse("2026-01-02T03:04:05Z");

    @TempDir
    private Path outside;

    private Path site;
    private HttpRig rig;
    private byte[] large;

    @BeforeEach
    void build() throws IOException {
        Files.writeString(outside.resolve("secret.txt"), SECRET);
        Files.createDirectory(outside.resolve("www2"));
        Files.writeString(outside.resolve("www2/secret.txt"), SECRET);
        site = Files.createDirectory(outside.resolve("www"));
        Files.writeString(site.resolve("hello.txt"), "hello, world");
        Files.setLastModifiedTime(site.resolve("hello.txt"), FileTime.from(MODIFIED));
        Files.writeString(site.resolve("empty.css"), "");
        Files.writeString(site.resolve(".hidden"), SECRET);
        Files.createDirectory(site.resolve(".git"));
        Files.writeString(site.resolve(".git/config"), SECRET);
        large = new byte[LARGE];
        new Random(1).nextBytes(large);
        Files.write(site.resolve("large.bin"), large);
        Files.createDirectory(site.resolve("sub"));
        Files.writeString(site.resolve("sub/index.html"), "<p>index");
        Files.createDirectory(site.resolve("list"));
        Files.writeString(site.resolve("list/a <b>&\".txt"), "a");
        Files.writeString(site.resolve("list/\u00fc.txt"), "umlaut");
        Files.createDirectory(site.resolve("list/dir"));
        Files.createSymbolicLink(site.resolve("out"), outside.resolve("secret.txt"));
        Files.createSymbolicLink(site.resolve("outdir"), outside);
        Files.createSymbolicLink(site.resolve("relative"), Path.of("../secret.txt"));
        Files.createSymbolicLink(site.resolve("chain"), Path.of("out"));
        Files.createSymbolicLink(site.resolve("loop"), Path.of("loop"));
        Files.createSymbolicLink(site.resolve("sibling"), outside.resolve("www2"));
        Files.createSymbolicLink(site.resolve("tohidden"), Path.of(".hidden"));
        Files.createSymbolicLink(site.resolve("inside"), Path.of("hello.txt"));
        Files.createDirectory(site.resolve("linkedindex"));
        Files.createSymbolicLink(site.resolve("linkedindex/index.html"), outside.resolve("secret.txt"));
        rig = new HttpRig(site);
    }

    @AfterEach
    void close() {
        rig.close();
    }

    // ---- Nothing outside ----

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/../secret.txt",
                "/..",
                "/../",
                "/sub/../../secret.txt",
                "/sub/../hello.txt",
                "/./hello.txt",
                "/%2e%2e/secret.txt",
                "/%2E%2E/secret.txt",
                "/.%2e/secret.txt",
                "/%2e./secret.txt",
                "/..%2fsecret.txt",
                "/%2e%2e%2fsecret.txt",
                "/sub%2f..%2f..%2fsecret.txt",
                "/..%5csecret.txt",
                "/..\\secret.txt",
                "/%252e%252e/secret.txt",
                "/%c0%ae%c0%ae/secret.txt",
                "/%e0%80%ae%e0%80%ae/secret.txt",
                "/%uff0e%uff0e/secret.txt",
                "/..;/secret.txt",
                "//../secret.txt",
                "///etc/passwd",
                "/%2fetc%2fpasswd",
                "//etc/passwd",
                "/etc/passwd",
                "/hello.txt%00",
                "/hello.txt%00.html",
                "/%00/../secret.txt",
                "/hello.txt/",
                "/hello.txt/../../secret.txt",
                "/out",
                "/outdir",
                "/outdir/",
                "/outdir/secret.txt",
                "/relative",
                "/chain",
                "/loop",
                "/sibling/secret.txt",
                "/tohidden",
                "/linkedindex/",
                "/.hidden",
                "/.git/config",
                "/%2ehidden",
                "http://a/../secret.txt",
                "http://a/%2e%2e/secret.txt",
                "http://../secret.txt",
                "http:///etc/passwd",
                "http://",
                "http://a#/../secret.txt",
                "/hello.txt?#/../secret.txt",
                "http://a@../secret.txt",
                "https://a//../secret.txt",
                "file:///etc/passwd",
                "secret.txt",
                "../secret.txt",
                "*",
                "?/../secret.txt",
                "/?/../secret.txt",
                "/#/../secret.txt",
                "/%",
                "/%2",
                "/%zz",
                "/%+1",
                "/%0d%0aX-Injected:%201",
                "/hello.txt%0a",
                "/%7f",
                "/%ff"
            })
    @DisplayName("srv-14: no way out of the directory: an attempt")
    void attempts(String target) throws Exception {
        Answer answer = rig.get(target);
        assertThat(answer.status()).isIn(target.startsWith("/?") ? List.of(200) : List.of(400, 404));
        assertThat(answer.text()).doesNotContain(SECRET).doesNotContain("root:");
        assertThat(answer.field("x-injected")).isNull();
        assertThat(answer.field("location")).isNull();
    }

    @Test
    @DisplayName("srv-14: a link within the directory is followed, and one that is changed to lead out is not")
    void links() throws Exception {
        assertThat(rig.get("/inside").text()).isEqualTo("hello, world");
        Files.delete(site.resolve("large.bin"));
        Files.createSymbolicLink(site.resolve("large.bin"), outside.resolve("secret.txt"));
        assertThat(rig.get("/large.bin").status()).isEqualTo(404);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("srv-14: files and directories that are swapped for links and pipes meanwhile lead nowhere else")
    void swapped() throws Exception {
        Path deep = Files.createDirectories(site.resolve("deep/way"));
        byte[] content = new byte[100_000];
        Files.write(deep.resolve("secret.txt"), content);
        Path elsewhere = Files.createDirectories(outside.resolve("elsewhere/way"));
        Files.writeString(elsewhere.resolve("secret.txt"), SECRET);
        Path link = Files.createSymbolicLink(outside.resolve("link"), outside.resolve("elsewhere"));
        Path pipe = outside.resolve("pipe");
        makePipe(pipe);
        AtomicBoolean over = new AtomicBoolean();
        Thread swaps = Thread.ofPlatform().start(() -> {
            while (!over.get()) {
                swap(site.resolve("deep"), link);
                swap(deep.resolve("secret.txt"), pipe);
            }
        });
        Set<Integer> statuses = new TreeSet<>();
        try (Client client = rig.connect()) {
            for (int i = 0; i < 20_000; i++) {
                client.send("GET /deep/way/secret.txt HTTP/1.1\r\nHost: a\r\n\r\n");
                Answer answer = client.answer(false);
                statuses.add(answer.status());
                if (answer.status() == 200) {
                    assertThat(answer.body()).isEqualTo(content);
                } else {
                    assertThat(answer.status()).isEqualTo(404);
                }
            }
        } finally {
            over.set(true);
            swaps.join();
        }
        assertThat(statuses).contains(404);
    }

    /** Puts something in the place of something else for a moment, as one step each. */
    private void swap(Path place, Path other) {
        Path aside = outside.resolve("aside");
        try {
            Files.move(place, aside);
            Files.move(other, place);
            Files.move(place, other);
            Files.move(aside, place);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void makePipe(Path at) throws Exception {
        assertThat(new ProcessBuilder("mkfifo", at.toString()).start().waitFor())
                .isZero();
    }

    @Test
    @DisplayName("srv-14: what is no regular file is not opened, which would block the loop")
    void pipes() throws Exception {
        makePipe(site.resolve("pipe"));
        assertThat(rig.get("/pipe").status()).isEqualTo(404);
    }

    // ---- Files ----

    @Test
    @DisplayName("srv-14: a file is sent with its type, its length and what tells its versions apart")
    void file() throws Exception {
        Answer answer = rig.get("/hello.txt?v=1");
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).isEqualTo("hello, world");
        assertThat(answer.field("content-type")).isEqualTo("text/plain; charset=utf-8");
        assertThat(answer.field("last-modified")).isEqualTo("Fri, 02 Jan 2026 03:04:05 GMT");
        assertThat(answer.field("etag")).matches("\"[0-9a-f]+-c\"");
        assertThat(answer.field("accept-ranges")).isEqualTo("bytes");
        assertThat(answer.field("date")).endsWith(" GMT");
        assertThat(rig.get("/large.bin").body()).isEqualTo(large);
        assertThat(rig.get("/large.bin").field("content-type")).isEqualTo("application/octet-stream");
        assertThat(rig.get("/empty.css").field("content-length")).isEqualTo("0");
        assertThat(rig.get("http://example.com/hello.txt").text()).isEqualTo("hello, world");
        assertThat(rig.get("//hello.txt").text()).isEqualTo("hello, world");
        assertThat(rig.get("/%68ello.txt").text()).isEqualTo("hello, world");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("srv-14: a file that cannot be read is unavailable, rather than not there")
    void unreadable() throws Exception {
        try (HttpRig memory = new HttpRig(Path.of("/proc/self"));
                Client client = memory.connect()) {
            client.send("GET /mem HTTP/1.1\r\nHost: a\r\n\r\n"); // its first page is never there
            Answer answer = client.answer(false);
            assertThat(answer.status()).isEqualTo(503);
            assertThat(answer.field("connection")).isEqualTo("close");
            assertThat(client.isAtEnd()).isTrue();
        }
    }

    @Test
    @DisplayName("srv-14: a file that has changed is sent anew, a second later at most")
    void changes() throws Exception {
        assertThat(rig.get("/hello.txt").text()).isEqualTo("hello, world");
        Files.writeString(site.resolve("hello.txt"), "changed");
        org.awaitility.Awaitility.await()
                .atMost(Duration.ofSeconds(10))
                .until(() -> rig.get("/hello.txt").text().equals("changed"));
    }

    @Test
    @DisplayName("srv-14: short files are kept for a second, under so many names at most")
    void kept() throws Exception {
        ManualClock clock = new ManualClock();
        Site files = new Site(site, clock);
        Target hello = Target.parse("/hello.txt");
        for (int i = 0; i <= Site.MOST_KEPT; i++) {
            files.find(hello, "/hello.txt?" + i);
        }
        assertThat(files.recent("/hello.txt?" + Site.MOST_KEPT)).isNotNull();
        assertThat(files.recent("/hello.txt?0")).as("room was made").isNull();
        clock.advance(Duration.ofNanos(999_999_999));
        assertThat(files.recent("/hello.txt?" + Site.MOST_KEPT)).isNotNull();
        clock.advance(Duration.ofNanos(1));
        assertThat(files.recent("/hello.txt?" + Site.MOST_KEPT)).isNull();
    }

    @Test
    @DisplayName("srv-14: HEAD has the head of GET, and no body")
    void head() throws Exception {
        for (String name : List.of("hello.txt", "large.bin", "list/", "none")) {
            try (Client client = rig.connect()) {
                client.send(
                        "HEAD /" + name + " HTTP/1.1\r\nHost: a\r\n\r\nGET /" + name + " HTTP/1.1\r\nHost: a\r\n\r\n");
                Answer head = client.answer(true);
                Answer get = client.answer(false);
                assertThat(head.status()).isEqualTo(get.status());
                assertThat(head.field("content-length")).isEqualTo(get.field("content-length"));
                assertThat(head.field("etag")).isEqualTo(get.field("etag"));
            }
        }
    }

    @Test
    @DisplayName("srv-14: a directory has its index, or a list without what is hidden; without a slash it moves")
    void directories() throws Exception {
        assertThat(rig.get("/sub/").text()).isEqualTo("<p>index");
        assertThat(rig.get("/sub/").field("content-type")).startsWith("text/html");
        Answer moved = rig.get("/sub?x");
        assertThat(moved.status()).isEqualTo(301);
        assertThat(moved.field("location")).isEqualTo("/sub/");
        assertThat(rig.get("//sub").field("location"))
                .as("never to another host")
                .isEqualTo("/sub/");
        String list = rig.get("/list/").text();
        assertThat(list)
                .contains("href=\"./a%20%3cb%3e%26%22.txt\">a &lt;b&gt;&amp;&quot;.txt<")
                .contains("href=\"./dir/\"")
                .contains("href=\"./%c3%bc.txt\"");
        assertThat(rig.get("/list/%c3%bc.txt").text()).isEqualTo("umlaut");
        assertThat(rig.get("/").text())
                .contains("\"./hello.txt\"", "\"./inside\"", "\"./sub/\"")
                .doesNotContain("hidden", ".git", "\"./out", "chain", "loop", "relative", "sibling");
    }

    @Test
    @DisplayName("srv-14: a list has what can be asked for, and of a very large directory not all")
    void lists() throws Exception {
        for (String name : List.of("back\\slash", "new\nline", "control\u0001", "two")) {
            Files.writeString(site.resolve("list").resolve(name), "");
        }
        makePipe(site.resolve("list/pipe"));
        Files.createSymbolicLink(site.resolve("list/nowhere"), Path.of("none"));
        Files.createSymbolicLink(site.resolve("list/subdir"), Path.of("dir"));
        String list = rig.get("/list/").text();
        assertThat(list.lines().filter(line -> line.startsWith("<li>")).map(line -> line.replaceAll("<[^>]*>", "")))
                .containsExactly("a &lt;b&gt;&amp;&quot;.txt", "dir/", "subdir/", "two", "\u00c3\u00bc.txt");
        assertThat(list).endsWith("</ul>\n");
        Path many = Files.createDirectory(site.resolve("many"));
        for (int i = 0; i <= Site.MOST_LISTED; i++) {
            Files.createFile(many.resolve("f" + i));
        }
        assertThat(rig.get("/many/").text().lines().filter(line -> line.startsWith("<li>")))
                .hasSize(Site.MOST_LISTED);
        assertThat(rig.get("/many/").text()).endsWith("and more\n");
    }

    // ---- Parts ----

    @ParameterizedTest
    @CsvSource({
        "bytes=0-0, 206, 0, 1",
        "bytes=0-, 206, 0, 12",
        "bytes=5-8, 206, 5, 4",
        "bytes=5-99, 206, 5, 7",
        "bytes=11-, 206, 11, 1",
        "bytes=-1, 206, 11, 1",
        "bytes=-5, 206, 7, 5",
        "bytes=-99, 206, 0, 12",
        "BYTES=1-1, 206, 1, 1",
        "bytes=0-99999999999999999999, 206, 0, 12",
        "bytes=0-9999999999999999999, 206, 0, 12",
        "bytes=-9223372036854775808, 206, 0, 12",
        "bytes=00000000000000000000003-4, 206, 3, 2",
        "bytes=12-, 416, 0, 0",
        "bytes=99-100, 416, 0, 0",
        "bytes=99999999999999999999-, 416, 0, 0",
        "bytes=-0, 416, 0, 0",
        "bytes=5-4, 200, 0, 12",
        "'bytes=0-0,2-3', 200, 0, 12",
        "bytes=-, 200, 0, 12",
        "bytes=a-b, 200, 0, 12",
        "bytes=+1-2, 200, 0, 12",
        "lines=0-1, 200, 0, 12",
        "bytes, 200, 0, 12"
    })
    @DisplayName("srv-14: a part of a file, by RFC 9110")
    void ranges(String range, int status, int from, int count) throws Exception {
        Answer answer = rig.get("/hello.txt", "Range: " + range);
        assertThat(answer.status()).isEqualTo(status);
        assertThat(answer.text()).isEqualTo("hello, world".substring(from, from + count));
        assertThat(answer.field("content-range"))
                .isEqualTo(
                        status == 206
                                ? "bytes " + from + "-" + (from + count - 1) + "/12"
                                : status == 416 ? "bytes */12" : null);
    }

    @Test
    @DisplayName("srv-14: parts of a long file are its bytes")
    void largeRanges() throws Exception {
        Answer answer = rig.get("/large.bin", "Range: bytes=1000000-2999999");
        assertThat(answer.status()).isEqualTo(206);
        assertThat(answer.body()).isEqualTo(Arrays.copyOfRange(large, 1_000_000, 3_000_000));
        assertThat(rig.get("/empty.css", "Range: bytes=0-0").status()).isEqualTo(416);
    }

    // ---- Conditions ----

    @Test
    @DisplayName("srv-14: conditions are looked at in the order of RFC 9110")
    void conditions() throws Exception {
        String tag = Objects.requireNonNull(rig.get("/hello.txt").field("etag"));
        String at = "Fri, 02 Jan 2026 03:04:05 GMT";
        String before = "Fri, 02 Jan 2026 03:04:04 GMT";
        assertThat(status("If-None-Match: " + tag)).isEqualTo(304);
        assertThat(status("If-None-Match: \"x\", W/" + tag)).isEqualTo(304);
        assertThat(status("If-None-Match: *")).isEqualTo(304);
        assertThat(status("If-None-Match: \"x\"")).isEqualTo(200);
        assertThat(status("If-Modified-Since: " + at)).isEqualTo(304);
        assertThat(status("If-Modified-Since: Friday, 02-Jan-26 03:04:05 GMT")).isEqualTo(304);
        assertThat(status("If-Modified-Since: Fri Jan  2 03:04:05 2026")).isEqualTo(304);
        assertThat(status("If-Modified-Since: " + before)).isEqualTo(200);
        assertThat(status("If-Modified-Since: yesterday")).isEqualTo(200);
        assertThat(status("If-None-Match: \"x\"", "If-Modified-Since: " + at))
                .as("the tag counts")
                .isEqualTo(200);
        assertThat(status("If-Match: " + tag)).isEqualTo(200);
        assertThat(status("If-Match: W/" + tag)).isEqualTo(412);
        assertThat(status("If-Match: \"x\"")).isEqualTo(412);
        assertThat(status("If-Unmodified-Since: " + before)).isEqualTo(412);
        assertThat(status("If-Unmodified-Since: " + at)).isEqualTo(200);
        assertThat(status("If-Match: " + tag, "If-Unmodified-Since: " + before))
                .as("the tag counts")
                .isEqualTo(200);
        assertThat(status("If-Match: \"x\", " + tag)).isEqualTo(200);
        assertThat(status("Range: bytes=0-1", "If-Range: " + tag)).isEqualTo(206);
        assertThat(status("Range: bytes=0-1", "If-Range: " + at)).isEqualTo(206);
        assertThat(status("Range: bytes=0-1", "If-Range: " + before)).isEqualTo(200);
        assertThat(status("Range: bytes=0-1", "If-Range: \"x\"")).isEqualTo(200);
        assertThat(status("Range: bytes=0-1", "If-Range: W/" + tag)).isEqualTo(200);
        assertThat(status("Range: bytes=0-1", "If-None-Match: " + tag)).isEqualTo(304);
    }

    private int status(String... fields) throws IOException {
        return rig.get("/hello.txt", fields).status();
    }

    // ---- Connections ----

    @Test
    @DisplayName("srv-14: requests that come together are answered in order, on one connection, also behind long files")
    void pipelining() throws Exception {
        try (Client client = rig.connect()) {
            StringBuilder all = new StringBuilder();
            for (int i = 0; i < 20; i++) {
                all.append("GET /large.bin HTTP/1.1\r\nHost: a\r\n\r\n");
                all.append("GET /hello.txt HTTP/1.1\r\nHost: a\r\nRange: bytes=")
                        .append(i % 12)
                        .append("-\r\n\r\n");
            }
            client.send(all.toString());
            for (int i = 0; i < 20; i++) {
                assertThat(client.answer(false).body()).hasSize(LARGE);
                assertThat(client.answer(false).text()).isEqualTo("hello, world".substring(i % 12));
            }
        }
    }

    @Test
    @DisplayName("srv-14: a request may come byte by byte, and behind an empty line")
    void pieces() throws Exception {
        try (Client client = rig.connect()) {
            for (char c : "\r\nGET /hello.txt HTTP/1.1\r\nHost: a\r\n\r\n".toCharArray()) {
                client.send(String.valueOf(c));
            }
            assertThat(client.answer(false).text()).isEqualTo("hello, world");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "HTTP/1.1, '', true",
        "HTTP/1.1, close, false",
        "HTTP/1.1, 'x, Close', false",
        "HTTP/1.0, '', false",
        "HTTP/1.0, Keep-Alive, true",
        "HTTP/1.0, 'keep-alive, close', false"
    })
    @DisplayName("srv-14: a connection stays open if both want it")
    void keepAlive(String version, String option, boolean stays) throws Exception {
        try (Client client = rig.connect()) {
            String request = "GET /hello.txt " + version + "\r\nHost: a\r\n"
                    + (option.isEmpty() ? "" : "Connection: " + option + "\r\n") + "\r\n";
            client.send(request);
            Answer first = client.answer(false);
            assertThat(first.text()).isEqualTo("hello, world");
            if (stays) {
                client.send(request);
                assertThat(client.answer(false).text()).isEqualTo("hello, world");
            } else {
                assertThat(first.field("connection")).isEqualTo("close");
                assertThat(client.isAtEnd()).isTrue();
            }
        }
    }

    // ---- What is refused ----

    @ParameterizedTest
    @CsvSource({
        "'GET / HTTP/1.1\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a b\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a/b\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a@b\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.0\\r\\nHost: \\\\a\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nHost: b\\r\\n\\r\\n', 400",
        "'POST / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 0\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 0\\r\\nContent-Length: 0\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 0, 0\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: +1\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: -1\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 0x0\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length:\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nContent-Length: 5\\r\\n\\r\\nhello', 413",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n', 501",
        "'GET / HTTP/1.0\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nTransfer-Encoding : chunked\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nX: a\\r\\n folded\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\n Host: a\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\nHost: a\\n\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\nX: b\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\rX: b\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nX: \\0\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\n: b\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.1\\r\\nHost: a\\r\\nnocolon\\r\\n\\r\\n', 400",
        "'GET  / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n', 400",
        "'GET / a HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n', 400",
        "'GET /\\r\\nHost: a\\r\\n\\r\\n', 400",
        "'GET / http/1.1\\r\\nHost: a\\r\\n\\r\\n', 400",
        "'GET / HTTP/1.12\\r\\nHost: a\\r\\n\\r\\n', 400",
        "'GET / HTTP/2.0\\r\\nHost: a\\r\\n\\r\\n', 505",
        "'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n', 505",
        "'G(T / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n', 400",
        "'POST / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n', 405",
        "'DELETE /hello.txt HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n', 405",
        "'get / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n', 405",
        "'CONNECT a:80 HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n', 405"
    })
    @DisplayName("srv-14: what two servers could understand differently is refused, and nothing behind it is looked at")
    void refused(String escaped, int status) throws Exception {
        String request = escaped.replace("\\r", "\r").replace("\\n", "\n").replace("\\0", "\0");
        try (Client client = rig.connect()) {
            client.send(request + "GET /hello.txt HTTP/1.1\r\nHost: a\r\n\r\n");
            Answer answer = client.answer(false);
            assertThat(answer.status()).isEqualTo(status);
            assertThat(answer.field("connection")).isEqualTo("close");
            assertThat(client.isAtEnd())
                    .as("the request behind it is not answered")
                    .isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HEAD / HTTP/1.1\r\n\r\n",
                "HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n",
                "HEAD / HTTP/9.9\r\nHost: a\r\n\r\n",
                "HEAD /none HTTP/1.0\r\n\r\n"
            })
    @DisplayName("srv-14: an answer to HEAD has no body, even if it is refused")
    void refusedHead(String request) throws Exception {
        try (Client client = rig.connect()) {
            client.send(request);
            Answer answer = client.answer(true);
            assertThat(answer.status()).isGreaterThanOrEqualTo(400);
            assertThat(answer.field("content-length")).isNotEqualTo("0");
            assertThat(client.isAtEnd()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"http://a?/hello.txt", "http://a", "HTTP://a:80/?x", "http://[::1]?"})
    @DisplayName("srv-14: the host of a URI ends where its path or its query begins")
    void authority(String target) throws Exception {
        assertThat(rig.get(target).text()).contains("<title>Index");
    }

    @Test
    @DisplayName("srv-14: heads and targets that are too long, and fields that are too many, are refused")
    void tooMuch() throws Exception {
        assertThat(rig.get("/" + "a".repeat(9000)).status()).isEqualTo(414);
        assertThat(rig.get("/" + "a".repeat(20_000)).status()).isEqualTo(414);
        assertThat(rig.get("/", "X: " + "a".repeat(20_000)).status()).isEqualTo(431);
        assertThat(rig.get("/", ("X: a\r\n").repeat(99) + "X: a").status()).isEqualTo(431);
        assertThat(rig.get("/hello.txt", ("X: a\r\n").repeat(98) + "X: a").status())
                .isEqualTo(200);
        assertThat(rig.get("/" + "a/".repeat(4000)).status()).isEqualTo(404);
        assertThat(rig.get("/" + "a".repeat(300)).status())
                .as("too long for a file system")
                .isEqualTo(404);
    }

    @Test
    @DisplayName("srv-14: OPTIONS tells what is allowed")
    void options() throws Exception {
        Answer answer = rig.ask("OPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n");
        assertThat(answer.status()).isEqualTo(204);
        assertThat(answer.field("allow")).isEqualTo("GET, HEAD, OPTIONS");
    }

    @Test
    @DisplayName("srv-14: a client that sends a head too slowly is cut off, however steadily its bytes come")
    void slowloris() throws Exception {
        try (HttpRig impatient = new HttpRig(site, Duration.ofMillis(300));
                Client client = impatient.connect()) {
            client.send("GET /hello.txt HTTP/1.1\r\nHost: a\r\n");
            client.socket.setSoTimeout(10);
            // Far fewer than fill a head: what ends this is the time, without an answer.
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 1000; i++) {
                            client.send("X: b\r\n".substring(i % 6, i % 6 + 1));
                            try {
                                assertThat(client.isAtEnd()).as("an answer").isTrue();
                                throw new IOException("cut off");
                            } catch (java.net.SocketTimeoutException e) {
                                // on it goes
                            }
                        }
                    })
                    .isInstanceOf(IOException.class);
            try (Client other = impatient.connect()) {
                other.send("GET /hello.txt HTTP/1.1\r\nHost: a\r\n\r\n");
                assertThat(other.answer(false).body()).isEqualTo("hello, world".getBytes(ISO_8859_1));
            }
        }
    }
}
