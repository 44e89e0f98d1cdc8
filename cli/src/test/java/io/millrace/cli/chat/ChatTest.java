package io.millrace.cli.chat;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cli.Cli;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("millrace serve chat")
class ChatTest {
    /** One who chats. */
    private static final class Person implements AutoCloseable {
        final Socket socket;
        final BufferedReader in;

        Person(int port) throws IOException {
            socket = Cli.connect(port);
            in = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
            hears("* your name?");
        }

        void says(String line) throws IOException {
            socket.getOutputStream().write((line + "\n").getBytes(UTF_8));
        }

        void sends(byte... bytes) throws IOException {
            socket.getOutputStream().write(bytes);
        }

        void hears(String... lines) throws IOException {
            for (String line : lines) {
                assertThat(in.readLine()).isEqualTo(line);
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }

    @Test
    @DisplayName("mill-9, mr-9: everybody hears everybody: names, joining, lines and leaving")
    void everybodyHearsEverybody() throws Exception {
        try (Cli server = Cli.serve("chat", "--loops", "2")) {
            int port = server.port();
            try (Person anna = new Person(port);
                    Person ben = new Person(port)) {
                anna.says("anna\r");
                anna.hears("* anna joined, 1 here");
                ben.hears("* anna joined, 1 here");
                ben.says("anna");
                ben.hears("* anna is here already; your name?");
                ben.says("  ");
                ben.hears("* a name has 1 to 32 letters, and no * or / first; your name?");
                ben.says("ben");
                anna.hears("* ben joined, 2 here");
                ben.hears("* ben joined, 2 here");
                anna.says("grüß dich\u0007");
                anna.says("");
                anna.says("/who");
                ben.hears("anna: grüß dich");
                anna.hears("anna: grüß dich", "* here: anna, ben");
                anna.says("/quit");
                anna.hears((String) null);
                ben.hears("* anna left, 1 here");
                ben.says("x".repeat(1025));
                ben.hears((String) null);
            }
            server.signal("TERM");
            assertThat(server.rest()).singleElement().asString().startsWith("stopped by SIGTERM: 2 connections, ");
            assertThat(server.exit()).isZero();
        }
    }

    @Test
    @DisplayName("What somebody says cannot command the terminals of others, and names that look the same are the same")
    void nothingButText() throws Exception {
        try (Cli server = Cli.serve("chat")) {
            int port = server.port();
            try (Person anna = new Person(port);
                    Person ben = new Person(port)) {
                anna.says("an\u200Bna\u202E");
                anna.hears("* anna joined, 1 here");
                ben.hears("* anna joined, 1 here");
                ben.says("\uFEFFanna\u009B");
                ben.hears("* anna is here already; your name?");
                ben.says("\u2066\u2069\u200D");
                ben.hears("* a name has 1 to 32 letters, and no * or / first; your name?");
                ben.says("\u200B*ben");
                ben.hears("* a name has 1 to 32 letters, and no * or / first; your name?");
                anna.sends(new byte[] {
                    'r', (byte) 0xC2, (byte) 0x9B, '3', '1', 'm', (byte) 0xC2, (byte) 0x9D, 27, 127, '\n'
                });
                anna.hears("anna: r31m");
                anna.sends(new byte[] {(byte) 0x9B, 'x', (byte) 0xC3, '(', '\n'});
                anna.hears("anna: \uFFFDx\uFFFD(");
                ben.hears("anna: r31m", "anna: \uFFFDx\uFFFD(");
            }
        }
    }

    @Test
    @DisplayName("mill-8, mill-9: who does not read is cut off, and the others hear every line meanwhile")
    void slowReader() throws Exception {
        try (Cli server = Cli.serve("chat")) {
            int port = server.port();
            try (SocketChannel deaf = SocketChannel.open()) {
                deaf.setOption(StandardSocketOptions.SO_RCVBUF, 4096);
                deaf.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                try (Person anna = new Person(port);
                        Person ben = new Person(port)) {
                    deaf.write(ByteBuffer.wrap("deaf\n".getBytes(UTF_8)));
                    anna.hears("* deaf joined, 1 here");
                    ben.hears("* deaf joined, 1 here");
                    anna.says("anna");
                    anna.hears("* anna joined, 2 here");
                    ben.hears("* anna joined, 2 here");
                    String line = "x".repeat(1000);
                    // As much as the kernel keeps, and as much again as the server does; until the room is told that
                    // somebody left.
                    String heard = "";
                    for (int i = 0; i < 20_000 && !heard.equals("* deaf left, 1 here"); i++) {
                        anna.says(line);
                        heard = ben.in.readLine();
                        assertThat(anna.in.readLine()).isEqualTo(heard);
                    }
                    assertThat(heard).isEqualTo("* deaf left, 1 here");
                }
            }
        }
    }
}
