package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.EventManager;
import io.millrace.engine.EventManagers;
import io.millrace.engine.Reactors;
import io.millrace.poll.Clock;
import io.millrace.server.Connection;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("grpc-16: servers and clients run on the manager they are given")
@Timeout(60)
class ServerOnManagersTest {
    private static void echoOver(EventManager manager) throws Exception {
        byte[] sent = new byte[1 << 20];
        new Random(16).nextBytes(sent);
        try (TcpServer server =
                        TcpServer.builder().manager(manager).start((connection, data) -> connection.send(data));
                TcpClient client = TcpClient.builder().manager(manager).open()) {
            try (Socket socket = new Socket(
                    InetAddress.getLoopbackAddress(), server.address().getPort())) {
                Thread writer = Thread.ofVirtual().start(() -> {
                    try {
                        socket.getOutputStream().write(sent);
                        socket.shutdownOutput();
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                });
                byte[] got = socket.getInputStream().readAllBytes();
                writer.join();
                assertThat(got.length).isEqualTo(sent.length);
                assertThat(Arrays.equals(got, sent)).isTrue();
            }
            LinkedBlockingQueue<Integer> got = new LinkedBlockingQueue<>();
            Connection connection = client.connect(server.address(), (c, data) -> {
                        while (data.hasRemaining()) {
                            got.add((int) data.get());
                        }
                    })
                    .get(10, TimeUnit.SECONDS);
            connection.send(ByteBuffer.wrap(new byte[] {1, 2, 3}));
            for (int i = 1; i <= 3; i++) {
                assertThat(got.poll(10, TimeUnit.SECONDS)).isEqualTo(i);
            }
        }
    }

    @Test
    @DisplayName("a deliberately different one")
    void different() throws Exception {
        try (ThreadyManager manager = new ThreadyManager(Clock.system(), InstantSource.system())) {
            echoOver(manager);
        }
    }

    @Test
    @DisplayName("a deliberately different one, with files larger than their share of a turn")
    void filesOnADifferentOne(@TempDir Path directory) throws Exception {
        byte[] content = new byte[5 << 20];
        new Random(5).nextBytes(content);
        Path file = Files.write(directory.resolve("file"), content);
        try (ThreadyManager manager = new ThreadyManager(Clock.system(), InstantSource.system());
                TcpServer server = TcpServer.builder().manager(manager).start((connection, data) -> {
                    connection.sendFile(file);
                    connection.close();
                });
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            socket.getOutputStream().write(1);
            assertThat(Arrays.equals(socket.getInputStream().readAllBytes(), content))
                    .isTrue();
        }
    }

    @Test
    @DisplayName("a deliberately different one, on which a peer that sends without end does not keep others waiting")
    void sharesOnADifferentOne() throws Exception {
        long enough = 64 << 20;
        CompletableFuture<Long> readBefore = new CompletableFuture<>();
        ByteBuffer bytes = ByteBuffer.allocateDirect(64 << 10);
        AtomicLong read = new AtomicLong();
        try (ThreadyManager manager = new ThreadyManager(Clock.system(), InstantSource.system());
                SocketChannel endless = SocketChannel.open();
                SocketChannel quiet = SocketChannel.open();
                TcpServer server = TcpServer.builder().manager(manager).start((connection, data) -> {
                    if (connection.remoteAddress().equals(quiet.getLocalAddress())) {
                        readBefore.complete(read.get());
                        return;
                    }
                    // All on the loop: there is always more to read, and the other one has sent at the beginning.
                    if (read.getAndAdd(data.remaining()) == 0) {
                        quiet.write(ByteBuffer.allocate(1));
                    }
                    while (read.get() < enough && endless.write(bytes) > 0) {
                        bytes.clear();
                    }
                })) {
            endless.connect(server.address());
            quiet.connect(server.address());
            endless.configureBlocking(false);
            endless.write(ByteBuffer.allocate(1));
            assertThat(readBefore.get(30, TimeUnit.SECONDS)).isLessThan(enough / 2);
        }
    }

    @Test
    @DisplayName("ours")
    void ours() throws Exception {
        try (Reactors manager = Reactors.builder().reactors(2).open()) {
            echoOver(manager);
        }
    }

    @Test
    @DisplayName(
            "the global one, which is made at the first use, has daemon threads, and cannot be registered afterwards")
    void global() throws Exception {
        echoOver(EventManagers.global());
        try (Reactors late = Reactors.builder().reactors(1).open()) {
            assertThatThrownBy(() -> EventManagers.register(late)).isInstanceOf(IllegalStateException.class);
        }
        assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> thread.getName().startsWith("millrace-0"))
                .hasSize(1)
                .allMatch(Thread::isDaemon);
    }
}
