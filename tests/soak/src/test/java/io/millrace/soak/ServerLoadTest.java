package io.millrace.soak;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Reactors;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.OpenFiles;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A tenth of each figure in every build, all of it under {@code -Psoak}. */
@DisplayName("A server under load")
@Timeout(300)
class ServerLoadTest {
    private static final boolean SOAK = Boolean.getBoolean("millrace.soak");

    private static TcpServer.Builder builder() {
        return TcpServer.builder().reactors(Reactors.builder().reactors(2));
    }

    /** Counts what it is told, and echoes. */
    private static final class Counting implements ConnectionHandler {
        final AtomicInteger connects = new AtomicInteger();
        final AtomicInteger disconnects = new AtomicInteger();
        final AtomicInteger wrong = new AtomicInteger();

        @Override
        public void onConnect(Connection connection) {
            connects.incrementAndGet();
            if (connection.attachment() != null) {
                wrong.incrementAndGet();
            }
            connection.setAttachment("there");
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            if (connection.attachment() == null) {
                wrong.incrementAndGet();
            }
            connection.send(data);
        }

        @Override
        public void onDisconnect(Connection connection) {
            disconnects.incrementAndGet();
            if (connection.attachment() == null) {
                wrong.incrementAndGet();
            }
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            // Clients vanish here: each is a disconnect all the same.
        }
    }

    @Test
    @DisplayName(
            "mill-7: connections that come and go, some of them by a reset, are told of once each, and leave nothing"
                    + " behind")
    void churn() throws Exception {
        int count = SOAK ? 60_000 : 6_000;
        Counting handler = new Counting();
        try (TcpServer server = builder().start(handler)) {
            int sockets = sockets();
            Random random = new Random(7);
            for (int i = 0; i < count; i++) {
                try (SocketChannel client = SocketChannel.open(server.address())) {
                    switch (random.nextInt(4)) {
                        case 0 -> client.setOption(StandardSocketOptions.SO_LINGER, 0);
                        case 1 -> client.write(ByteBuffer.wrap(new byte[100]));
                        case 2 -> {
                            client.write(ByteBuffer.wrap(new byte[1]));
                            assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(1);
                        }
                        default -> client.shutdownOutput();
                    }
                }
            }
            Await.until(
                    "no connection and no descriptor is left",
                    () -> server.context().connections().isEmpty() && sockets() <= sockets);
            // One that was reset before it was accepted is never seen.
            assertThat(handler.connects.get()).isBetween(count * 9 / 10, count);
        }
        assertThat(handler.disconnects.get()).isEqualTo(handler.connects.get());
        assertThat(handler.wrong.get()).isZero();
    }

    private static int sockets() {
        return OpenFiles.count().getOrDefault("socket", 0);
    }

    @Test
    @DisplayName("mill-8: memory is bounded while a reader stops, and every byte comes in order afterwards")
    void stoppedReader() throws Exception {
        int size = SOAK ? 64 << 20 : 8 << 20;
        Duration stop = SOAK ? Duration.ofSeconds(10) : Duration.ofSeconds(1);
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        ConnectionHandler echo = new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                connected.complete(connection);
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.send(data);
            }
        };
        try (TcpServer server = builder().bufferSize(8_192).start(echo);
                Socket socket = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            AtomicLong sent = new AtomicLong();
            Thread writer = Thread.ofPlatform().start(() -> {
                try {
                    Random random = new Random(64);
                    byte[] chunk = new byte[8_192];
                    for (int at = 0; at < size; at += chunk.length) {
                        random.nextBytes(chunk);
                        socket.getOutputStream().write(chunk);
                        sent.addAndGet(chunk.length);
                    }
                    socket.shutdownOutput();
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            Connection connection = connected.get(10, TimeUnit.SECONDS);
            long heap = usedHeap();
            long direct = usedDirect();
            // The writer fills the kernel's buffers and the queue, and then it waits too.
            long deadline = System.nanoTime() + stop.toNanos();
            long most = 0;
            while (System.nanoTime() - deadline < 0) {
                most = Math.max(most, connection.queuedBytes());
                assertThat(new CountDownLatch(1).await(20, TimeUnit.MILLISECONDS))
                        .isFalse();
            }
            assertThat(most).isBetween(1L, 64 * 1024 + 8_192L);
            assertThat(usedHeap() - heap).isLessThan(8L << 20);
            assertThat(usedDirect() - direct).isLessThan(1L << 20);
            DataInputStream in = new DataInputStream(socket.getInputStream());
            Random random = new Random(64);
            byte[] expected = new byte[8_192];
            byte[] got = new byte[8_192];
            for (int at = 0; at < size; at += expected.length) {
                random.nextBytes(expected);
                in.readFully(got);
                assertThat(ByteBuffer.wrap(got)).isEqualTo(ByteBuffer.wrap(expected));
            }
            assertThat(in.read()).isEqualTo(-1);
            writer.join();
            assertThat(sent.get()).isEqualTo(size);
        }
    }

    private static long usedHeap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static long usedDirect() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    @Test
    @DisplayName("mill-7: very many connections are open at once, and all are served")
    void manyAtOnce() throws Exception {
        int count = SOAK ? 10_000 : 1_000;
        // In a process of its own: both ends would be too many descriptors for one.
        Process server = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FewDescriptorsServer.class.getName(),
                        "epoll")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        List<SocketChannel> clients = new ArrayList<>();
        try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
            InetSocketAddress address = new InetSocketAddress(
                    InetAddress.getLoopbackAddress(), Integer.parseInt(String.valueOf(out.readLine())));
            for (int i = 0; i < count; i++) {
                clients.add(SocketChannel.open(address));
            }
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < count; i++) {
                    clients.get(i).write(ByteBuffer.allocate(4).putInt(0, i ^ round));
                }
                for (int i = 0; i < count; i++) {
                    ByteBuffer got = ByteBuffer.allocate(4);
                    while (got.hasRemaining()) {
                        assertThat(clients.get(i).read(got)).isPositive();
                    }
                    assertThat(got.getInt(0)).isEqualTo(i ^ round);
                }
            }
            server.getOutputStream().close();
            assertThat(out.readLine()).isEqualTo("errors 0");
            assertThat(server.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            for (SocketChannel client : clients) {
                client.close();
            }
            server.destroyForcibly();
        }
    }

    @Test
    @DisplayName("mill-11: one byte at a time is served like any other, beside a flood")
    void oneByteAtATime() throws Exception {
        Counting handler = new Counting();
        try (TcpServer server = builder().start(handler);
                Socket slow = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort());
                Socket flood = new Socket(
                        InetAddress.getLoopbackAddress(), server.address().getPort())) {
            Semaphore stop = new Semaphore(0);
            Thread flooding = Thread.ofPlatform().start(() -> {
                byte[] chunk = new byte[64 * 1024];
                try {
                    while (!stop.tryAcquire()) {
                        flood.getOutputStream().write(chunk);
                        flood.getInputStream().readNBytes(chunk.length);
                    }
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            slow.setTcpNoDelay(true);
            for (int i = 0; i < 1_000; i++) {
                slow.getOutputStream().write(i);
                assertThat(slow.getInputStream().read()).isEqualTo(i & 0xff);
            }
            stop.release();
            flooding.join();
        }
    }
}
