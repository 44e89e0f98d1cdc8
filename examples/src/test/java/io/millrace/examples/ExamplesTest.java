package io.millrace.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs the examples as programs of their own, and drives them from outside as a person would. */
@SuppressWarnings("try") // closed early, on purpose
class ExamplesTest {
    private static final long DEADLINE_SECONDS = 30;

    @TempDir
    Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll"})
    @EnabledOnOs(OS.LINUX)
    @DisplayName(
            "mr-6, mio-1: a socket, a timer, a channel, stdin, a file, Ctrl-C and a child's exit on one poll, driven"
                    + " from outside")
    void everythingAtOnce(String backend) throws Exception {
        Process process = start(EverythingAtOnce.class, backend, directory.toString());
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            Matcher ready = Pattern.compile("port (\\d+), child (\\d+)").matcher(out.readLine());
            assertThat(ready.matches()).isTrue();
            List<String> lines = new ArrayList<>();
            readUntil(out, lines, "timer: ");
            readUntil(out, lines, "channel: ");

            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(ready.group(1)))) {
                assertThat(new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                        .isEqualTo("hello\n");
            }
            readUntil(out, lines, "socket: 127.0.0.1");
            process.outputWriter(StandardCharsets.UTF_8).append("a line\n").flush();
            readUntil(out, lines, "stdin: a line");
            Files.createFile(directory.resolve("made"));
            readUntil(out, lines, "file: ");
            assertNoHelperThreads(process);
            if (backend.equals("epoll")) {
                assertKernelWatches(process);
            }
            kill("-TERM", ready.group(2));
            readUntil(out, lines, "child: ");
            kill("-INT", Long.toString(process.pid()));
            readUntil(out, lines, "signal: INT");

            assertThat(lines).anyMatch(line -> line.equals("channel: hello from another thread"));
            assertThat(lines).anyMatch(line -> line.startsWith("file: ") && line.contains("made"));
            assertThat(lines).anyMatch(line -> line.equals("child: ended by SIGTERM"));
            assertThat(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
            assertThat(ProcessHandle.of(Long.parseLong(ready.group(2))))
                    .as("the child was reaped")
                    .isEmpty();
        } finally {
            process.destroyForcibly();
        }
    }

    /**
     * The listener, stdin, the watch, which is an epoll of its own over inotify, the child's pidfd and the wake-up: the kernel itself says so. Software sources are not among
     * them.
     */
    private static void assertKernelWatches(Process process) throws IOException {
        Path proc = Path.of("/proc", Long.toString(process.pid()));
        TreeSet<String> watched = new TreeSet<>();
        try (Stream<Path> infos = Files.list(proc.resolve("fdinfo"))) {
            for (Path info : infos.toList()) {
                for (String line : Files.readAllLines(info)) {
                    Matcher target = Pattern.compile("tfd:\\s*(\\d+).*").matcher(line);
                    if (target.matches()) {
                        watched.add(kind(proc.resolve("fd").resolve(target.group(1))));
                    }
                }
            }
        }
        assertThat(watched).containsExactly("[eventfd]", "[eventpoll]", "[pidfd]", "inotify", "pipe", "socket");
    }

    private static String kind(Path descriptor) throws IOException {
        String target = Files.readSymbolicLink(descriptor).toString();
        return target.startsWith("anon_inode:")
                ? target.substring("anon_inode:".length())
                : target.replaceAll(":.*", "");
    }

    /** Threads of the JVM and the carriers of virtual threads are there anyway; none has a name of NIO, of the process reaper, or of ours. */
    private static void assertNoHelperThreads(Process process) throws IOException {
        List<String> names = new ArrayList<>();
        try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(process.pid()), "task"))) {
            for (Path task : tasks.toList()) {
                names.add(Files.readString(task.resolve("comm")).trim());
            }
        }
        assertThat(names)
                .noneMatch(name -> name.contains("nio")
                        || name.contains("process reaper")
                        || name.startsWith("millrace")
                        || name.contains("FileSystemWatch"));
        assertThat(names).anyMatch(name -> name.equals("java") || name.equals("main"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @EnabledOnOs(OS.LINUX)
    @DisplayName("uni-4, mio-1: a set of futures as a source beside a socket, driven from outside")
    void setBesideASocket(String backend) throws Exception {
        Process process = start(SetBesideASocket.class, backend);
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            Matcher ready = Pattern.compile("port (\\d+)").matcher(out.readLine());
            assertThat(ready.matches()).isTrue();
            int port = Integer.parseInt(ready.group(1));
            for (int i = 0; i < 20; i++) {
                String word = "x".repeat(i + 1);
                assertThat(ask(port, word)).isEqualTo(word + " has " + (i + 1) + " letters\n");
            }
            try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), port)) {
                silent.shutdownOutput();
                readUntil(out, new ArrayList<>(), "failed: nothing to answer");
            }
            assertThat(ask(port, "stop")).isEqualTo("stopping\n");
            assertThat(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    @DisplayName("uni-1: results as they complete")
    void asTheyComplete() throws Exception {
        Process process = start(AsTheyComplete.class, null, "https://example.org", "nonsense", "https://example.com/a");
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.lines())
                    .containsExactlyInAnyOrder(
                            "https://example.org: 19 letters",
                            "failed: not a page: nonsense",
                            "https://example.com/a: 21 letters");
            assertThat(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    private static String ask(int port, String line) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    @DisplayName("a timer, a channel and a socket on one poll")
    void firstPoll() throws Exception {
        Process process = start(FirstPoll.class, null);
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            List<String> lines = out.lines().toList();
            assertThat(lines).contains("a timeout", "hello from another thread");
            assertThat(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    @DisplayName("srv-14: an echo of datagrams")
    void udpEcho() throws Exception {
        Process server = start(UdpEcho.class, null);
        try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8);
                java.net.DatagramSocket socket = new java.net.DatagramSocket()) {
            socket.setSoTimeout(20_000);
            socket.connect(InetAddress.getLoopbackAddress(), portIn(out.readLine()));
            socket.send(new java.net.DatagramPacket("hello".getBytes(StandardCharsets.UTF_8), 5));
            java.net.DatagramPacket answer = new java.net.DatagramPacket(new byte[100], 100);
            socket.receive(answer);
            assertThat(new String(answer.getData(), 0, answer.getLength(), StandardCharsets.UTF_8))
                    .isEqualTo("hello");
            pressEnter(server);
            assertThat(server.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(server.exitValue()).isZero();
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    @DisplayName("srv-14: a server and a client at a Unix socket")
    void unixEcho() throws Exception {
        Path path = directory.resolve("s");
        Process process = start(UnixEcho.class, null, path.toString());
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            assertThat(out.readLine()).startsWith("hello from server at unix:" + path);
            assertThat(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    @DisplayName("the README's server and client")
    void serverAndClient() throws Exception {
        Process server = start(EchoServer.class, null);
        try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
            Process client = start(EchoClient.class, null, Integer.toString(portIn(out.readLine())));
            try (BufferedReader answer = client.inputReader(StandardCharsets.UTF_8)) {
                assertThat(answer.lines()).containsExactly("hello");
                assertThat(client.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
                assertThat(client.exitValue()).isZero();
            } finally {
                client.destroyForcibly();
            }
            pressEnter(server);
            assertThat(server.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(server.exitValue()).isZero();
        } finally {
            server.destroyForcibly();
        }
    }

    private void openssl(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of("openssl"));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).as(said).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
    }

    /** Runs the commands of docs/tls.md that make an authority and certificates. */
    private void makeCertificates() throws Exception {
        boolean installed = Stream.of(System.getenv("PATH").split(java.io.File.pathSeparator))
                .anyMatch(place -> Files.isExecutable(Path.of(place, "openssl")));
        if (!installed) {
            System.out.println("SKIPPED: openssl is not installed; sudo apt-get install -y openssl");
        }
        assumeTrue(installed || "1".equals(System.getenv("MILLRACE_REQUIRE_TOOLS")), "openssl is not installed");
        Matcher commands = Pattern.compile("(?m)^openssl (.*(?:\\\\\\n.*)*)$")
                .matcher(Files.readString(Path.of("../docs/tls.md")));
        int count = 0;
        while (commands.find()) {
            String line = commands.group(1).replace("\\\n", " ").strip();
            if (line.startsWith("s_client")) {
                continue; // needs a server
            }
            count++;
            List<String> words = new ArrayList<>();
            Matcher word = Pattern.compile("'([^']*)'|(\\S+)").matcher(line);
            while (word.find()) {
                words.add(word.group(1) != null ? word.group(1) : word.group(2));
            }
            openssl(words.toArray(String[]::new));
        }
        assertThat(count).isGreaterThanOrEqualTo(4);
    }

    private String file(String name) {
        return directory.resolve(name).toString();
    }

    @Test
    @DisplayName("tls-1: the certificates that docs/tls.md makes work for its server, its client and mutual TLS")
    void tls() throws Exception {
        makeCertificates();
        Process server = start(TlsServer.class, null, file("server.pem"), file("server.key"), "0");
        try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
            String port = Integer.toString(portIn(out.readLine()));
            Process client = start(TlsClient.class, null, file("ca.pem"), port);
            try (BufferedReader answer = client.inputReader(StandardCharsets.UTF_8)) {
                assertThat(answer.lines()).containsExactly("hello", "TLSv1.3");
            } finally {
                client.destroyForcibly();
            }
            pressEnter(server);
            assertThat(server.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(server.exitValue()).isZero();
        } finally {
            server.destroyForcibly();
        }
        Process mutual = start(MutualTls.class, null, file("server.pem"), file("server.key"), file("ca.pem"), "0");
        try (BufferedReader out = mutual.inputReader(StandardCharsets.UTF_8)) {
            int port = portIn(out.readLine());
            Process client = new ProcessBuilder(
                            "openssl",
                            "s_client",
                            "-quiet",
                            "-connect",
                            "localhost:" + port,
                            "-CAfile",
                            file("ca.pem"),
                            "-cert",
                            file("client.pem"),
                            "-key",
                            file("client.key"))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try (BufferedReader answer = client.inputReader(StandardCharsets.UTF_8)) {
                assertThat(answer.readLine()).isEqualTo("hello CN=alice");
            } finally {
                client.destroyForcibly();
            }
        } finally {
            mutual.destroyForcibly();
        }
    }

    @Test
    @DisplayName("a room on a backplane: whoever comes later gets the last lines, and then what follows")
    void rooms() throws Exception {
        Process server = start(RoomServer.class, null);
        try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
            int port = Pattern.compile("127\\.0\\.0\\.1:(\\d+)")
                    .matcher(out.readLine())
                    .results()
                    .mapToInt(found -> Integer.parseInt(found.group(1)))
                    .findFirst()
                    .orElseThrow();
            try (Socket anna = new Socket(InetAddress.getLoopbackAddress(), port);
                    Socket ben = new Socket(InetAddress.getLoopbackAddress(), port)) {
                anna.getOutputStream().write("hello\n".getBytes(StandardCharsets.UTF_8));
                assertThat(anna.getInputStream().readNBytes(6)).asString().isEqualTo("hello\n");
                assertThat(ben.getInputStream().readNBytes(6)).asString().isEqualTo("hello\n");
                ben.getOutputStream().write("hi\n".getBytes(StandardCharsets.UTF_8));
                assertThat(anna.getInputStream().readNBytes(3)).asString().isEqualTo("hi\n");
                assertThat(ben.getInputStream().readNBytes(3)).asString().isEqualTo("hi\n");
            }
            pressEnter(server);
            assertThat(server.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(server.exitValue()).isZero();
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    @DisplayName("rooms over several engines: each is on one of them, and a connection may be in rooms of several")
    void splitRooms() throws Exception {
        try (Program server = Program.start(SplitRooms.class, "0", "memory:a", "memory:b")) {
            int port = server.port();
            try (Socket anna = Program.connect(port);
                    Socket ben = Program.connect(port)) {
                Program.say(anna, "lobby hello");
                Program.hear(anna, "lobby hello");
                Program.say(ben, "kitchen tea?");
                Program.hear(ben, "kitchen tea?");
                Program.say(ben, "lobby hi");
                Program.hear(ben, "lobby hello", "lobby hi");
                Program.hear(anna, "lobby hi");
                Program.say(ben, "$nodes x");
                Program.hear(ben, "which room?");
            }
            server.pressEnter();
            server.endsWell();
        }
    }

    @Test
    @DisplayName("a Netty server and a TcpServer on one thread")
    void nettyBesideTcpServer() throws Exception {
        Process server = start(NettyBesideTcpServer.class, null);
        try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
            List<Integer> ports = Pattern.compile("127\\.0\\.0\\.1:(\\d+)")
                    .matcher(out.readLine())
                    .results()
                    .map(port -> Integer.valueOf(port.group(1)))
                    .toList();
            assertThat(ports).hasSize(2);
            for (int port : ports) {
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    socket.getOutputStream().write("hello".getBytes(StandardCharsets.UTF_8));
                    assertThat(socket.getInputStream().readNBytes(5)).asString().isEqualTo("hello");
                }
            }
            pressEnter(server);
            assertThat(server.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(server.exitValue()).isZero();
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    @DisplayName("a server of lines answers with lines, and says what its loops did")
    void lineServer() throws Exception {
        Process server = start(LineServer.class, null);
        try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
            int port = portIn(out.readLine());
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.getOutputStream().write("one\ntwo\nhalf".getBytes(StandardCharsets.UTF_8));
                assertThat(socket.getInputStream().readNBytes(8)).asString().isEqualTo("one\ntwo\n");
            }
            pressEnter(server);
            List<String> lines = out.lines().toList();
            assertThat(lines).anyMatch(line -> line.startsWith("lines-0: "));
            assertThat(server.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(server.exitValue()).isZero();
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    @DisplayName("srv-8: a proxy passes a question on, and the answer back")
    void proxy() throws Exception {
        try (ServerSocket upstream = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            upstream.setSoTimeout((int) TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS));
            Process proxy = start(ProxyServer.class, null, "0", Integer.toString(upstream.getLocalPort()));
            try (BufferedReader out = proxy.inputReader(StandardCharsets.UTF_8)) {
                Matcher port = Pattern.compile(".*127\\.0\\.0\\.1:(\\d+).*").matcher(out.readLine());
                assertThat(port.matches()).isTrue();
                try (Socket near = new Socket(InetAddress.getLoopbackAddress(), Integer.parseInt(port.group(1)));
                        Socket far = upstream.accept()) {
                    near.getOutputStream().write("question".getBytes(StandardCharsets.UTF_8));
                    near.shutdownOutput();
                    assertThat(far.getInputStream().readAllBytes()).asString().isEqualTo("question");
                    far.getOutputStream().write("answer".getBytes(StandardCharsets.UTF_8));
                    far.shutdownOutput();
                    assertThat(near.getInputStream().readAllBytes()).asString().isEqualTo("answer");
                }
                pressEnter(proxy);
                assertThat(proxy.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
                assertThat(proxy.exitValue()).isZero();
            } finally {
                proxy.destroyForcibly();
            }
        }
    }

    @Test
    @DisplayName("a client that stays connected says hello to each server that comes back")
    void stayingConnected() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            listener.setSoTimeout((int) TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS));
            Process client = start(StayingConnected.class, null, Integer.toString(listener.getLocalPort()));
            try (BufferedReader out = client.inputReader(StandardCharsets.UTF_8)) {
                for (int i = 0; i < 2; i++) {
                    try (Socket socket = listener.accept()) {
                        assertThat(socket.getInputStream().readNBytes(6))
                                .asString()
                                .isEqualTo("hello\n");
                    }
                }
                try (Socket last = listener.accept()) {
                    last.getOutputStream().write("welcome back\n".getBytes(StandardCharsets.UTF_8));
                    assertThat(out.readLine()).isEqualTo("welcome back");
                    pressEnter(client);
                    assertThat(out.readLine())
                            .startsWith("connection kept with localhost:")
                            .endsWith("CONNECTED");
                }
                assertThat(client.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
                assertThat(client.exitValue()).isZero();
            } finally {
                client.destroyForcibly();
            }
        }
    }

    @Test
    @DisplayName("srv-11: a head, its body and the next head, pipelined; and netstrings")
    void headsAndBodies() throws Exception {
        String head = "HTTP/1.1 200 OK\r\nContent-Length: ";
        assertAnswers(
                HeadsAndBodies.class,
                "POST / HTTP/1.1\r\ncontent-length: 5\r\n\r\nhelloGET / HTTP/1.1\r\n\r\n",
                head + "5\r\n\r\nhello" + head + "0\r\n\r\n");
        assertAnswers(Netstrings.class, "5:hello,0:,2:a", "5:hello,0:,");
    }

    private static void assertAnswers(Class<?> main, String request, String answer) throws Exception {
        Process server = start(main, null);
        try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), portIn(out.readLine()))) {
                socket.getOutputStream().write(request.getBytes(StandardCharsets.UTF_8));
                assertThat(socket.getInputStream().readNBytes(answer.length()))
                        .asString()
                        .isEqualTo(answer);
            }
            pressEnter(server);
            assertThat(server.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(server.exitValue()).isZero();
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    @DisplayName("srv-6: answers that other threads work on come in the order of the questions, and before the end")
    void answersLater() throws Exception {
        String many = "?\n".repeat(300);
        assertAnswers(AnswersLater.class, "a long question\nshort\n" + many, "A LONG QUESTION\nSHORT\n" + many);
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC})
    @DisplayName("mill-12: a server that is told to stop by SIGTERM sends what is pending, says so, and ends")
    void gracefulServer() throws Exception {
        Process server = start(GracefulServer.class, null);
        try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
            int port = portIn(out.readLine());
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                socket.getOutputStream().write("hello".getBytes(StandardCharsets.UTF_8));
                assertThat(socket.getInputStream().readNBytes(5)).asString().isEqualTo("hello");
                kill("-TERM", Long.toString(server.pid()));
                assertThat(socket.getInputStream().read())
                        .as("closed by the server")
                        .isEqualTo(-1);
            }
            assertThat(out.lines()).containsExactly("everything was sent");
            assertThat(server.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(server.exitValue()).as("128 and the number of SIGTERM").isEqualTo(143);
        } finally {
            server.destroyForcibly();
        }
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC})
    @DisplayName("bp-6: a server is replaced by another process, and serves the connections that it has to their end")
    void replaceableServer() throws Exception {
        String path = directory.resolve("takeover").toString();
        Process first = start(ReplaceableServer.class, null, path, "0");
        Process second = null;
        try (BufferedReader out = first.inputReader(StandardCharsets.UTF_8)) {
            int port = portIn(out.readLine());
            try (Socket old = new Socket(InetAddress.getLoopbackAddress(), port)) {
                assertThat(echo(old)).isEqualTo("hello");
                second = start(ReplaceableServer.class, null, path, Integer.toString(port));
                assertThat(out.readLine()).isEqualTo("process " + second.pid() + " has taken over");
                assertThat(portIn(second.inputReader(StandardCharsets.UTF_8).readLine()))
                        .isEqualTo(port);
                assertThat(echo(old)).isEqualTo("hello");
                try (Socket fresh = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    assertThat(echo(fresh)).isEqualTo("hello");
                }
            }
            assertThat(first.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(first.exitValue()).isZero();
        } finally {
            first.destroyForcibly();
            if (second != null) {
                second.destroyForcibly();
            }
        }
    }

    private static String echo(Socket socket) throws IOException {
        socket.getOutputStream().write("hello".getBytes(StandardCharsets.UTF_8));
        return new String(socket.getInputStream().readNBytes(5), StandardCharsets.UTF_8);
    }

    // ---- Direct style ----

    /** What a test does with a program that listens on a port. */
    private interface Talk {
        void with(int port) throws Exception;
    }

    private static void serving(Class<?> main, Talk talk, String... args) throws Exception {
        Process process = start(main, null, args);
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            Matcher port = Pattern.compile(".*(?:127\\.0\\.0\\.1:|listening on )(\\d+).*")
                    .matcher(String.valueOf(out.readLine()));
            assertThat(port.matches()).isTrue();
            talk.with(Integer.parseInt(port.group(1)));
            pressEnter(process);
            assertThat(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    private static Socket connect(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout((int) TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS));
        return socket;
    }

    private static String askAll(int port, String text) throws IOException {
        try (Socket socket = connect(port)) {
            socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
            socket.shutdownOutput();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    @DisplayName("vt-1 lines are echoed in direct style")
    void directEcho() throws Exception {
        serving(DirectEcho.class, port -> assertThat(askAll(port, "one\ntwo\n")).isEqualTo("one\ntwo\n"), "0");
    }

    @ParameterizedTest
    @ValueSource(classes = {DirectNotes.class, ServerSocketNotes.class})
    @DisplayName(
            "vt-1, vt-3: notes are kept in files in direct style, off the loop, as they were with the JDK's sockets")
    void notes(Class<?> main, @TempDir Path folder) throws Exception {
        serving(
                main,
                port -> {
                    assertThat(askAll(port, "milk two bottles\nmilk\nbread\n../etc\n"))
                            .isEqualTo("kept\ntwo bottles\nno such note\na name has 1 to 20 letters\n");
                    assertThat(askAll(port, "milk\n")).isEqualTo("two bottles\n");
                },
                "0",
                folder.toString());
        assertThat(folder.resolve("milk")).hasContent("two bottles");
    }

    @Test
    @DisplayName("vt-1 HTTP by hand: requests on one connection, with and without a body, and one that is too large")
    void directHttp() throws Exception {
        serving(
                DirectHttp.class,
                port -> {
                    String requests = "GET /one HTTP/1.1\r\nHost: here\r\n\r\n"
                            + "POST /two HTTP/1.1\r\ncontent-length: 3\r\n\r\nabc"
                            + "POST /three HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n";
                    assertThat(askAll(port, requests))
                            .containsSubsequence(
                                    "200 OK",
                                    "GET /one HTTP/1.1, with 0 bytes",
                                    "200 OK",
                                    "POST /two HTTP/1.1, with 3 bytes",
                                    "413");
                },
                "0");
    }

    @Test
    @DisplayName("vt-1 a proxy in direct style passes on both directions and their ends")
    void directProxy() throws Exception {
        serving(
                DirectEcho.class,
                echo -> serving(
                        DirectProxy.class,
                        port -> assertThat(askAll(port, "through\nand back\n")).isEqualTo("through\nand back\n"),
                        "0",
                        Integer.toString(echo)),
                "0");
    }

    @Test
    @DisplayName("vt-5, vt-3: scatter and gather: answers of several servers as they come, and a call off the loop")
    void directScatterGather() throws Exception {
        serving(
                DirectEcho.class,
                one -> serving(
                        DirectEcho.class,
                        two -> serving(
                                DirectScatterGather.class,
                                port -> assertThat(
                                                askAll(port, "hello\nagain\n").lines())
                                        .containsExactly("hello", "hello", "entry 1", "again", "again", "entry 2"),
                                "0",
                                Integer.toString(one),
                                Integer.toString(two)),
                        "0"),
                "0");
    }

    private static int portIn(String line) {
        Matcher port =
                Pattern.compile("(?:TCP|UDP) server on \\S+?:(\\d+)[,;] .*").matcher(line);
        assertThat(port.matches()).as(line).isTrue();
        return Integer.parseInt(port.group(1));
    }

    private static void pressEnter(Process process) throws IOException {
        process.outputWriter(StandardCharsets.UTF_8).append("\n").flush();
    }

    private static Process start(Class<?> main, String backend, String... args) throws IOException {
        return new ProcessBuilder(Program.command(main, backend, args))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    private static void readUntil(BufferedReader out, List<String> lines, String beginning) throws IOException {
        while (lines.stream().noneMatch(line -> line.startsWith(beginning))) {
            String line = out.readLine();
            assertThat(line).as("before " + beginning + " came only " + lines).isNotNull();
            lines.add(line);
        }
    }

    private static void kill(String signal, String pid) throws Exception {
        assertThat(new ProcessBuilder("kill", signal, pid).start().waitFor()).isZero();
    }
}
