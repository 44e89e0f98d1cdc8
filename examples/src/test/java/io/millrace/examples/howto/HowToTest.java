package io.millrace.examples.howto;

import static io.millrace.examples.Program.connect;
import static io.millrace.examples.Program.hear;
import static io.millrace.examples.Program.say;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.examples.Program;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The programs of docs/howto, driven from outside. */
class HowToTest {
    @TempDir
    Path directory;

    @Test
    @DisplayName("back pressure: numbers are sent no faster than they are read, and none is lost")
    void numbers() throws Exception {
        int last = 300_000;
        try (Program server = Program.start(Numbers.class, "0", Integer.toString(last));
                Socket reader = connect(server.port());
                BufferedReader in = new BufferedReader(new InputStreamReader(reader.getInputStream()))) {
            for (int i = 1; i <= last; i++) {
                assertThat(in.readLine()).isEqualTo(Integer.toString(i));
            }
            assertThat(in.readLine()).isNull();
            server.pressEnter();
            server.endsWell();
        }
    }

    @Test
    @DisplayName("timeouts: a heartbeat comes while nothing is said, and who sends none is closed")
    void heartbeats() throws Exception {
        try (Program server = Program.start(Heartbeats.class, "0", "500");
                Socket peer = connect(server.port())) {
            say(peer, "hello");
            hear(peer, "hello", "");
            assertThat(peer.getInputStream().readAllBytes()).asString().matches("\\n*");
            server.pressEnter();
            server.endsWell();
        }
    }

    @Test
    @DisplayName("blocking calls: a handler that reads files on virtual threads")
    void blockingHandler() throws Exception {
        Files.writeString(directory.resolve("a"), "four");
        try (Program server = Program.start(BlockingHandler.class, "0", directory.toString());
                Socket peer = connect(server.port())) {
            say(peer, "a");
            say(peer, "../../b");
            hear(peer, "4 characters", "no such file");
            server.pressEnter();
            server.endsWell();
        }
    }

    @Test
    @DisplayName("a source of one's own")
    void thermometer() throws Exception {
        try (Program program = Program.start(Thermometer.class)) {
            assertThat(program.lines()).containsExactly("20.0 degrees", "21.0 degrees", "22.0 degrees");
            program.endsWell();
        }
    }

    @Test
    @DisplayName("futures with a limit: at most a hundred at a time")
    void lookUps() throws Exception {
        try (Program program = Program.start(LookUps.class, "3000")) {
            assertThat(program.line()).matches("sum 4452030, 30 failed, at most (100|\\d\\d) at a time");
            program.endsWell();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("signals and children: what a child says is passed on, and Ctrl-C ends it")
    void supervisor() throws Exception {
        try (Program program = Program.start(Supervisor.class, "sh", "-c", "echo one; echo two; exit 3")) {
            assertThat(program.lines()).containsExactly("one", "two", "exit code 3");
            program.endsWell();
        }
        try (Program program = Program.start(Supervisor.class, "sh", "-c", "echo ready; exec sleep 600")) {
            assertThat(program.line()).isEqualTo("ready");
            program.kill("INT");
            assertThat(program.line()).isEqualTo("ended by SIGINT");
            program.endsWell();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("signals and children: a child that ignores Ctrl-C is ended by force")
    void stubbornChild() throws Exception {
        try (Program program =
                Program.start(Supervisor.class, "sh", "-c", "trap '' INT; echo ready; while :; do sleep 1; done")) {
            assertThat(program.line()).isEqualTo("ready");
            program.kill("INT");
            assertThat(program.line()).isEqualTo("ended by SIGKILL");
            program.endsWell();
        }
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC})
    @DisplayName("what is appended to a file is printed")
    void tail() throws Exception {
        Path file = directory.resolve("log");
        Files.writeString(file, "old\n");
        try (Program program = Program.start(TailFile.class, file.toString())) {
            assertThat(program.line()).isEqualTo("old");
            for (String line : new String[] {"one", "two"}) {
                Files.writeString(file, line + "\n", StandardOpenOption.APPEND);
                assertThat(program.line()).isEqualTo(line);
            }
            program.kill("INT");
            program.endsWell();
        }
    }

    @Test
    @DisplayName("which backend: the report says it")
    void whichBackend() throws Exception {
        try (Program program = Program.start(WhichBackend.class)) {
            assertThat(program.line()).startsWith("using ");
            program.endsWell();
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {NioEcho.class, PollEcho.class})
    @DisplayName("from NIO: before and after do the same")
    void echoes(Class<?> main) throws Exception {
        try (Program server = Program.start(main, "0");
                Socket peer = connect(server.port())) {
            String text = "x".repeat(3_000_000);
            Thread writer = Thread.ofPlatform().start(() -> {
                try {
                    say(peer, text);
                    peer.shutdownOutput();
                } catch (java.io.IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            assertThat(new String(peer.getInputStream().readAllBytes())).isEqualTo(text + "\n");
            writer.join();
        }
    }

    @Test
    @DisplayName("an event loop with a socket, a channel and an alarm")
    void firstEventLoop() throws Exception {
        try (Program program = Program.start(FirstEventLoop.class);
                Socket peer = connect(program.port())) {
            hear(peer, "hello");
            assertThat(program.lines()).containsExactly("hello from another thread");
            program.endsWell();
        }
    }

    @Test
    @DisplayName("many alarms: each fires or is cancelled, once")
    void alarms() throws Exception {
        try (Program program = Program.start(MillionAlarms.class, "100000")) {
            Matcher counts = Pattern.compile("(\\d+) fired, (\\d+) cancelled, (\\d+) too late")
                    .matcher(program.line());
            assertThat(counts.matches()).isTrue();
            int fired = Integer.parseInt(counts.group(1));
            int cancelled = Integer.parseInt(counts.group(2));
            assertThat(fired + cancelled).isEqualTo(100_000);
            assertThat(cancelled + Integer.parseInt(counts.group(3))).isEqualTo(50_000); // too late on a slow machine
            program.endsWell();
        }
    }

    @Test
    @DisplayName("nty-1: Netty on polls, with two lines changed")
    void nettyServer() throws Exception {
        try (Program server = Program.start(NettyServer.class, "0");
                Socket peer = connect(server.port())) {
            say(peer, "hello");
            hear(peer, "hello");
            server.pressEnter();
            server.endsWell();
        }
    }

    @Test
    @DisplayName("obs-2: a server that is watched from outside and from inside names the handler that blocked")
    void watched() throws Exception {
        try (Program server = Program.start(Watched.class, "0")) {
            int port = server.port();
            assertThat(server.line()).startsWith("http://127.0.0.1:");
            try (Socket peer = connect(port)) {
                say(peer, "zzz");
                hear(peer, "zzz");
            }
            server.pressEnter();
            assertThat(server.lines())
                    .anyMatch(line -> line.contains("Watched") && line.contains(" at "))
                    .contains("millrace.connections");
            server.endsWell();
        }
    }
}
