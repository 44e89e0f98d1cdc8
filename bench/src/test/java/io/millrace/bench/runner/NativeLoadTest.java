package io.millrace.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.bench.peers.TlsEngines;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The load over TLS, and the server behind those that ask another one,")
@Timeout(60)
class NativeLoadTest {
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
    }

    @AfterEach
    void close() {
        session.close();
    }

    private void needs(String program) {
        String missing = peers.missing(program);
        assumeTrue(missing == null || missing.contains("does not compile"), missing);
        assertThat(missing).isNull();
    }

    /** Sends back what came, changed in some way, over TLS. */
    private ServerSocket tlsEcho(SSLContext context, IntUnaryOperator change) throws IOException {
        ServerSocket server =
                context.getServerSocketFactory().createServerSocket(0, 100, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(() -> {
            while (!server.isClosed()) {
                try {
                    Socket socket = server.accept();
                    Thread.ofVirtual().start(() -> echo(socket, change));
                } catch (IOException e) {
                    return; // closed
                }
            }
        });
        return server;
    }

    private static void echo(Socket socket, IntUnaryOperator change) {
        try (socket) {
            InputStream in = socket.getInputStream();
            OutputStream out = socket.getOutputStream();
            byte[] buffer = new byte[16 << 10];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                buffer[n - 1] = (byte) change.applyAsInt(buffer[n - 1]);
                out.write(buffer, 0, n);
            }
        } catch (IOException e) {
            // the load has gone
        }
    }

    private SSLContext context() throws Exception {
        needs("load_tls");
        assumeTrue(Tools.find("openssl").isPresent(), "no openssl(1)");
        Certificate certificate = Certificate.make(session);
        return TlsEngines.server(certificate.chain(), certificate.key());
    }

    private Map<String, Double> load(ServerSocket server, Workload work) throws IOException, InterruptedException {
        List<String> command = ServerProgram.joined(
                List.of(
                        peers.path("load_tls").toString(),
                        "--port",
                        Integer.toString(server.getLocalPort()),
                        "--seconds",
                        "3",
                        "--warmup",
                        "0"),
                work.arguments());
        return Load.figures(session.children().run("the load", session.log("load"), command));
    }

    @Test
    @DisplayName("compares what comes back, in small messages, large ones and a stream")
    void content() throws Exception {
        try (ServerSocket server = tlsEcho(context(), b -> b)) {
            assertThat(load(server, Workload.echo(10)).get("checkedBytes")).isGreaterThan(640);
            assertThat(load(server, new Workload("echo", 2, 100_000, 2, List.of()))
                            .get("checkedBytes"))
                    .isGreaterThan(200_000);
            assertThat(load(server, new Workload("stream", 2, 64 << 10, 4, List.of()))
                            .get("checkedBytes"))
                    .isGreaterThan(256 << 10);
        }
    }

    @Test
    @DisplayName("notices a byte that is wrong")
    void wrongByte() throws Exception {
        try (ServerSocket server = tlsEcho(context(), b -> b ^ 1)) {
            assertThatThrownBy(() -> load(server, Workload.echo(1)))
                    .hasMessageContaining("connection 0, byte 63: got ");
        }
    }

    @Test
    @DisplayName("counts handshakes, full ones and resumed ones")
    void handshakes() throws Exception {
        try (ServerSocket server = tlsEcho(context(), b -> b)) {
            load(server, Workload.echo(4)); // so that the first handshake is not measured
            Map<String, Double> full = load(server, new Workload("handshake", 4, 64, 1, List.of()));
            assertThat(full.get("messages")).isGreaterThan(4);
            assertThat(full.get("resumed")).isZero();
            Map<String, Double> resumed = load(server, new Workload("handshake", 4, 64, 1, List.of("--resume", "1")));
            assertThat(resumed.get("resumed")).isGreaterThanOrEqualTo(resumed.get("messages") - 4);
        }
    }

    @Test
    @DisplayName("does not take full handshakes for resumed ones")
    void notResumed() throws Exception {
        context(); // or there is nothing to test
        try (ServerSocket server = forgetful()) {
            assertThatThrownBy(() -> load(server, new Workload("handshake", 2, 64, 1, List.of("--resume", "1"))))
                    .hasMessageContaining("handshakes were resumed");
        }
    }

    /** Each connection has a context, and so keys for tickets, of its own. */
    private ServerSocket forgetful() throws Exception {
        ServerSocket plain = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
        Certificate certificate = Certificate.make(session);
        Thread.ofVirtual().start(() -> {
            while (!plain.isClosed()) {
                try {
                    Socket socket = plain.accept();
                    SSLContext own = TlsEngines.server(certificate.chain(), certificate.key());
                    SSLSocket tls =
                            (SSLSocket) own.getSocketFactory().createSocket(socket, null, socket.getPort(), true);
                    tls.setUseClientMode(false);
                    Thread.ofVirtual().start(() -> echo(tls, b -> b));
                } catch (IOException | GeneralSecurityException e) {
                    return; // closed
                }
            }
        });
        return plain;
    }

    @Test
    @DisplayName("answers after the time that it was told, and not before")
    void delay() throws Exception {
        needs("echo_delay");
        needs("load");
        ServerProgram program =
                ServerProgram.compiled(peers, "delay", "echo_delay", 1, List.of("--port", "0", "--micros", "20000"));
        try (Server server = program.startBesideLoad(session)) {
            Map<String, Double> figures = Load.of(session, peers).run(server, Workload.echo(20), 1, 0);
            assertThat(figures.get("p50us")).isGreaterThanOrEqualTo(20_000);
            assertThat(figures.get("messages")).isLessThanOrEqualTo(20 * 51);
        }
    }

    @Test
    @DisplayName("the stacks of virtual threads are found among the classes of a heap")
    void stacks() {
        String histogram = """
             num     #instances         #bytes  class name (module)
            -------------------------------------------------------
               1:         10011       83000000  [B (java.base@25.0.3)
               2:         10001        5201234  jdk.internal.vm.StackChunk (java.base@25.0.3)
            """;
        assertThat(IdleWeight.stacks(histogram)).isEqualTo(5_201_234);
        assertThat(IdleWeight.stacks("nothing")).isZero();
    }
}
