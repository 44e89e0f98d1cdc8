package io.millrace.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

@DisplayName("millrace serve")
class ServeTest {
    private static void echo(int port, String text) throws IOException {
        try (Socket socket = Cli.connect(port)) {
            socket.getOutputStream().write(text.getBytes(UTF_8));
            socket.shutdownOutput();
            assertThat(new String(socket.getInputStream().readAllBytes(), UTF_8))
                    .isEqualTo(text);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"TERM", "INT"})
    @DisplayName("mr-12: says in one line that it listens, and at a signal in one line what it did; exit status 0")
    void saysWhatItDoes(String signal) throws Exception {
        try (Cli cli = Cli.serve()) {
            Matcher line = cli.listening();
            assertThat(line.group(2)).isEqualTo("echo");
            assertThat(line.group(4))
                    .isEqualTo(Integer.toString(Runtime.getRuntime().availableProcessors()));
            int port = Integer.parseInt(line.group(1));
            echo(port, "hello");
            echo(port, "Wörld");
            cli.signal(signal);
            assertThat(cli.rest())
                    .containsExactly("stopped by SIG" + signal + ": 2 connections, 11 bytes in, 11 bytes out");
            assertThat(cli.exit()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"nio,pool,1", "poll,virtual,2", "epoll,loop,3"})
    @DisplayName("mill-13: on any backend, in any dispatch mode, on as many loops as asked for")
    void asAskedFor(String backend, String dispatch, int loops) throws Exception {
        try (Cli cli = Cli.serve(
                "echo",
                "--backend",
                backend,
                "--dispatch",
                dispatch,
                "--loops=" + loops,
                "--spin",
                "20",
                "--buffer",
                "512")) {
            Matcher line = cli.listening();
            assertThat(line.group(3)).isEqualTo(backend);
            assertThat(line.group(4)).isEqualTo(Integer.toString(loops));
            echo(Integer.parseInt(line.group(1)), "x".repeat(10_000));
            cli.signal("TERM");
            assertThat(cli.rest()).hasSize(1);
            assertThat(cli.exit()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"true,'',the loops", "true,--no-loop-threads,the JDK's scheduler", "false,'',the JDK's scheduler"})
    @DisplayName("vt-2: echo in direct style, on the loops where Java and the user let it, and else elsewhere")
    void direct(boolean opened, String option, String where) throws Exception {
        List<String> jvm = opened
                ? List.of(
                        "--add-opens",
                        "java.base/java.lang="
                                + (System.getProperty("jdk.module.path") == null
                                        ? "ALL-UNNAMED"
                                        : "io.millrace.engine"))
                : List.of();
        String[] args = Stream.of("echo", "--style", "direct", option)
                .filter(word -> !word.isEmpty())
                .toArray(String[]::new);
        try (Cli cli = Cli.serveWith(jvm, args)) {
            Matcher line = cli.listening();
            assertThat(line.group(5)).isEqualTo(where);
            int port = Integer.parseInt(line.group(1));
            echo(port, "hello");
            echo(port, "x".repeat(1_000_000));
            cli.signal("TERM");
            assertThat(cli.rest())
                    .containsExactly("stopped by SIGTERM: 2 connections, 1000005 bytes in, 1000005 bytes out");
            assertThat(cli.exit()).isZero();
        }
    }

    @Test
    @DisplayName(
            "mr-12: a port that is taken is one line on standard error and exit status 2; so it is by a second of our"
                    + " own")
    void portTaken() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                Cli cli = Cli.start("serve", "--port", Integer.toString(taken.getLocalPort()))) {
            assertTaken(cli, taken.getLocalPort());
        }
        try (Cli first = Cli.serve("--loops", "2")) {
            int port = first.port();
            try (Cli second = Cli.start("serve", "--loops", "2", "--port", Integer.toString(port))) {
                assertTaken(second, port);
            }
            echo(port, "still there");
        }
    }

    private static void assertTaken(Cli cli, int port) throws Exception {
        assertThat(cli.errors().lines())
                .singleElement()
                .asString()
                .startsWith("millrace: cannot listen on ")
                .contains(":" + port);
        assertThat(cli.rest()).isEmpty();
        assertThat(cli.exit()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"redis,'*1\r\n$60000\r\n'", "redis,SET", "chat,name"})
    @DisplayName("mill-8: who sends a byte now and then of what never ends is cut off, though it is never idle")
    void slowLoris(String service, String beginning) throws Exception {
        try (Cli cli = Cli.serve(service, "--idle", "1");
                Socket socket = Cli.connect(cli.port())) {
            socket.setSoTimeout(100);
            socket.getOutputStream().write(beginning.getBytes(UTF_8));
            await().atMost(Duration.ofSeconds(50)).until(() -> {
                socket.getOutputStream().write('x');
                return isCutOff(socket);
            });
        }
    }

