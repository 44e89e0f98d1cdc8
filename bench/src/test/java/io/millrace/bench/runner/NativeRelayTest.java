package io.millrace.bench.runner;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The relay in C, with buffers (0) and with splice(2) (1),")
@Timeout(60)
class NativeRelayTest {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    @TempDir
    Path folder;

    private Session session;
    private Native peers;

    @BeforeEach
    void build() throws Exception {
        Path home = Path.of("").toRealPath().getParent();
        PrintStream print = new PrintStream(OutputStream.nullOutputStream());
        session = new Session("test", new Settings(home, true, 1, null, folder.resolve("json")), print, print);
        peers = Native.build(session);
        for (String program : List.of("relay_epoll", "echo_epoll", "load")) {
            String missing = peers.missing(program);
            assumeTrue(missing == null || missing.contains("does not compile"), missing);
            assertThat(missing).isNull();
        }
    }

    @AfterEach
    void close() {
        session.close();
    }

    private Server relay(int upstream, String splice) throws IOException, InterruptedException {
        return Relays.c(peers, upstream, "--splice", splice).start(session);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "1"})
    @DisplayName("passes all bytes on, both ways, in small messages and in more than its sockets hold")
    void bytes(String splice) throws Exception {
        try (Server echo = EchoServers.c(peers, 1).startBesideLoad(session);
                Server relay = relay(echo.port(), splice)) {
            Load load = Load.of(session, peers); // compares every byte that comes back
            assertThat(load.run(relay, Workload.echo(50), 1, 0)).containsKey("cpuMicros");
            Workload stream = new Workload("stream", 4, 1 << 20, 8, List.of());
            assertThat(load.run(relay, stream, 1, 0).get("checkedBytes")).isGreaterThan(4 << 20);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "1"})
    @DisplayName("passes the end of one direction on, and the answer back")
    void halfClose(String splice) throws Exception {
        try (ServerSocket upstream = new ServerSocket(0, 1, LOOPBACK);
                Server relay = relay(upstream.getLocalPort(), splice);
                Socket client = new Socket(LOOPBACK, relay.port());
                Socket server = upstream.accept()) {
            client.getOutputStream().write("question".getBytes(UTF_8));
            client.shutdownOutput();
            assertThat(server.getInputStream().readAllBytes()).asString(UTF_8).isEqualTo("question");
            server.getOutputStream().write("answer".getBytes(UTF_8));
            server.shutdownOutput();
            assertThat(client.getInputStream().readAllBytes()).asString(UTF_8).isEqualTo("answer");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "1"})
    @DisplayName("resets one connection when the other one is reset")
    void reset(String splice) throws Exception {
        try (ServerSocket upstream = new ServerSocket(0, 1, LOOPBACK);
                Server relay = relay(upstream.getLocalPort(), splice);
                Socket client = new Socket(LOOPBACK, relay.port());
                Socket server = upstream.accept()) {
            server.setSoLinger(true, 0);
            server.close();
            assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketException.class);
        }
    }

    /** Two connections written to in turn, so that their bytes lie apart in the kernel, and each piece takes a page of the pipe. */
    @ParameterizedTest
    @ValueSource(strings = {"0", "1"})
    @DisplayName("passes on what came in many small pieces before it looked")
    void smallPieces(String splice) throws Exception {
        int pieces = 1_000;
        try (ServerSocket upstream = new ServerSocket(0, 2, LOOPBACK);
                Server relay = relay(upstream.getLocalPort(), splice);
                Socket one = new Socket(LOOPBACK, relay.port());
                Socket ofOne = upstream.accept();
                Socket other = new Socket(LOOPBACK, relay.port());
                Socket ofOther = upstream.accept()) {
            one.setTcpNoDelay(true);
            other.setTcpNoDelay(true);
            signal("STOP", relay);
            for (int i = 0; i < pieces; i++) {
                one.getOutputStream().write(i);
                other.getOutputStream().write(i);
            }
            signal("CONT", relay);
            assertThat(ofOne.getInputStream().readNBytes(pieces)).hasSize(pieces);
            assertThat(ofOther.getInputStream().readNBytes(pieces)).hasSize(pieces);
        }
    }

    private static void signal(String name, Server server) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("sh", "-c", "kill -" + name + " " + server.pid()).start();
        assertThat(kill.waitFor()).isZero();
    }
}
