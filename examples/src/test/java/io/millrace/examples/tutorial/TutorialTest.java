package io.millrace.examples.tutorial;

import static io.millrace.examples.Program.connect;
import static io.millrace.examples.Program.hear;
import static io.millrace.examples.Program.say;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.backplane.Backplane;
import io.millrace.engine.Reactors;
import io.millrace.examples.Program;
import io.millrace.server.DirectClient;
import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import io.millrace.server.TcpServer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URLConnection;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The steps of docs/tutorial, each run as its reader runs it. */
class TutorialTest {
    @ParameterizedTest
    @ValueSource(classes = {Chat1Echo.class, Direct1Echo.class})
    @DisplayName("step 1: an echo")
    void echo(Class<?> step) throws Exception {
        try (Program server = Program.start(step, "0");
                Socket ann = connect(server.port())) {
            say(ann, "hello");
            hear(ann, "hello");
            server.pressEnter();
            server.endsWell();
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                Chat2Lines.class,
                Direct2Lines.class,
                Chat3Limits.class,
                Direct3Limits.class,
                Chat4Timeouts.class,
                Direct4Timeouts.class
            })
    @DisplayName("steps 2 to 4: each line to everybody")
    void lines(Class<?> step) throws Exception {
        try (Program server = Program.start(step, "0")) {
            int port = server.port();
            try (Socket bob = connect(port)) {
                hear(bob, "Your name?");
                say(bob, "Bob");
                hear(bob, "Bob is here");
                try (Socket ann = connect(port)) {
                    hear(ann, "Your name?");
                    say(ann, "Ann");
                    hear(ann, "Ann is here");
                    say(ann, "hello");
                    hear(ann, "Ann: hello");
                }
                hear(bob, "Ann is here", "Ann: hello", "Ann has left");
            }
            server.pressEnter();
            server.endsWell();
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Chat3Limits.class, Direct3Limits.class})
    @DisplayName("step 3: names, lines and connections have limits")
    void limits(Class<?> step) throws Exception {
        try (Program server = Program.start(step, "0")) {
            int port = server.port();
            try (Socket ann = connect(port)) {
                hear(ann, "Your name?");
                say(ann, "x".repeat(21));
                hear(ann, "A name has 1 to 20 letters. Your name?");
                say(ann, "\u001b[2JAnn");
                hear(ann, "[2JAnn is here");
                say(ann, "x".repeat(1025));
                assertThat(ann.getInputStream().readAllBytes()).asString().isIn("", "[2JAnn has left\n");
            }
            Socket[] guests = new Socket[20];
            try {
                for (int i = 0; i < guests.length; i++) {
                    guests[i] = connect(port);
                    hear(guests[i], "Your name?");
                }
                try (Socket oneTooMany = connect(port)) {
                    assertThat(oneTooMany.getInputStream().read()).isEqualTo(-1);
                }
            } finally {
                for (Socket guest : guests) {
                    if (guest != null) {
                        guest.close();
                    }
                }
            }
        }
    }

    @Test
    @DisplayName("step 6: the test of the conversation, over the loopback")
    void directTest() throws Exception {
        try (DirectServer server = DirectServer.start(
                        Direct4Timeouts.settings(0), socket -> ChatTalk.talk(socket, Duration.ofSeconds(2)));
                DirectClient client = DirectClient.open();
                DirectSocket ann = client.connect(server.address())) {
            assertThat(ann.readLine(100)).isEqualTo("Your name?");
            ann.write("An");
            ann.flush();
            ann.write("n\nhello\n");
            assertThat(ann.readLine(100)).isEqualTo("Ann is here");
            assertThat(ann.readLine(100)).isEqualTo("Ann: hello");
            assertThat(ann.readLine(100)).isEqualTo("Ann has left");
            assertThat(ann.readLine(100)).isEqualTo("You have been silent for too long.");
            assertThat(ann.readLine(100)).isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Chat5Tls.class, Direct5Tls.class})
    @DisplayName("step 5: the same through TLS")
    void tls(Class<?> step, @TempDir Path folder) throws Exception {
        String page = Files.readString(Path.of("../docs/tutorial/callbacks.md"));
        String keytool = page.lines()
                .filter(line -> line.startsWith("keytool "))
                .findFirst()
                .orElseThrow();
        String[] command = keytool.split(" ");
        command[0] = Path.of(System.getProperty("java.home"), "bin", command[0]).toString();
        Process made = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(made.getInputStream().readAllBytes());
        assertThat(made.waitFor(60, TimeUnit.SECONDS)).as(said).isTrue();
        assertThat(made.exitValue()).as(said).isZero();

        try (Program server = Program.startIn(folder, step, "0");
                SSLSocket ann = (SSLSocket) trusting(folder.resolve("chat.p12"))
                        .getSocketFactory()
                        .createSocket(InetAddress.getLoopbackAddress(), server.port())) {
            ann.setSoTimeout(30_000);
            hear(ann, "Your name?");
            say(ann, "Ann");
            hear(ann, "Ann is here");
            server.pressEnter();
            server.endsWell();
        }
    }

