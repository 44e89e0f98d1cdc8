package io.millrace.cli.chat;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Cli;
import io.millrace.testkit.RedisProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("millrace serve chat --backplane")
class SharedRoomTest {
    /** One who chats. */
    private static final class Person implements AutoCloseable {
        private final Socket socket;
        private final BufferedReader in;

        Person(int port, String name) throws IOException {
            socket = Cli.connect(port);
            socket.setSoTimeout(30_000);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
            hears("* your name?");
            says(name);
        }

        void says(String line) throws IOException {
            socket.getOutputStream().write((line + "\n").getBytes(UTF_8));
        }

        /** Hears this line; others may come before it. */
        void hears(String line) throws IOException {
            for (String heard = in.readLine(); !line.equals(heard); heard = in.readLine()) {
                assertThat(heard).as("before \"%s\"", line).isNotNull();
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    @Test
    @DisplayName(
            "bp-1, bp-2: guests of two nodes are in one room: lines, who is here, the last lines; and what they are told when Redis is lost")
    void twoNodes() throws Exception {
        try (RedisProcess redis = new RedisProcess();
                Cli first = Cli.serveOnClassPath("chat", "--backplane", redis.url());
                Cli second = Cli.serveOnClassPath("chat", "--backplane", redis.url())) {
            int one = first.port();
            int two = second.port();
            try (Person anna = new Person(one, "anna")) {
                anna.hears("* here: anna");
                anna.says("is anybody there?");
                anna.hears("anna: is anybody there?");
                try (Person ben = new Person(two, "ben")) {
                    ben.hears("anna: is anybody there?");
                    anna.hears("* ben joined, 2 here");
                    ben.says("yes");
                    anna.hears("ben: yes");
                    ben.hears("ben: yes");
                    ben.says("/who");
                    ben.hears("* here: anna, ben (on 2 nodes)");
                    try (Person impostor = new Person(two, "anna")) {
                        impostor.hears("* anna is here already; your name?");
                    }

                    redis.kill();
                    anna.hears("* the other nodes cannot be reached; you are heard here only");
                    anna.says("hello?");
                    anna.hears("anna: hello?");
                    redis.forget();
                    redis.start();
                    anna.hears("* the other nodes can be reached");
                    ben.hears("* the other nodes can be reached");
                    anna.says("back again");
                    ben.hears("* some lines may be missing here");
                    ben.hears("anna: back again");
                }
                anna.hears("* ben left, 1 here");
            }
        }
    }

    @Test
    @DisplayName(
            "bp-2: one node needs nothing, and a URL that nobody understands, or a service with nothing to share, cannot start")
    void alone() throws Exception {
        try (Cli server = Cli.serve("chat", "--backplane", "memory:");
                Person anna = new Person(server.port(), "anna")) {
            anna.says("hello");
            anna.hears("anna: hello");
        }
        try (Cli server = Cli.serve("chat", "--backplane", "pigeon://coop")) {
            assertThat(server.exit()).isEqualTo(2);
            assertThat(server.errors()).contains("no engine for pigeon");
        }
        try (Cli server = Cli.serve("echo", "--backplane", "memory:")) {
            assertThat(server.exit()).isEqualTo(2);
            assertThat(server.errors()).contains("--backplane is for chat");
        }
    }
}
