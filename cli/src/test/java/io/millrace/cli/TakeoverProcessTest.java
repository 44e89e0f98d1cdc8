package io.millrace.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.net.UnixStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Processes that follow each other at one address. */
@EnabledOnOs(OS.LINUX)
@DisplayName("millrace serve --takeover")
@SuppressWarnings("try") // closed early, on purpose
class TakeoverProcessTest {
    private static final Duration SOON = Duration.ofSeconds(50);
    private static final String SERVICE_MANAGER = """
            import os, socket, sys
            listener = socket.socket()
            listener.bind(("127.0.0.1", 0))
            listener.listen(16)
            os.dup2(listener.fileno(), 3)
            os.set_inheritable(3, True)
            os.environ.update(LISTEN_PID=str(os.getpid() + int(sys.argv[1])), LISTEN_FDS="1", LISTEN_FDNAMES="web")
            os.execvp(sys.argv[2], sys.argv[2:])
            """;
    private static final String NOTIFIED = """
            import socket, sys
            manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            manager.bind(sys.argv[1])
            print("bound", flush=True)
            while True:
                print(manager.recv(4096).decode().replace("\\n", " "), flush=True)
            """;

    @TempDir
    Path directory;

    private Cli serve(String... more) throws IOException {
        List<String> all = new ArrayList<>(List.of(more));
        all.addAll(List.of("--takeover", directory.resolve("takeover").toString(), "--drain", "60"));
        return Cli.serve(all.toArray(String[]::new));
    }

