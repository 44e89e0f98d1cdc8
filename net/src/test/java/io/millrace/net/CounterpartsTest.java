package io.millrace.net;

import static io.millrace.net.TcpStreamTest.ascii;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Programs that others wrote, at the other end. Where they are not installed this is said, and how to install them. */
@ParameterizedClass
@MethodSource("toolsOnEveryBackend")
class CounterpartsTest {
    /** A program, and how it is told what to do. */
    enum Tool {
        SOCAT {
            @Override
            List<String> tcpClient(InetSocketAddress to) {
                return List.of("socat", "-t20", "-", "TCP4:127.0.0.1:" + to.getPort());
            }

            @Override
            List<String> tcpEcho(int port) {
                return List.of("socat", "-d", "-d", "-t20", "TCP4-LISTEN:" + port + ",bind=127.0.0.1", "EXEC:/bin/cat");
            }

            @Override
            List<String> udpClient(InetSocketAddress to) {
                return List.of("socat", "-", "UDP4:127.0.0.1:" + to.getPort());
            }

            @Override
            List<String> udpEcho(int port) {
                return List.of("socat", "UDP4-LISTEN:" + port + ",bind=127.0.0.1", "EXEC:/bin/cat");
            }

            @Override
            List<String> unixClient(Path path) {
                return List.of("socat", "-t20", "-", "UNIX-CONNECT:" + path);
            }

            @Override
            List<String> unixEcho(Path path) {
                return List.of("socat", "-d", "-d", "-t20", "UNIX-LISTEN:" + path, "EXEC:/bin/cat");
            }
        },
        NCAT {
            @Override
            List<String> tcpClient(InetSocketAddress to) {
                return List.of("ncat", "127.0.0.1", Integer.toString(to.getPort()));
            }

            @Override
            List<String> tcpEcho(int port) {
                return List.of("ncat", "-v", "-l", "127.0.0.1", Integer.toString(port), "-e", "/bin/cat");
            }

            @Override
            List<String> udpClient(InetSocketAddress to) {
                return List.of("ncat", "-u", "127.0.0.1", Integer.toString(to.getPort()));
            }

            @Override
            List<String> udpEcho(int port) {
                return List.of("ncat", "-u", "-l", "127.0.0.1", Integer.toString(port), "-e", "/bin/cat");
            }

            @Override
            List<String> unixClient(Path path) {
                return List.of("ncat", "-U", path.toString());
            }

            @Override
            List<String> unixEcho(Path path) {
                return List.of("ncat", "-v", "-l", "-U", path.toString(), "-e", "/bin/cat");
            }
        };

        /** Sends its standard input, closes that half at its end, and prints what comes. */
        abstract List<String> tcpClient(InetSocketAddress to);

        /** Listens, says so on its standard error, and sends back what it reads. */
        abstract List<String> tcpEcho(int port);

        abstract List<String> udpClient(InetSocketAddress to);

        abstract List<String> udpEcho(int port);

        abstract List<String> unixClient(Path path);

        abstract List<String> unixEcho(Path path);

        /** Both packages are named as their programs are. */
        void require() {
            Tools.require(name().toLowerCase(Locale.ROOT), name().toLowerCase(Locale.ROOT));
        }
    }

    static List<Arguments> toolsOnEveryBackend() {
        List<Arguments> all = new ArrayList<>();
        for (Rig.Backend backend : Rig.Backend.values()) {
            for (Tool tool : Tool.values()) {
                all.add(Arguments.of(backend, tool));
            }
        }
        return all;
    }

    @Parameter(0)
    Rig.Backend backend;

    @Parameter(1)
    Tool tool;

    @TempDir
    Path directory;

    private Rig rig;
    private final List<Process> started = new ArrayList<>();

    @BeforeEach
    void open() {
        tool.require();
        rig = backend.rig();
    }

    @AfterEach
    void close() throws Exception {
        for (Process each : started) {
            each.destroyForcibly().waitFor();
        }
        if (rig != null) {
            rig.close();
        }
    }

