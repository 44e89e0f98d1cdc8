package io.millrace.console;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.millrace.engine.Reactors;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("The console's answers")
@Timeout(60)
@SuppressWarnings("try") // closed early, on purpose
class ConsoleTest {
    private final CountDownLatch letGo = new CountDownLatch(1);
    private TcpServer server;
    private Console console;

    @BeforeEach
    void start() throws IOException {
        server = TcpServer.builder()
                .reactors(Reactors.builder().reactors(1).name("looked-at"))
                .start((connection, data) -> {
                    if (data.get(data.position()) == '!') {
                        letGo.await(40, TimeUnit.SECONDS);
                    }
                    connection.send(data);
                });
        console = Console.attach(server);
    }

    @AfterEach
    void stop() {
        letGo.countDown();
        console.close();
        server.close();
    }

    private Socket connect() throws IOException {
        Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static void echo(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        assertThat(socket.getInputStream().readNBytes(text.length())).hasSize(text.length());
    }

    /** Speaks HTTP by hand: a client library would not send the headers that attackers do. */
    private String ask(String method, String path, String... headers) throws IOException {
        return ask(console, method, path, headers);
    }

    private static String ask(Console console, String method, String path, String... headers) throws IOException {
        StringBuilder request = new StringBuilder(method + " " + path + " HTTP/1.0\r\n");
        boolean host = false;
        for (String header : headers) {
            request.append(header).append("\r\n");
            host |= header.startsWith("Host:");
        }
        if (!host) {
            request.append("Host: 127.0.0.1:")
                    .append(console.address().getPort())
                    .append("\r\n");
        }
        try (Socket socket =
                new Socket(console.address().getAddress(), console.address().getPort())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write((request + "\r\n").getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private String token() {
        return "X-Millrace-Token: " + console.token();
    }

    @Test
    @DisplayName("obs-3: without the token there is the empty page and the health, and nothing else")
    void needsTheToken() throws IOException {
        assertThat(ask("GET", "/")).contains(" 200 ", "Content-security-policy: default-src 'none'");
        assertThat(ask("GET", "/health")).contains(" 200 ").endsWith("ok\n");
        for (String path : new String[] {"/metrics", "/api/overview", "/api/connections", "/api/dump", "/api/stalls"}) {
            assertThat(ask("GET", path)).as(path).contains(" 401 ");
            assertThat(ask("GET", path, "X-Millrace-Token: wrong")).as(path).contains(" 401 ");
            assertThat(ask("GET", path, token())).as(path).contains(" 200 ");
        }
        assertThat(ask("GET", "/metrics", "Authorization: Bearer " + console.token()))
                .contains(" 200 ");
        assertThat(ask("GET", "/api/nothing", token())).contains(" 404 ");
        assertThat(ask("DELETE", "/api/overview", token())).contains(" 405 ");
        assertThatThrownBy(() -> Console.builder().token("short")).hasMessageContaining("16 characters");
    }

    @Test
    @DisplayName(
            "obs-3: an address through a tunnel or another interface is answered; a name that looks like one is not")
    void answersIpAddresses() throws IOException {
        int port = console.address().getPort();
        for (String host :
                new String[] {"localhost:9000", "127.0.0.1", "10.1.2.3:" + port, "[::1]:9000", "[fe80::1%eth0]:1"}) {
            assertThat(ask("GET", "/api/overview", "Host: " + host, token()))
                    .as(host)
                    .contains(" 200 ");
        }
        for (String host : new String[] {
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "evil.example:" + port,
            "1.2.3.4.5",
            "[::1].evil.example",
            ""
        }) {
            assertThat(ask("GET", "/api/overview", "Host: " + host, token()))
                    .as(host)
                    .containsPattern(" (421|400) ");
        }
    }

    @Test
    @DisplayName("obs-3: clients that do not send their request, or do not end it, cannot keep others out")
    void slowClientsAreCutOff() throws Exception {
        try (Console impatient = patience(Duration.ofMillis(200), Duration.ofMillis(200))) {
            InetSocketAddress at = impatient.address();
            List<Socket> slow = new ArrayList<>();
            try {
                for (int i = 0; i < 24; i++) {
                    Socket socket = new Socket(at.getAddress(), at.getPort());
                    slow.add(socket);
                    socket.setSoTimeout(20_000);
                    String request = i % 2 == 0
                            ? "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
                            : "POST /api/close HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5000\r\n\r\nx";
                    socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
                }
                for (Socket socket : slow) {
                    readToItsEnd(socket);
                }
            } finally {
                for (Socket socket : slow) {
                    socket.close();
                }
            }
            try (InputStream health = URI.create("http://127.0.0.1:" + at.getPort() + "/health")
                    .toURL()
                    .openStream()) {
                assertThat(health.readAllBytes())
                        .asString(StandardCharsets.UTF_8)
                        .isEqualTo("ok\n");
            }
        }
    }

    @Test
    @DisplayName("obs-3: while forty clients do not end their requests, another one is answered")
    void slowClientsHoldUpNobody() throws Exception {
        try (Console patient = patience(Duration.ofSeconds(60), Duration.ofSeconds(60))) {
            InetSocketAddress at = patient.address();
            List<Socket> slow = new ArrayList<>();
            try {
                for (int i = 0; i < 40; i++) {
                    Socket socket = new Socket(at.getAddress(), at.getPort());
                    slow.add(socket);
                    socket.getOutputStream()
                            .write("GET /health HTTP/1.1\r\nHost: 127".getBytes(StandardCharsets.US_ASCII));
                }
                assertThat(ask(patient, "GET", "/health")).contains(" 200 ").endsWith("ok\n");
            } finally {
                for (Socket socket : slow) {
                    socket.close();
                }
            }
        }
    }

    @Test
    @DisplayName("obs-4: HEAD is answered like GET, without the text")
    void head() throws IOException {
        assertThat(ask("HEAD", "/health")).contains(" 200 ").endsWith("\r\n\r\n");
        assertThat(ask("HEAD", "/metrics")).contains(" 401 ").endsWith("\r\n\r\n");
        assertThat(ask("HEAD", "/metrics", token())).contains(" 200 ").endsWith("\r\n\r\n");
        assertThat(ask("HEAD", "/api/close?server=server&id=1", token())).contains(" 404 ");
    }

    @Test
    @DisplayName("obs-3: a request under two names is refused")
    void twoNames() throws IOException {
        assertThat(ask("GET", "/health", "Host: 127.0.0.1", "Host: evil.example"))
                .contains(" 421 ");
    }

    @Test
    @DisplayName(
            "obs-3: what a user's set throws, even if it is not declared, is told and logged, and the console goes on")
    void aSetThatThrows() throws IOException {
        try (Console watching = Console.builder()
                .add("server", server)
                .addSet("broken", () -> {
                    throw new AssertionError("the set is broken");
                })
                .open()) {
            assertThat(ask(watching, "GET", "/api/timers", "X-Millrace-Token: " + watching.token()))
                    .contains(" 500 ")
                    .contains("the set is broken");
            assertThat(ask(watching, "GET", "/health")).contains(" 200 ");
        }
    }

    private Console patience(Duration toRead, Duration toAnswer) throws IOException {
        Console.Builder builder = Console.builder().add("server", server);
        builder.toRead = toRead;
        builder.toAnswer = toAnswer;
        return builder.open();
    }

    private static void readToItsEnd(Socket socket) throws IOException {
        try {
            socket.getInputStream().readAllBytes();
        } catch (SocketException e) {
            // Reset, because the console has not read everything: the end as well.
            assertThat(e).hasMessageContaining("reset");
        }
    }

    @Test
    @DisplayName(
            "obs-3: a console does not keep the program alive, can be closed twice and by a loop, and says why it cannot open")
    void opensAndCloses() throws Exception {
        assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> thread.getName().startsWith("HTTP-Dispatcher"))
                .isNotEmpty()
                .allMatch(Thread::isDaemon);
        assertThatThrownBy(() -> Console.builder().address(console.address()).open())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot open the console on /127.0.0.1:"
                        + console.address().getPort())
                .hasMessageContaining("choose a free port");
        assertThatThrownBy(() -> Console.builder()
                        .address(InetSocketAddress.createUnresolved("nowhere.invalid", 0))
                        .open())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot be resolved");
        CompletableFuture<Void> closed = new CompletableFuture<>();
        try (Reactors loops = Reactors.builder().reactors(1).open()) {
            loops.execute(() -> {
                console.close();
                console.close();
                closed.complete(null);
            });
            closed.get(20, TimeUnit.SECONDS);
        }
        assertThatThrownBy(() -> ask("GET", "/health")).isInstanceOf(ConnectException.class);
    }

    @Test
    @DisplayName("obs-4: /health is 503 while a server shuts down and after it, and when a loop has ended")
    void healthTellsTheEnd() throws Exception {
        assertThat(ask("GET", "/health")).contains(" 200 ");
        try (Reactors loops = Reactors.builder().reactors(1).name("short").open();
                TcpServer lives = TcpServer.builder().manager(loops).start((connection, data) -> {});
                TcpClient client = TcpClient.open();
                Console other = Console.builder()
                        .add("lives", lives)
                        .add("client", client)
                        .open()) {
            assertThat(ask(other, "GET", "/health")).contains(" 200 ");
            client.close();
            assertThat(ask(other, "GET", "/health")).contains(" 503 ", "client is closed, or closing");
        }
        try (Socket peer = connect()) {
            peer.getOutputStream().write('!');
            await().untilAsserted(() ->
                    assertThat(ask("GET", "/api/overview", token())).contains("\"running\":\"connection 1"));
            Thread ends = Thread.ofPlatform().start(() -> server.shutdown(Duration.ofSeconds(30)));
            await().untilAsserted(() -> assertThat(ask("GET", "/health")).contains(" 503 ", "closing"));
            assertThat(ask("GET", "/api/shutdown", token())).contains("\"isOpen\":false", "\"count\":1");
            letGo.countDown();
            ends.join();
        }
        for (String view : new String[] {
            "/api/overview",
            "/api/connections",
            "/api/stalls",
            "/api/timers",
            "/api/shutdown",
            "/api/sources",
            "/api/dump",
            "/metrics"
        }) {
            assertThat(ask("GET", view, token()))
                    .as("%s of a server that has ended", view)
                    .contains(" 200 ");
        }
    }

    @Test
    @DisplayName("obs-4: loops of the same name are told apart, and no sample appears twice")
    void namesAreUnique() throws Exception {
        try (Reactors one = Reactors.builder().reactors(1).name("same").open();
                Reactors two = Reactors.builder().reactors(1).name("same").open();
                TcpServer first = TcpServer.builder().manager(one).start((connection, data) -> {});
                TcpServer second = TcpServer.builder().manager(two).start((connection, data) -> {});
                TcpServer third = TcpServer.builder().manager(two).start((connection, data) -> {});
                Console other = Console.builder()
                        .add("a \"b\" \\", first)
                        .add("second\u001b[2J", second)
                        .add("third, with a name that is too long for a column", third)
                        .open()) {
            String body = ask(other, "GET", "/metrics", "Authorization: Bearer " + other.token());
            assertThat(body)
                    .contains("{loop=\"same-0\"}", "{loop=\"same-0 (2)\"}")
                    .doesNotContain("same-0 (3)");
            assertThat(body.lines()
                            .filter(line -> line.startsWith("millrace_"))
                            .map(line -> line.substring(0, line.lastIndexOf(' '))))
                    .doesNotHaveDuplicates();
            String frame = new Top(other.url()).frame();
            assertThat(frame)
                    .contains("a \"b\" \\ ", "second?[2J ", "third, with a n… ", "same-0 (2) ")
                    .doesNotContain("\u001b");
            assertThat(frame.lines()).allMatch(line -> line.length() <= 80);
        }
    }

    @Test
    @DisplayName("obs-3: a request that makes no sense is the client's mistake")
    void explainsBadRequests() throws IOException {
        assertThat(ask("GET", "/api/connections?search=%zz", token())).contains(" 400 ");
        assertThat(ask("GET", "/api/connections?from=x&sort=none&state=none", token()))
                .contains(" 200 ", "\"from\":0", "\"found\":0");
        assertThat(ask("GET", "/api/connections?from=-5", token())).contains(" 200 ", "\"from\":0");
        assertThat(ask("GET", "/api/connection?server=none&id=99999999999", token()))
                .contains("\"connection\":null");
        assertThat(ask("GET", "/api/<script>", token())).doesNotContain("<script>");
        try (Socket endless =
                new Socket(console.address().getAddress(), console.address().getPort())) {
            endless.setSoTimeout(20_000);
            assertThatThrownBy(() -> {
                        for (; ; ) { // a line without an end
                            endless.getOutputStream().write(new byte[8_192]);
                        }
                    })
                    .isInstanceOf(SocketException.class);
        }
        assertThat(ask("GET", "/health")).contains(" 200 ");
    }

    @Test
    @DisplayName("obs-3: a name that was made to resolve to this machine is refused, token or not")
    void refusesOtherHosts() throws IOException {
        assertThat(ask("GET", "/", "Host: evil.example:" + console.address().getPort()))
                .contains(" 421 ");
        assertThat(ask("GET", "/api/overview", "Host: evil.example", token())).contains(" 421 ");
        assertThat(ask(
                        "GET",
                        "/api/overview",
                        "Host: localhost:" + console.address().getPort(),
                        token()))
                .contains(" 200 ");
    }

    @Test
    @DisplayName("obs-3: another site's page cannot close a connection; the console's own page can")
    void closesOnlyForItsOwnPage() throws IOException {
        try (Socket peer = connect()) {
            echo(peer, "x");
            String close = "/api/close?server=server&id=1";
            int port = console.address().getPort();
            assertThat(ask("POST", close)).contains(" 401 ");
            assertThat(ask("POST", close, token(), "Origin: http://evil.example"))
                    .contains(" 403 ");
            assertThat(ask("POST", close, token(), "Origin: null")).contains(" 403 ");
            assertThat(ask("POST", close, token(), "Origin: http://localhost:" + port))
                    .contains(" 403 ");
            assertThat(ask("POST", close, token(), "Origin: http://127.0.0.1:1"))
                    .contains(" 403 ");
            assertThat(ask("POST", close, token(), "Sec-Fetch-Site: same-site")).contains(" 403 ");
            assertThat(ask("POST", close, token(), "Sec-Fetch-Site: cross-site"))
                    .contains(" 403 ");
            assertThat(ask("GET", close, token())).contains(" 404 ");
            echo(peer, "y");
            assertThat(ask("POST", close, token(), "Origin: http://127.0.0.1:" + port, "Sec-Fetch-Site: same-origin"))
                    .contains(" 200 ");
            assertThat(peer.getInputStream().read()).isEqualTo(-1);
        }
        await().untilAsserted(() -> assertThat(server.connections()).isEmpty());
        assertThat(ask("POST", "/api/close?server=server&id=1", token())).contains(" 404 ");
    }

    @Test
    @DisplayName("obs-3: it answers while every loop is blocked, and names what blocks")
    void answersWhileBlocked() throws IOException {
        try (Socket peer = connect()) {
            peer.getOutputStream().write('!');
            await().untilAsserted(() -> assertThat(ask("GET", "/api/stalls", token()))
                    .contains("\"ongoing\":true")
                    .contains("\"running\":\"connection 1"));
            assertThat(ask("GET", "/api/overview", token())).contains("\"activity\":\"working\"");
            assertThat(ask("GET", "/api/connections", token())).contains("\"found\":1");
            assertThat(ask("GET", "/api/shutdown", token())).contains("looked-at-0 has been in connection 1");
            assertThat(ask("GET", "/api/dump", token())).contains("looked-at-0: has been in a turn");
            assertThat(ask("GET", "/metrics", token()))
                    .contains("millrace_eventloop_stalls_total{loop=\"looked-at-0\",kind=\"blocked\"} 1");
        }
    }

    @Test
    @DisplayName("obs-3: a blocked loop is busy, not idle, for top and for a scraper")
    void blockedIsBusy() throws Exception {
        try (Socket peer = connect()) {
            Top top = new Top(console.url());
            String idle = top.frame();
            peer.getOutputStream().write('!');
            await().untilAsserted(() -> assertThat(top.frame()).containsPattern("looked-at-0 +(9\\d|100)\\.\\d%"));
            assertThat(idle).containsPattern("looked-at-0 +- ");
            assertThat(ask("GET", "/metrics", token()))
                    .containsPattern(
                            "millrace_eventloop_in_turn_seconds\\{loop=\"looked-at-0\"} (0\\.[0-9]*[1-9]|[1-9])");
        }
    }

    @Test
    @DisplayName("obs-4: promtool accepts /metrics")
    void promtoolAccepts() throws Exception {
        try (Socket peer = connect()) {
            echo(peer, "hello");
            String answer = ask("GET", "/metrics", token());
            String body = answer.substring(answer.indexOf("\r\n\r\n") + 4);
            assertThat(body)
                    .contains("millrace_received_bytes_total{server=\"server\"} 5")
                    .doesNotContain("# EOF");
            assertThat(ask("GET", "/metrics", token(), "Accept: application/openmetrics-text; version=1.0.0"))
                    .contains("Content-type: application/openmetrics-text; version=1.0.0")
                    .contains("# TYPE millrace_received_bytes counter\n# UNIT millrace_received_bytes bytes\n")
                    .endsWith("# EOF\n");
            Process promtool = new ProcessBuilder(Tools.require("promtool").toString(), "check", "metrics")
                    .redirectErrorStream(true)
                    .start();
            try (var in = promtool.getOutputStream()) {
                in.write(body.getBytes(StandardCharsets.UTF_8));
            }
            String said = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(promtool.waitFor()).as(said).isZero();
        }
    }

    @Test
    @DisplayName("obs-4: the buckets of a histogram add up, and end with all values")
    void bucketsAddUp() throws IOException {
        try (Socket peer = connect()) {
            for (int i = 0; i < 50; i++) {
                echo(peer, "hello");
            }
            String body = ask("GET", "/metrics", token());
            long[] counts = body.lines()
                    .filter(line -> line.startsWith("millrace_eventloop_turn_seconds_bucket"))
                    .mapToLong(line -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
                    .toArray();
            assertThat(counts).hasSize(26).isSorted();
            assertThat(counts[25]).isGreaterThanOrEqualTo(50);
            assertThat(counts[24]).isEqualTo(counts[25]); // none took 17 s
            assertThat(counts[0]).isLessThan(counts[25]); // not all took 1 µs
        }
    }

    @Test
    @DisplayName("obs-3: connections are found, sorted and paged")
    void findsSortsAndPages() throws IOException {
        try (Socket one = connect();
                Socket two = connect()) {
            echo(one, "x");
            echo(two, "hello");
            assertThat(ask("GET", "/api/connections?sort=received&descending", token()))
                    .containsPattern("\"found\":2.*\"received\":5.*\"received\":1");
            assertThat(ask("GET", "/api/connections?sort=received", token()))
                    .containsPattern("\"received\":1.*\"received\":5");
            assertThat(ask("GET", "/api/connections?search=:" + two.getLocalPort(), token()))
                    .contains("\"found\":1", "\"total\":2", "\"received\":5");
            assertThat(ask("GET", "/api/connections?state=full", token())).contains("\"found\":0");
            assertThat(ask("GET", "/api/connections?from=1", token())).contains("\"from\":1");
            assertThat(ask("GET", "/api/connection?server=server&id=2", token()))
                    .contains("\"local\":\"127.0.0.1:" + server.address().getPort() + "\"");
            assertThat(ask("GET", "/api/connection?server=server&id=9", token()))
                    .contains("\"connection\":null");
        }
    }

    @Test
    @DisplayName("obs-3: text that a peer chose can end neither a string nor a script")
    void escapes() {
        assertThat(new Json().object(json -> json.put("a\"", "</script><b>\\\n\u2028")))
                .hasToString("{\"a\\\"\":\"\\u003c/script\\u003e\\u003cb\\u003e\\\\\\n\\u2028\"}");
        assertThat(new Json()
                        .object(json -> json.put("n", 1)
                                .put("t", true)
                                .put("s", (String) null)
                                .key("l")
                                .array(list -> list.value(1).value("x"))))
                .hasToString("{\"n\":1,\"t\":true,\"s\":null,\"l\":[1,\"x\"]}");
    }

    @Test
    @DisplayName("obs-3: top shows servers and loops in a terminal")
    void top() throws IOException {
        try (Socket peer = connect()) {
            echo(peer, "hello");
            Top top = new Top(console.url());
            assertThat(top.frame())
                    .contains("SERVER", "looked-at-0")
                    .containsPattern("server +1 +- +- ")
                    .containsPattern("looked-at-0 +- ");
            echo(peer, "hello");
            assertThat(top.frame())
                    .containsPattern("server +1 +0 +\\d+ B +\\d+ B +0 B +0\n")
                    .containsPattern("looked-at-0 +\\d+\\.\\d%");
            assertThatThrownBy(() -> new Top(URI.create("shop#token=x"))).hasMessageContaining("not one of a console");
            assertThatThrownBy(() -> new Top(URI.create("http://127.0.0.1:1/#token=x")).frame())
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("cannot reach the console");
            assertThatThrownBy(() -> new Top(URI.create("http://127.0.0.1:1/"))).hasMessageContaining("no token");
            assertThatThrownBy(() -> new Top(URI.create(console.url().toString() + "x")).frame())
                    .hasMessageContaining("the token is wrong");
        }
    }

    @Test
    @DisplayName("obs-3: top says so if what answers is not a console")
    void topOfSomethingElse() throws IOException {
        for (String text : List.of("a b\n", "millrace_x y\n", "<html> 5\n", "millrace_\n")) {
            HttpServer other = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
            other.createContext("/", exchange -> {
                exchange.sendResponseHeaders(200, text.length());
                exchange.getResponseBody().write(text.getBytes(StandardCharsets.US_ASCII));
                exchange.close();
            });
            other.start();
            try {
                Top top = new Top(
                        URI.create("http://127.0.0.1:" + other.getAddress().getPort() + "/#token=x"));
                assertThatThrownBy(top::frame).isInstanceOf(IOException.class).hasMessageContaining("not a console");
            } finally {
                other.stop(0);
            }
        }
    }
}