    /** One connection with so many requests, each of which must be answered. */
    private static void exchange(int port, int requests, AtomicLong answered) throws IOException {
        try (Socket socket = Cli.connect(port)) {
            socket.setSoTimeout((int) SOON.toMillis());
            for (int i = 0; i < requests; i++) {
                byte[] request = Long.toString(answered.incrementAndGet()).getBytes(UTF_8);
                socket.getOutputStream().write(request);
                assertThat(socket.getInputStream().readNBytes(request.length)).isEqualTo(request);
            }
            socket.shutdownOutput();
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    @Timeout(value = 5, unit = TimeUnit.MINUTES) // six JVMs on a busy machine
    @DisplayName("bp-6: under load, five takeovers in a row refuse and reset no connection and lose no answer")
    void fiveInARow() throws Exception {
        List<Cli> all = new ArrayList<>();
        AtomicBoolean over = new AtomicBoolean();
        AtomicLong answered = new AtomicLong();
        List<CompletableFuture<Void>> clients = new ArrayList<>();
        try {
            Cli current = serve("echo", "--loops", "2");
            all.add(current);
            int port = current.port();
            for (int i = 0; i < 4; i++) {
                int requests = i % 2 == 0 ? 1 : 500;
                clients.add(CompletableFuture.runAsync(
                        () -> {
                            while (!over.get()) {
                                try {
                                    exchange(port, requests, answered);
                                } catch (IOException e) {
                                    throw new AssertionError("after " + answered + " answers", e);
                                }
                            }
                        },
                        task -> Thread.ofPlatform().daemon().start(task)));
            }
            for (int loops : new int[] {3, 1, 4, 2, 2}) {
                Cli next = serve("echo", "--loops", "" + loops);
                all.add(next);
                assertThat(next.port()).isEqualTo(port);
                assertThat(next.line()).isEqualTo("took over 127.0.0.1:" + port + " from process " + current.pid());
                assertThat(current.line())
                        .matches("handed over to process " + next.pid() + ", draining \\d+ connections?");
                assertThat(current.line())
                        .matches("handed over to process " + next.pid()
                                + ": \\d+ connections, \\d+ bytes in, \\d+ bytes out");
                assertThat(current.exit()).isZero();
                assertThat(current.errors())
                        .doesNotContain("takeover", "failed"); // a watchdog may mention a busy machine
                current = next;
                long before = answered.get();
                await().atMost(SOON)
                        .until(() -> answered.get() > before + 1000
                                || clients.stream().anyMatch(CompletableFuture::isDone));
            }
            over.set(true);
            for (CompletableFuture<Void> client : clients) {
                client.get(SOON.toSeconds(), TimeUnit.SECONDS);
            }
            current.signal("TERM");
            assertThat(current.exit()).isZero();
            assertThat(directory).isEmptyDirectory();
            System.out.println("five takeovers, " + answered + " answers");
        } finally {
            over.set(true);
            for (Cli each : all) {
                each.close();
            }
        }
    }

    @Test
    @DisplayName(
            "bp-6: a successor that dies before it is ready, garbage and a server that does not fit change nothing")
    void nothingHappens() throws Exception {
        try (Cli first = serve("echo")) {
            int port = first.port();
            Path path = directory.resolve("takeover");
            try (UnixStream dying = UnixStream.connect(path)) {
                dying.tryWrite(ByteBuffer.wrap("millrace-takeover 1 1\n".getBytes(UTF_8)));
                ByteBuffer into = ByteBuffer.allocate(1000);
                await().atMost(SOON).until(() -> {
                    dying.tryRead(into); // and with it the sockets, which are dropped
                    return new String(into.array(), 0, into.position(), UTF_8).contains("tcp own echo");
                });
            }
            first.awaitError("process " + ProcessHandle.current().pid() + " did not become ready");
            try (UnixStream garbage = UnixStream.connect(path)) {
                garbage.tryWrite(ByteBuffer.wrap("HELO\r\n".getBytes(UTF_8)));
            }
            first.awaitError("it does not speak the protocol of takeovers");
            try (Cli chat = serve("chat")) {
                assertThat(chat.errors())
                        .contains("cannot take over “chat” at")
                        .contains("it has no server of that name, but has “echo” at 127.0.0.1:" + port);
                assertThat(chat.exit()).isEqualTo(2);
            }
            exchange(port, 10, new AtomicLong());

            try (Cli second = serve("echo")) {
                assertThat(second.port()).isEqualTo(port);
                assertThat(first.line())
                        .isEqualTo("handed over to process " + second.pid() + ", draining 0 connections");
                assertThat(first.exit()).isZero();
                exchange(port, 10, new AtomicLong());
            }
        }
    }

    @Test
    @DisplayName(
            "bp-6: after a takeover, a signal ends the wait for connections, and a web server asks clients to come back")
    void theRestOfItsLife() throws Exception {
        Files.writeString(directory.resolve("page"), "hello");
        try (Cli first = serve("http", directory.toString())) {
            int port = first.port();
            try (Socket lasting = Cli.connect(port);
                    Socket idle = Cli.connect(port)) {
                assertThat(get(lasting)).contains("hello").doesNotContain("Connection: close");
                assertThat(get(idle)).contains("hello");
                try (Cli second = serve("http", directory.toString())) {
                    assertThat(second.port()).isEqualTo(port);
                    assertThat(first.line()).endsWith(", draining 2 connections");

                    assertThat(get(lasting)).contains("hello").contains("Connection: close");
                    assertThat(lasting.getInputStream().read()).isEqualTo(-1);
                    first.signal("TERM");
                    assertThat(first.line()).startsWith("handed over to process " + second.pid() + ": 2 connections, ");
                    assertThat(first.exit()).isZero();
                    assertThat(idle.getInputStream().read()).isEqualTo(-1);
                    try (Socket fresh = Cli.connect(port)) {
                        assertThat(get(fresh)).contains("hello").doesNotContain("Connection: close");
                    }
                }
            }
        }
    }

    private static String get(Socket socket) throws IOException {
        socket.setSoTimeout((int) SOON.toMillis());
        socket.getOutputStream().write("GET /page HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(UTF_8));
        StringBuilder answer = new StringBuilder();
        while (!answer.toString().endsWith("\r\n\r\nhello")) {
            int next = socket.getInputStream().read();
            assertThat(next).as("%s", answer).isNotEqualTo(-1);
            answer.append((char) next);
        }
        return answer.toString();
    }

    @Test
    @DisplayName("bp-6: another user is refused, even if the file lets it connect")
    void aStranger() throws Exception {
        Tools.require("socat", "socat");
        Tools.require("setpriv", "util-linux");
        if (!System.getProperty("user.name").equals("root")) {
            System.out.println("SKIPPED: only root can become another user");
            Assumptions.abort("only root can become another user");
        }
        try (Cli first = serve("echo")) {
            int port = first.port();
            Path path = directory.resolve("takeover");
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                    .isEqualTo("rw-------");
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw-rw-"));
            Process stranger = new ProcessBuilder(
                            "setpriv", "--reuid", "65534", "--clear-groups", "socat", "-", "UNIX-CONNECT:" + path)
                    .redirectErrorStream(true)
                    .start();
            try (BufferedReader said = stranger.inputReader(UTF_8)) {
                assertThat(said.readLine())
                        .isEqualTo(
                                "failed you are user 65534, and only the user of this process or root may take over");
                assertThat(said.readLine()).isNull();
            } finally {
                stranger.destroyForcibly();
            }
            first.awaitError("user 65534 (process ");
            exchange(port, 3, new AtomicLong());
        }
    }

    // ---- A service manager ----

    private static Cli activated(int whose, String... args) throws IOException {
        Tools.require("python3", "python3");
        return Cli.serveBy(List.of("python3", "-c", SERVICE_MANAGER, "" + whose), List.of(), args);
    }

    @Test
    @DisplayName("bp-6: a server serves the socket that its service manager passed, and hands that over, too")
    void socketActivation() throws Exception {
        String path = directory.resolve("takeover").toString();
        try (Cli first = activated(0, "echo", "--loops", "2", "--takeover", path)) {
            int port = first.port();
            exchange(port, 10, new AtomicLong());
            try (Cli second = Cli.serve("echo", "--takeover", path)) {
                assertThat(second.port()).isEqualTo(port);
                assertThat(first.exit()).isZero();
                exchange(port, 10, new AtomicLong());
            }
        }
    }

    @Test
    @DisplayName("bp-6: sockets that are meant for another process are left alone")
    void notForUs() throws Exception {
        try (Cli cli = activated(1, "echo")) {
            exchange(cli.port(), 3, new AtomicLong());
            cli.signal("TERM");
            assertThat(cli.exit()).isZero();
            assertThat(cli.errors()).doesNotContain("LISTEN");
        }
    }

    @Test
    @DisplayName("bp-6: the service manager is told who is ready, and when it stops")
    void notification() throws Exception {
        Tools.require("python3", "python3");
        Path notify = directory.resolve("notify");
        String takeover = directory.resolve("takeover").toString();
        Process manager = new ProcessBuilder("python3", "-c", NOTIFIED, notify.toString()).start();
        try (BufferedReader told = manager.inputReader(UTF_8)) {
            assertThat(told.readLine()).isEqualTo("bound");
            List<String> environment = List.of("env", "NOTIFY_SOCKET=" + notify);
            try (Cli first = Cli.serveBy(environment, List.of(), "echo", "--takeover", takeover)) {
                assertThat(told.readLine()).isEqualTo("READY=1 MAINPID=" + first.pid());
                first.port();
                try (Cli second = Cli.serveBy(environment, List.of(), "echo", "--takeover", takeover)) {
                    assertThat(told.readLine()).isEqualTo("READY=1 MAINPID=" + second.pid());
                    assertThat(first.exit()).isZero();
                    second.signal("TERM");
                    assertThat(told.readLine()).isEqualTo("STOPPING=1");
                    assertThat(second.exit()).isZero();
                }
            }
        } finally {
            manager.destroyForcibly();
        }
    }

    @Test
    @DisplayName("bp-6: encrypted connections are taken over like plain ones")
    void encrypted() throws Exception {
        try (Cli first = serve("echo", "--tls", "self-signed")) {
            int port = first.port();
            try (Socket old = encrypted(port)) {
                assertThat(echo(old, "before")).isEqualTo("before");
                try (Cli second = serve("echo", "--tls", "self-signed")) {
                    assertThat(second.port()).isEqualTo(port);
                    assertThat(echo(old, "still")).isEqualTo("still");
                    try (Socket fresh = encrypted(port)) {
                        assertThat(echo(fresh, "after")).isEqualTo("after");
                    }
                    old.close();
                    assertThat(first.exit()).isZero();
                }
            }
        }
    }

    /** A client that takes any certificate: each process makes its own. */
    private static Socket encrypted(int port) throws Exception {
        X509TrustManager trusting = new X509TrustManager() {
            @Override
            public void checkClientTrusted(X509Certificate[] chain, String type) {}

            @Override
            public void checkServerTrusted(X509Certificate[] chain, String type) {}

            @Override
            public X509Certificate[] getAcceptedIssuers() {
                return new X509Certificate[0];
            }
        };
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {trusting}, null);
        Socket socket = context.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout((int) SOON.toMillis());
        return socket;
    }

    private static String echo(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(UTF_8));
        return new String(socket.getInputStream().readNBytes(text.length()), UTF_8);
    }
}