    @Test
    void aTcpClientThatClosesItsHalfGetsTheAnswer() throws Exception {
        TcpListener listener = rig.listener();
        Process client = start(tool.tcpClient(listener.localAddress()));

        answerAfterTheEnd(client, rig.accept(listener));
    }

    @Test
    void aUnixClientThatClosesItsHalfGetsTheAnswer() throws Exception {
        UnixListener listener = rig.keep(rig.net.listen(UnixAddress.of(directory.resolve("socket"))));
        Process client = start(tool.unixClient(directory.resolve("socket")));

        answerAfterTheEnd(client, Streams.accept(rig, listener));
    }

    /** The other half: we send no more, and the client ends what it sends when it has seen that. */
    @Test
    void aTcpClientHearsOurHalfCloseAndStillTalks() throws Exception {
        TcpListener listener = rig.listener();
        Process client = start(tool.tcpClient(listener.localAddress()));
        TcpStream server = rig.accept(listener);
        rig.writeFully(server, ascii("answer\n"));
        server.shutdownOutput();
        assertThat(client.inputReader(US_ASCII).readLine()).isEqualTo("answer");

        client.getOutputStream().write("question\n".getBytes(US_ASCII));
        client.getOutputStream().close();

        ByteBuffer question = ByteBuffer.allocate(9);
        rig.readFully(server, question);
        assertThat(question.flip()).isEqualTo(ascii("question\n"));
        assertThat(rig.read(server, ByteBuffer.allocate(1))).isEqualTo(Io.EOF);
    }

    @Test
    void aTcpClientByIpv6() throws Exception {
        TcpListener listener = rig.keep(rig.net.listen(new InetSocketAddress(InetAddress.ofLiteral("::1"), 0)));
        int port = listener.localAddress().getPort();
        Process client = start(
                tool == Tool.SOCAT
                        ? List.of("socat", "-t20", "-", "TCP6:[::1]:" + port)
                        : List.of("ncat", "-6", "::1", Integer.toString(port)));

        answerAfterTheEnd(client, rig.accept(listener));
    }

    @Test
    void aTcpClientThatIsKilledWithUnreadBytesResets() throws Exception {
        TcpListener listener = rig.listener();
        Process client = start(tool.tcpClient(listener.localAddress()));
        TcpStream server = rig.accept(listener);
        // Stopped, so that what it was sent stays unread; a socket closed so is reset.
        assertThat(new ProcessBuilder("kill", "-STOP", Long.toString(client.pid()))
                        .start()
                        .waitFor())
                .isZero();
        rig.writeFully(server, ascii("unread"));
        client.destroyForcibly().waitFor();

        assertThatThrownBy(() -> {
                    while (rig.read(server, ByteBuffer.allocate(8)) != Io.EOF) {
                        rig.await(server, Interest.READABLE);
                    }
                })
                .isInstanceOf(IOException.class)
                .hasMessageMatching("(?is).*reset.*");
    }

    @Test
    void anAbstractNameIsTheSameForOthers() throws Exception {
        assumeTrue(tool == Tool.SOCAT && backend != Rig.Backend.NIO, "ncat and NIO know no abstract names");
        String name = "millrace-" + ProcessHandle.current().pid() + "-" + backend;
        UnixListener listener = rig.keep(rig.net.listen(UnixAddress.ofAbstract(name)));
        Process client = start(List.of("socat", "-t20", "-", "ABSTRACT-CONNECT:" + name));

        answerAfterTheEnd(client, Streams.accept(rig, listener));
    }

    private void answerAfterTheEnd(Process client, ByteStream server) throws Exception {
        client.getOutputStream().write("question\n".getBytes(US_ASCII));
        client.getOutputStream().close();
        ByteBuffer question = ByteBuffer.allocate(9);
        rig.readFully(server, question);
        assertThat(question.flip()).isEqualTo(ascii("question\n"));
        assertThat(rig.read(server, ByteBuffer.allocate(1))).isEqualTo(Io.EOF);

        rig.writeFully(server, ascii("answer\n"));
        server.close();

        assertThat(client.inputReader(US_ASCII).readLine()).isEqualTo("answer");
        assertThat(client.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(client.exitValue()).isZero();
    }

    @Test
    void aTcpServerSendsAMebibyteBack() throws Exception {
        int port = freePort();
        awaitListening(start(tool.tcpEcho(port)));
        TcpStream stream = rig.keep(rig.net.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port)));
        rig.finishConnect(stream);

