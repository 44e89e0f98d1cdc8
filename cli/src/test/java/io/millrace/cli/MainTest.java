package io.millrace.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("The command line")
class MainTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String line) {
        String[] words = line.isEmpty() ? new String[0] : line.split(" ", -1);
        return Main.run(words, new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "--help", "-h", "serve --help", "serve redis -h", "doctor --help", "version --help"})
    @DisplayName("mr-12: explains itself everywhere")
    void help(String line) {
        assertThat(run(line)).isZero();
        assertThat(out.toString(UTF_8)).startsWith("Usage: millrace");
        assertThat(err.toString(UTF_8)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        frobnicate            | cannot understand frobnicate; try millrace --help
        bench                 | cannot bench from here: run ./millrace bench in a working copy
        example               | cannot run an example from here: run ./millrace example in a working copy
        serve --frob          | cannot understand --frob; try millrace serve --help
        serve echo chat       | cannot understand chat; try millrace serve --help
        serve --style curly   | --style must be callback or direct, not curly
        serve chat --style direct | --style direct is for echo; chat has callbacks only
        serve --style direct --dispatch pool | --style direct has threads of its own; leave out --dispatch
        serve gopher          | cannot serve gopher; choose echo, chat, redis or http
        serve http            | serve http needs a directory: millrace serve http DIR
        serve chat --udp      | --udp is for a plain echo, without --unix, --style direct, --console or TLS
        serve --unix x --unix-mode 9 | --unix-mode must be three octal digits, such as 660, not 9
        serve --unix-mode 660 | --unix-mode is for the file of a Unix socket, and there is none
        serve http /none      | cannot serve /none: there is no such directory
        serve --port          | Missing required parameter for option '--port' (PORT); try millrace serve --help
        serve --port x        | Invalid value for option '--port': 'x' is not an int; try millrace serve --help
        serve --port 65536    | --port must be from 0 to 65535, not 65536
        serve --port -1       | --port must be from 0 to 65535, not -1
        serve --loops 0       | --loops must be from 1 to 1024, not 0
        serve --buffer 0      | --buffer must be from 1 to 16777216, not 0
        serve --workers 4     | --workers needs --dispatch pool
        serve --workers 4 --dispatch virtual | --workers needs --dispatch pool
        serve --dispatch here | --dispatch must be loop, pool or virtual, not here
        serve --host no.such.host.invalid | cannot resolve the host no.such.host.invalid
        """)
    @DisplayName("mr-12: what makes no sense is one line that says so, and exit status 2")
    void nonsense(String line, String message) {
        assertThat(run(line)).isEqualTo(2);
        assertThat(err.toString(UTF_8).lines()).containsExactly("millrace: " + message);
        assertThat(out.toString(UTF_8)).isEmpty();
    }

    @Test
    @DisplayName("mr-12: an argument of several lines is told in one")
    void severalLines() {
        assertThat(Main.run(
                        new String[] {"serve\nnothing"},
                        new PrintStream(out, true, UTF_8),
                        new PrintStream(err, true, UTF_8)))
                .isEqualTo(2);
        assertThat(err.toString(UTF_8).lines())
                .containsExactly("millrace: cannot understand serve; nothing; try millrace --help");
    }

    @Test
    @DisplayName("mr-12: a host that is empty is refused")
    void emptyHost() {
        assertThat(run("serve --port 0 --host ")).isEqualTo(2);
        assertThat(err.toString(UTF_8).lines())
                .containsExactly("millrace: --host is empty; name an address, such as 127.0.0.1 or 0.0.0.0");
    }

    @Test
    @DisplayName("mr-12: a backend that does not exist is named")
    void noSuchBackend() {
        assertThat(run("serve --backend kpoll --port 0")).isEqualTo(2);
        assertThat(err.toString(UTF_8).lines()).singleElement().asString().contains("kpoll");
    }

    @Test
    @DisplayName("Whatever is thrown is one line: exit status 2 before a server listens, 70 afterwards")
    void oneLine() {
        PrintStream stream = new PrintStream(err, true, UTF_8);
        assertThat(Main.fail(stream, new OutOfMemoryError("unable to create native thread")))
                .isEqualTo(2);
        assertThat(Main.fail(stream, new NoClassDefFoundError("a/Class"))).isEqualTo(2);
        assertThat(Main.fail(stream, new ExceptionInInitializerError(new IOException("Too many open files"))))
                .isEqualTo(2);
        assertThat(Main.fail(stream, new UncheckedIOException(new IOException("cannot listen"))))
                .isEqualTo(2);
        assertThat(Main.fail(stream, new IllegalStateException("first\n  second\r\n")))
                .isEqualTo(2);
        assertThat(Main.fail(stream, new NullPointerException())).isEqualTo(2);
        assertThat(Main.fail(
                        stream,
                        new ServerFailedException(new CompletionException(new IllegalStateException("a loop ended")))))
                .isEqualTo(70);
        assertThat(err.toString(UTF_8).lines())
                .containsExactly(
                        "millrace: java.lang.OutOfMemoryError: unable to create native thread",
                        "millrace: java.lang.NoClassDefFoundError: a/Class",
                        "millrace: java.lang.ExceptionInInitializerError, because of java.io.IOException: Too many open files",
                        "millrace: cannot listen",
                        "millrace: first; second",
                        "millrace: java.lang.NullPointerException",
                        "millrace: the server failed: a loop ended");
    }

    @ParameterizedTest
    @ValueSource(strings = {"version", "--version"})
    void version(String line) {
        assertThat(run(line)).isZero();
        assertThat(out.toString(UTF_8).lines()).singleElement().asString().matches("millrace \\S+, java 2\\d.*");
    }

    @Test
    @DisplayName("mr-5: doctor tells the backend and the limits of this machine")
    void doctor() {
        assertThat(run("doctor")).isZero();
        assertThat(out.toString(UTF_8)).startsWith("using ").contains("\njava ", "\nvirtual threads: on ");
    }

    @Test
    @DisplayName("doctor tells what to raise")
    void doctorOfASmallMachine(@TempDir Path proc) throws Exception {
        Files.createDirectories(proc.resolve("self"));
        Files.createDirectories(proc.resolve("sys/net/core"));
        Files.writeString(proc.resolve("self/limits"), """
            Limit                     Soft Limit           Hard Limit           Units
            Max open files            1024                 4096                 files
            """);
        Files.writeString(proc.resolve("sys/net/core/somaxconn"), "128\n");
        assertThat(Doctor.report(proc))
                .contains("open files: 1024 (at most 4096), enough for about 924 connections. For more: ulimit -n ")
                .contains("somaxconn: 128, less than the backlog of 1024")
                .contains("sysctl -w net.core.somaxconn=4096")
                .doesNotContain("syn backlog");
    }
}
