package io.millrace.bench.runner;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@DisplayName("The load of chat")
@Timeout(60)
class NativeChatTest {
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
        String missing = peers.missing("load_chat");
        assumeTrue(missing == null || missing.contains("does not compile"), missing);
        assertThat(missing).isNull();
    }

    @AfterEach
    void close() {
        session.close();
    }

    /** Two nodes of one chat, in this JVM, which do something wrong with the tenth line of a member, if they are told to. */
    private static final class Chat implements AutoCloseable {
        private final List<ServerSocket> nodes = new ArrayList<>();
        private final List<Socket> members = new ArrayList<>();
        private final String fault;
        private String held = "";

        Chat(String fault) throws IOException {
            this.fault = fault;
            for (int i = 0; i < 2; i++) {
                ServerSocket node = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
                nodes.add(node);
                Thread.ofVirtual().start(() -> accept(node));
            }
        }

        private void accept(ServerSocket node) {
            while (!node.isClosed()) {
                try {
                    Socket socket = node.accept();
                    Thread.ofVirtual().start(() -> serve(socket));
                } catch (IOException e) {
                    return; // closed
                }
            }
        }

        private void serve(Socket socket) {
            try (socket) {
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
                String name = in.readLine();
                synchronized (members) {
                    members.add(socket);
                    tell(socket, "* here: " + name);
                    tell(socket, "m0-1: 7 7 a line of an earlier run");
                }
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    say(name + ": " + line);
                }
            } catch (IOException e) {
                // it has gone
            }
        }

        private void say(String line) {
            synchronized (members) {
                if (!(line.startsWith("m1-") && line.contains(": 10 "))) {
                    tellAll(line);
                    if (!held.isEmpty()) {
                        tell(members.getFirst(), held);
                        held = "";
                    }
                    return;
                }
                switch (fault) {
                    case "loses" -> {}
                    case "loses for one" -> members.stream().skip(1).forEach(member -> tell(member, line));
                    case "repeats" -> {
                        tellAll(line);
                        tellAll(line);
                    }
                    case "changes" -> tellAll(line.substring(0, line.length() - 1) + "z");
                    case "delays for one" -> {
                        members.stream().skip(1).forEach(member -> tell(member, line));
                        held = line;
                    }
                    case "says that lines are missing" -> {
                        tellAll("* some lines may be missing here");
                        tellAll(line);
                    }
                    default -> tellAll(line);
                }
            }
        }

        private void tellAll(String line) {
            members.forEach(member -> tell(member, line));
        }

        private static void tell(Socket member, String line) {
            try {
                synchronized (member) {
                    member.getOutputStream().write((line + "\n").getBytes(UTF_8));
                }
            } catch (IOException e) {
                // it has gone
            }
        }

        @Override
        public void close() throws IOException {
            for (ServerSocket node : nodes) {
                node.close();
            }
        }
    }

    private Map<String, Double> load(Chat chat) throws IOException, InterruptedException {
        List<String> command = List.of(
                peers.path("load_chat").toString(),
                "--ports",
                chat.nodes.stream()
                        .map(node -> Integer.toString(node.getLocalPort()))
                        .collect(Collectors.joining(",")),
                "--pids",
                Long.toString(ProcessHandle.current().pid()),
                "--engine",
                Long.toString(ProcessHandle.current().pid()),
                "--members",
                "3",
                "--rate",
                "200",
                "--seconds",
                "1",
                "--warmup",
                "0",
                "--one-order",
                "1");
        return ChatNodes.figures(session.children().run("the load", session.log("load-chat-test"), command));
    }

    @Test
    @DisplayName("counts each line at each member, and what nodes and engine take for it")
    void counts() throws Exception {
        try (Chat chat = new Chat("")) {
            Map<String, Double> figures = load(chat);
            assertThat(figures).containsEntry("nodes", 2.0).containsEntry("members", 3.0);
            assertThat(figures.get("published")).isPositive();
            assertThat(figures.get("messages")).isPositive();
            assertThat(figures.get("p50us")).isPositive();
            assertThat(figures).containsKeys("cpuMicros", "lineMicros", "engineMicros", "residentBytes");
        }
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
        loses,                       got line
        loses for one,               got line
        repeats,                     got line
        changes,                     got a changed line
        delays for one,              in another order than member 0
        says that lines are missing, was told: * some lines may be missing here
        """)
    @DisplayName("notices a chat that")
    void notices(String fault, String message) throws Exception {
        try (Chat chat = new Chat(fault)) {
            assertThatThrownBy(() -> load(chat)).isInstanceOf(IOException.class).hasMessageContaining(message);
        }
    }

    @Test
    @DisplayName("tells how a program that knows no such node may be called")
    void usage() {
        assertThatThrownBy(() -> session.children()
                        .run(
                                "the load",
                                session.log("load-chat-test"),
                                List.of(peers.path("load_chat").toString())))
                .hasMessageContaining("load_chat --ports");
    }
}