    private static SSLContext trusting(Path file) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, "changeit".toCharArray());
        }
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("chat", keys.getCertificate("chat"));
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    @ParameterizedTest
    @ValueSource(classes = {Chat7Watched.class, Direct7Watched.class})
    @DisplayName("step 7: a console and metrics")
    void watched(Class<?> step) throws Exception {
        try (Program server = Program.start(step, "0");
                Socket ann = connect(server.port())) {
            hear(ann, "Your name?");
            URI console = URI.create(server.line().replaceFirst("console on ", ""));
            String token = console.getFragment().replaceFirst("token=", "");
            URLConnection metrics = console.resolve("/metrics").toURL().openConnection();
            metrics.setRequestProperty("Authorization", "Bearer " + token);
            assertThat(new String(metrics.getInputStream().readAllBytes()))
                    .contains("millrace_connections")
                    .contains("server=\"chat\"");
            server.pressEnter();
            assertThat(server.line()).startsWith("1 connections open");
            server.endsWell();
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Chat8Ended.class, Direct8Ended.class})
    @EnabledOnOs({OS.LINUX, OS.MAC})
    @DisplayName("step 8: Ctrl-C ends it, and the guests are told")
    void ended(Class<?> step) throws Exception {
        try (Program server = Program.start(step, "0");
                Socket ann = connect(server.port())) {
            hear(ann, "Your name?");
            server.kill("INT");
            hear(ann, "The chat ends now.");
            assertThat(ann.getInputStream().read()).isEqualTo(-1);
            assertThat(server.lines()).containsExactly("stopped by SIGINT", "everything was sent");
            server.endsWell();
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {Chat9Nodes.class, Direct9Nodes.class})
    @EnabledOnOs({OS.LINUX, OS.MAC})
    @DisplayName("step 9: a node gives the last lines to those who come, and says when it ends")
    void node(Class<?> step) throws Exception {
        try (Program server = Program.start(step, "0")) {
            int port = server.port();
            try (Socket ann = connect(port)) {
                hear(ann, "Your name?");
                say(ann, "Ann");
                hear(ann, "Here: Ann");
                say(ann, "hello");
                hear(ann, "Ann: hello");
                try (Socket bob = connect(port)) {
                    hear(bob, "Your name?");
                    say(bob, "Bob");
                    hear(bob, "Here: Ann, Bob", "Ann: hello");
                }
                hear(ann, "Bob is here", "Bob has left");
                server.kill("INT");
                hear(ann, "This node ends now. Please come back.");
                assertThat(ann.getInputStream().read()).isEqualTo(-1);
            }
            assertThat(server.lines())
                    .hasSize(2)
                    .startsWith("stopped by SIGINT")
                    .last()
                    .asString()
                    .contains("drained=true");
            server.endsWell();
        }
    }

    @Test
    @DisplayName("step 9: a line reaches the guests of every node")
    void twoNodes() throws Exception {
        CompletableFuture<TcpServer> first = new CompletableFuture<>();
        CompletableFuture<DirectServer> second = new CompletableFuture<>();
        try (Reactors reactors = Reactors.open();
                Backplane one = Backplane.open("memory:tutorial", reactors);
                Backplane other = Backplane.open("memory:tutorial", reactors);
                SharedRoom here = new SharedRoom(one, () -> first.join().context());
                SharedRoom there = new SharedRoom(other, () -> second.join().context());
                TcpServer callbacks =
                        Chat4Timeouts.settings(0).manager(reactors).start(connection -> NodeGuest.in(here));
                DirectServer direct = DirectServer.start(
                        Direct4Timeouts.settings(0).manager(reactors), socket -> Direct9Nodes.talk(socket, there))) {
            first.complete(callbacks);
            second.complete(direct);
            try (Socket ann = connect(callbacks.address().getPort())) {
                hear(ann, "Your name?");
                say(ann, "Ann");
                hear(ann, "Here: Ann");
                say(ann, "hello");
                hear(ann, "Ann: hello");
                try (Socket bob = connect(direct.address().getPort())) {
                    hear(bob, "Your name?");
                    await().until(() -> other.topic("lobby").members().size() == 1); // Ann, by way of the other node
                    say(bob, "Bob");
                    hear(bob, "Here: Ann, Bob", "Ann: hello");
                    hear(ann, "Bob is here");
                    say(bob, "hi");
                    hear(bob, "Bob: hi");
                    hear(ann, "Bob: hi");
                }
                hear(ann, "Bob has left");
            }
        }
    }
}
