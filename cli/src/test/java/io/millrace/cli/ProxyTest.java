package io.millrace.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("millrace proxy")
class ProxyTest {
    private static Cli proxy(int upstream, String... options) throws IOException {
        List<String> all = new ArrayList<>(List.of("proxy", "127.0.0.1:0", "127.0.0.1:" + upstream));
        all.addAll(List.of(options));
        return Cli.start(all.toArray(String[]::new));
    }

    /**
     * A port where nobody listens, and which the system gives to nobody else while this is open: bound, but not listening. A listener that asks for this very port gets it, because both set SO_REUSEADDR.
     */
    private static SocketChannel heldPort() throws IOException {
        return SocketChannel.open()
                .setOption(StandardSocketOptions.SO_REUSEADDR, true)
                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"loop", "pool", "virtual"})
    @DisplayName("srv-8: passes bytes on both ways, says that it listens, and at a signal what it did; exit status 0")
    void passesOn(String dispatch) throws Exception {
        byte[] bytes = new byte[3 << 20];
        new Random(8).nextBytes(bytes);
        try (Cli echo = Cli.serve();
                Cli proxy = proxy(echo.port(), "--dispatch", dispatch, "--loops", "2")) {
            var line = proxy.listening();
            assertThat(line.group(2)).isEqualTo("proxy");
            try (Socket socket = Cli.connect(Integer.parseInt(line.group(1)))) {
                CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                    try {
                        socket.getOutputStream().write(bytes);
                        socket.shutdownOutput();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
                assertThat(socket.getInputStream().readAllBytes()).isEqualTo(bytes);
                sent.get(20, TimeUnit.SECONDS);
            }
            proxy.signal("TERM");
            assertThat(proxy.rest())
                    .containsExactly("stopped by SIGTERM: 1 connection, " + bytes.length + " bytes in, " + bytes.length
                            + " bytes out");
            assertThat(proxy.exit()).isZero();
        }
    }

    @Test
    @DisplayName("srv-8: socat through the proxy to socat: each side ends when the other has")
    void socat() throws Exception {
        Tools.require("socat", "socat");
        SocketChannel held = heldPort();
        int port = held.socket().getLocalPort();
        Process upstream = new ProcessBuilder(
                        "socat", "-T", "30", "TCP-LISTEN:" + port + ",bind=127.0.0.1,reuseaddr", "SYSTEM:tr a-z A-Z")
                .start();
        try (held;
                Cli proxy = proxy(port)) {
            int listens = proxy.port();
            awaitListener(port, upstream);
            Process client = new ProcessBuilder("socat", "-t", "20", "-", "TCP:127.0.0.1:" + listens).start();
            try (var out = client.getOutputStream()) {
                out.write("through the proxy".getBytes(UTF_8));
            }
            assertThat(new String(client.getInputStream().readAllBytes(), UTF_8))
                    .isEqualTo("THROUGH THE PROXY");
            assertThat(client.waitFor(20, TimeUnit.SECONDS)).isTrue();
            assertThat(upstream.waitFor(20, TimeUnit.SECONDS)).isTrue();
        } finally {
            upstream.destroyForcibly();
        }
    }

    /** By /proc, since a connection would be the one that it accepts. */
    private static void awaitListener(int port, Process process) {
        String local = "0100007F:%04X 00000000:0000 0A".formatted(port);
        await().until(() ->
                process.isAlive() && Files.readString(Path.of("/proc/net/tcp")).contains(local));
    }

    @Test
    @DisplayName(
            "srv-8: if the upstream server refuses, the client is closed, and few lines say so, whatever the number of clients")
    void refused() throws Exception {
        try (SocketChannel held = heldPort();
                Cli proxy = proxy(held.socket().getLocalPort())) {
            int nobody = held.socket().getLocalPort();
            int port = proxy.port();
            for (int i = 0; i < 50; i++) {
                try (Socket socket = Cli.connect(port)) {
                    assertThat(socket.getInputStream().read()).isEqualTo(-1);
                }
            }
            proxy.signal("TERM");
            assertThat(proxy.rest()).containsExactly("stopped by SIGTERM: 50 connections, 0 bytes in, 0 bytes out");
            assertThat(proxy.exit()).isZero();
            String errors = proxy.errors();
            assertThat(errors).contains("127.0.0.1:" + nobody).contains("refused");
            assertThat(errors.lines().filter(line -> line.contains("cannot be relayed")))
                    .as(errors)
                    .hasSizeBetween(1, 10);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "7008,127.0.0.1:7007,LISTEN must be HOST:PORT",
        "127.0.0.1:7008,7007,UPSTREAM must be HOST:PORT",
        "127.0.0.1:7008,127.0.0.1:0,the port of UPSTREAM must be from 1 to 65535",
        "127.0.0.1:70000,127.0.0.1:7007,the port of LISTEN must be from 0 to 65535",
        "::1:7008,127.0.0.1:7007,LISTEN must be HOST:PORT",
        "127.0.0.1:x,127.0.0.1:7007,LISTEN must be HOST:PORT"
    })
    @DisplayName("srv-8: arguments that make no sense are one line on standard error and exit status 2")
    void mistakes(String listen, String upstream, String expected) {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int status = Main.run(
                new String[] {"proxy", listen, upstream},
                new PrintStream(new ByteArrayOutputStream(), true, UTF_8),
                new PrintStream(err, true, UTF_8));
        assertThat(status).isEqualTo(2);
        assertThat(err.toString(UTF_8).lines()).singleElement().asString().contains(expected);
    }

    @Test
    @DisplayName("srv-8: without its two addresses it says what is missing")
    void missing() {
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int status = Main.run(
                new String[] {"proxy", "127.0.0.1:7008"},
                new PrintStream(new ByteArrayOutputStream(), true, UTF_8),
                new PrintStream(err, true, UTF_8));
        assertThat(status).isEqualTo(2);
        assertThat(err.toString(UTF_8)).contains("UPSTREAM");
    }
}