        echo(stream);
    }

    @Test
    void aUnixServerSendsAMebibyteBack() throws Exception {
        Path path = directory.resolve("socket");
        awaitListening(start(tool.unixEcho(path)));

        echo(rig.keep(rig.net.connect(UnixAddress.of(path))));
    }

    /** At most 16 KiB are under way: ncat stops for ever when both pipes to its program are full. */
    private void echo(ByteStream stream) throws IOException {
        byte[] content = new byte[1 << 20];
        new Random(4716).nextBytes(content);
        ByteBuffer from = ByteBuffer.wrap(content);
        ByteBuffer into = ByteBuffer.allocate(content.length);
        while (into.hasRemaining()) {
            from.limit(Math.min(content.length, into.position() + (16 << 10)));
            int written = stream.tryWrite(from);
            int read = stream.tryRead(into);
            assertThat(read).as("the server ended early").isNotEqualTo(Io.EOF);
            if (written <= 0 && read <= 0) {
                rig.await(stream, from.hasRemaining() ? Interest.READ_WRITE : Interest.READABLE);
            }
        }
        assertThat(into.array()).isEqualTo(content);
        stream.shutdownOutput();

        assertThat(rig.read(stream, ByteBuffer.allocate(1))).isEqualTo(Io.EOF);
    }

    @Test
    void aUdpClientGetsAnAnswer() throws Exception {
        UdpSocket socket = rig.keep(rig.net.udp(Rig.ANY_PORT));
        Process client = start(tool.udpClient(socket.localAddress()));
        client.getOutputStream().write("question\n".getBytes(US_ASCII));
        client.getOutputStream().flush();
        rig.await(socket, Interest.READABLE);
        ByteBuffer into = ByteBuffer.allocate(64);
        assertThat(socket.tryReceive(into)).isEqualTo(9);

        assertThat(socket.trySendTo(ascii("answer\n"), socket.lastSender())).isEqualTo(7);

        assertThat(client.inputReader(US_ASCII).readLine()).isEqualTo("answer");
    }

    /** Nothing tells when a UDP server is there, except that it answers; until then the system says that nobody is. */
    @Test
    void aUdpServerSendsADatagramBack() throws Exception {
        int port = freePort();
        start(tool.udpEcho(port));
        UdpSocket socket = rig.keep(rig.net.udp(Rig.ANY_PORT));
        socket.connect(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
        rig.poll.register(socket, 7, Interest.READABLE, Trigger.LEVEL);
        ByteBuffer into = ByteBuffer.allocate(64);
        boolean asked = false;
        long deadline = System.nanoTime() + Rig.DEADLINE.toNanos();
        while (into.position() == 0) {
            assertThat(System.nanoTime() - deadline)
                    .as("the server does not come")
                    .isNegative();
            try {
                if (!asked) {
                    asked = socket.trySend(ascii("echo")) == 4;
                }
                assertThat(rig.reports(Rig.DEADLINE)).isTrue();
                socket.tryReceive(into);
            } catch (PortUnreachableException notYet) {
                asked = false;
            }
        }

        assertThat(into.flip()).isEqualTo(ascii("echo"));
    }

    private Process start(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command).start();
        started.add(process);
        return process;
    }

    private static void awaitListening(Process process) throws IOException {
        BufferedReader messages = process.errorReader(US_ASCII);
        for (String line = messages.readLine(); line != null; line = messages.readLine()) {
            if (line.contains("istening on")) {
                return;
            }
        }
        throw new AssertionError("it ended without having listened");
    }

    private int freePort() throws IOException {
        try (TcpListener listener = rig.net.listen(Rig.ANY_PORT)) {
            return listener.localAddress().getPort();
        }
    }
}