    private static boolean isCutOff(Socket socket) throws IOException {
        try {
            return socket.getInputStream().read() < 0;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (SocketException e) {
            return true;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 12, 14, 16, 18, 20})
    @DisplayName("mr-12: with too few descriptors it ends, and says why in one line; it is not there by half")
    @DisabledOnOs(OS.WINDOWS)
    void tooFewDescriptors(int limit) throws Exception {
        try (Cli cli = Cli.startWith("ulimit -n " + limit, List.of(), "serve", "--port", "0", "--loops", "16")) {
            assertEndsWithOneLine(cli);
        }
    }

    @Test
    @DisplayName("mr-12: with too few threads it ends, and says why in one line; it is not there by half")
    @EnabledOnOs(OS.LINUX)
    void tooFewThreads() throws Exception {
        // A limit of threads does not bind root, but one of memory does: there is none for the stacks of so many.
        List<String> options = List.of(
                "-Xmx64m",
                "-Xss200m",
                "-XX:CompressedClassSpaceSize=32m",
                "-XX:ReservedCodeCacheSize=32m",
                "-Xlog:disable");
        try (Cli cli = Cli.startWith("ulimit -v 5000000", options, "serve", "--port", "0", "--loops", "64")) {
            assertThat(assertEndsWithOneLine(cli)).contains("thread");
        }
    }

    /** A JVM that cannot even begin to run us says so in its own words. */
    private static String assertEndsWithOneLine(Cli cli) throws Exception {
        int status = cli.exit();
        String errors = cli.errors();
        if (status == 1) {
            assertThat(errors).doesNotContain("io.millrace");
        } else {
            assertThat(status).as(errors).isEqualTo(2);
            assertThat(errors.lines()).singleElement().asString().startsWith("millrace: ");
        }
        return errors;
    }

    @Test
    @DisplayName("mr-12: a server that cannot go on ends, though no signal came")
    void aLoopThatFails() throws Exception {
        CommandLine line = CommandLines.create();
        Serve serve = new Serve(Options.of(
                line.parseArgs("serve", "--port", "0", "--loops", "1").subcommand()));
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Thread.ofVirtual().start(() -> {
            try {
                serve.run(new PrintStream(out, true, UTF_8), System.err);
                end.complete(new AssertionError("it returned"));
            } catch (Throwable e) {
                end.complete(e);
            }
        });
        await().until(() -> out.toString(UTF_8).startsWith("listening on "));

        serve.endWithFailure(new IllegalStateException("a loop ended"));

        assertThat(end.get()).isInstanceOf(ServerFailedException.class).hasMessage("the server failed: a loop ended");
    }

    @Test
    @DisplayName("mr-5: where native calls are refused it serves with NIO, and says why and what to do")
    @EnabledOnOs(OS.LINUX)
    void nativeAccessDenied() throws Exception {
        try (Cli cli = Cli.startWith("", List.of("--illegal-native-access=deny"), "serve", "--port", "0")) {
            Matcher line = cli.listening();
            assertThat(line.group(3)).isEqualTo("nio");
            echo(Integer.parseInt(line.group(1)), "hello");
            cli.signal("TERM");
            assertThat(cli.exit()).isZero();
            assertThat(cli.errors().lines())
                    .singleElement()
                    .asString()
                    .startsWith("millrace: using nio, not epoll: native access is denied")
                    .contains("--enable-native-access=");
        }
    }

    @Test
    @DisplayName("mr-5: without the flag JDK 25 warns, and epoll works, as the README says")
    @EnabledOnOs(OS.LINUX)
    void nativeAccessNotMentioned() throws Exception {
        try (Cli cli = Cli.startWith("", List.of("--illegal-native-access=warn"), "serve", "--port", "0")) {
            assertThat(cli.listening().group(3)).isEqualTo("epoll");
            cli.signal("TERM");
            assertThat(cli.exit()).isZero();
            assertThat(cli.errors().lines().filter(text -> !text.isBlank()))
                    .hasSize(4)
                    .allMatch(text -> text.startsWith("WARNING: "));
        }
    }

    @Test
    @DisplayName("mr-12: nobody needs to read what it says")
    @EnabledOnOs(OS.LINUX)
    void closedOutput() throws Exception {
        try (Cli cli = Cli.startWith("exec >&-", List.of(), "serve", "--port", "0")) {
            // It cannot say which port it took, and one that was free a moment ago may be another program's by now.
            echo(await().until(cli::portAsTheKernelSees, OptionalInt::isPresent).getAsInt(), "hello");
            cli.signal("TERM");
            assertThat(cli.exit()).isZero();
            assertThat(cli.errors()).isEmpty();
        }
    }

    @Test
    @DisplayName("mill-12: a reader that never reads is cut off at the deadline; exit status 0 all the same")
    void cutsOff() throws Exception {
        try (Cli cli = Cli.serve("--drain", "1")) {
            try (SocketChannel slow = slow(cli.port())) {
                fill(slow);
                cli.signal("TERM");
                assertThat(cli.rest()).singleElement().asString().endsWith(" bytes out; 1 cut off after 1 s");
                assertThat(cli.exit()).isZero();
            }
        }
    }

    private static SocketChannel slow(int port) throws IOException {
        SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        channel.configureBlocking(false);
        return channel;
    }

    /** Sends until nothing more is taken for a while: then the server has queued what it may, and reads no more. */
    private static void fill(SocketChannel channel) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(64 * 1024);
        long quietSince = System.nanoTime();
        while (System.nanoTime() - quietSince < TimeUnit.MILLISECONDS.toNanos(500)) {
            if (channel.write(buffer.clear()) > 0) {
                quietSince = System.nanoTime();
            } else {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    @DisplayName("mr-12: nc and socat, half closing, get back what they sent")
    void tools() throws Exception {
        Tools.require("socat", "socat");
        Tools.require("ncat", "ncat");
        String text = "a line\n".repeat(20_000);
        try (Cli cli = Cli.serve()) {
            int port = cli.port();
            assertThat(pipe(text, "socat", "-t10", "-", "TCP:127.0.0.1:" + port))
                    .isEqualTo(text);
            assertThat(pipe(text, "ncat", "127.0.0.1", Integer.toString(port))).isEqualTo(text);
        }
    }

    private static String pipe(String in, String... command) throws Exception {
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            Thread.ofVirtual().start(() -> {
                try (var writer = process.outputWriter(UTF_8)) {
                    writer.write(in);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            InputStream out = process.getInputStream();
            String answer = new String(out.readAllBytes(), UTF_8);
            assertThat(process.waitFor()).isZero();
            return answer;
        } finally {
            process.destroyForcibly();
        }
    }
}
