package io.millrace.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.engine.Reactors;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.BindException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("srv-14: a server for datagrams")
@Timeout(60)
class UdpServerTest {
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : opened.reversed()) {
            one.close();
        }
    }

    private UdpServer.Builder server(String backend, int loops) {
        return UdpServer.builder()
                .reactors(Reactors.builder().reactors(loops).backend(backend).withoutWatchdog());
    }

    private UdpServer keep(UdpServer server) {
        opened.add(server);
        return server;
    }

    private DatagramSocket socket() throws IOException {
        DatagramSocket socket = new DatagramSocket();
        socket.setSoTimeout(20_000);
        socket.setReceiveBufferSize(1 << 20);
        opened.add(socket);
        return socket;
    }

    private static void send(DatagramSocket from, InetSocketAddress to, byte[] bytes) throws IOException {
        from.send(new DatagramPacket(bytes, bytes.length, to));
    }

    private static void send(DatagramSocket from, UdpServer to, String text) throws IOException {
        send(from, to.address(), text.getBytes(US_ASCII));
    }

    private static String receive(DatagramSocket at) throws IOException {
        DatagramPacket packet = new DatagramPacket(new byte[65_535], 65_535);
        at.receive(packet);
        return new String(packet.getData(), 0, packet.getLength(), US_ASCII);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("srv-14: it answers each datagram to its sender, also empty and long ones, and counts them")
    void echo(String backend) throws Exception {
        UdpServer server = keep(server(backend, 1).start((from, data) -> from.reply(data)));
        DatagramSocket one = socket();
        DatagramSocket two = socket();
        for (int i = 0; i < 200; i++) {
            send(one, server, "one " + i);
            send(two, server, "two " + i);
            assertThat(receive(one)).isEqualTo("one " + i);
            assertThat(receive(two)).isEqualTo("two " + i);
        }
        send(one, server, "");
        assertThat(receive(one)).isEmpty();
        String large = "x".repeat(60_000);
        send(two, server, large);
        assertThat(receive(two)).isEqualTo(large);
        await().until(() -> server.datagramsSent() == 402);
        assertThat(server.datagramsReceived()).isEqualTo(402);
        assertThat(server.bytesReceived()).isEqualTo(server.bytesSent()).isGreaterThan(60_000);
        assertThat(server.datagramsDropped()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("srv-14: what comes at once is answered in order, however many there are")
    void bursts(String backend) throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        UdpServer server = keep(server(backend, 1).maxDatagram(100).start((from, data) -> {
            sent.await();
            from.reply(data);
        }));
        DatagramSocket socket = socket();
        for (int i = 0; i < 150; i++) {
            send(socket, server, "" + i);
        }
        sent.countDown();
        for (int i = 0; i < 150; i++) {
            assertThat(receive(socket)).isEqualTo("" + i);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("srv-14: what comes at once is shown, also if nothing is sent that would wake the loop")
    void silentBursts(String backend) throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        LinkedBlockingQueue<String> shown = new LinkedBlockingQueue<>();
        UdpServer server = keep(server(backend, 1).maxDatagram(100).start((from, data) -> {
            sent.await();
            shown.add(US_ASCII.decode(data).toString());
        }));
        DatagramSocket socket = socket();
        for (int i = 0; i < 150; i++) {
            send(socket, server, "" + i);
        }
        sent.countDown();
        for (int i = 0; i < 150; i++) {
            assertThat(shown.poll(10, TimeUnit.SECONDS)).isEqualTo("" + i);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("srv-14: each datagram has its own sender, and may be answered several times")
    void senders(String backend) throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        UdpServer server = keep(server(backend, 1).start((from, data) -> {
            sent.await();
            for (int i = 0; i < 3; i++) {
                assertThat(from.reply(from.sender().getPort() + " " + i)).isTrue();
            }
        }));
        List<DatagramSocket> sockets = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            sockets.add(socket());
            send(sockets.getLast(), server, "x");
        }
        sent.countDown();
        for (DatagramSocket socket : sockets) {
            for (int i = 0; i < 3; i++) {
                assertThat(receive(socket)).isEqualTo(socket.getLocalPort() + " " + i);
            }
        }
        assertThat(server.datagramsDropped()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("srv-14: one that is too long is counted and not shown; an answer that is too long is refused")
    void tooLong(String backend) throws Exception {
        LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
        UdpServer server = keep(server(backend, 1).maxDatagram(10).start(new DatagramHandler() {
            @Override
            public void onDatagram(Datagram from, ByteBuffer data) {
                from.reply(ByteBuffer.allocate(data.remaining() + 1));
                from.reply("ok");
            }

            @Override
            public void onError(Throwable failure) {
                log.add(String.valueOf(failure.getMessage()));
            }
        }));
        DatagramSocket socket = socket();
        send(socket, server, "12345678901");
        send(socket, server, "123456789");
        assertThat(receive(socket)).hasSize(10);
        assertThat(receive(socket)).isEqualTo("ok");
        assertThat(server.datagramsTooLong()).isEqualTo(1);
        send(socket, server, "1234567890");
        assertThat(log.poll(10, TimeUnit.SECONDS)).contains("at most 10");
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("srv-14: answers that the system refuses are dropped and told of, however many; others are sent")
    void refusedAnswers(String backend) throws Exception {
        LinkedBlockingQueue<Throwable> told = new LinkedBlockingQueue<>();
        UdpServer server = keep(server(backend, 1).maxDatagram(65_535).start(new DatagramHandler() {
            @Override
            public void onDatagram(Datagram from, ByteBuffer data) {
                if (data.get(0) == 'x') {
                    from.reply(ByteBuffer.allocate(65_530)); // more than IPv4 can carry
                } else {
                    from.reply(data);
                }
            }

            @Override
            public void onError(Throwable failure) {
                told.add(failure);
            }
        }));
        DatagramSocket socket = socket();
        int refused = 40; // more than wait for one system call
        for (int i = 0; i < refused; i++) {
            send(socket, server, "x");
            assertThat(told.poll(10, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
        }
        for (int i = 0; i < 3; i++) {
            send(socket, server, "good");
            assertThat(receive(socket)).isEqualTo("good");
        }
        await().until(() -> server.datagramsSent() == 3);
        assertThat(server.datagramsDropped()).isEqualTo(refused);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("srv-14: of answers that go out together, all are sent and counted but the one that is refused")
    void refusedAmongOthers(String backend) throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        LinkedBlockingQueue<Throwable> told = new LinkedBlockingQueue<>();
        UdpServer server = keep(server(backend, 1).maxDatagram(65_535).start(new DatagramHandler() {
            @Override
            public void onDatagram(Datagram from, ByteBuffer data) throws Exception {
                sent.await();
                from.reply(data.remaining() == 1 ? ByteBuffer.allocate(65_530) : data);
            }

            @Override
            public void onError(Throwable failure) {
                told.add(failure);
            }
        }));
        DatagramSocket socket = socket();
        for (int i = 95; i < 125; i++) {
            send(socket, server, i == 100 ? "x" : "number " + i);
        }
        sent.countDown();
        int bytes = 0;
        for (int i = 95; i < 125; i++) {
            if (i != 100) {
                assertThat(receive(socket)).isEqualTo("number " + i);
                bytes += ("number " + i).length();
            }
        }
        assertThat(told.poll(10, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
        int all = bytes;
        await().until(() -> server.datagramsSent() == 29);
        await().untilAsserted(() -> assertThat(server.bytesSent()).isEqualTo(all));
        assertThat(server.datagramsDropped()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("srv-14: over IPv6 as over IPv4, also answers that come later")
    void ipv6(String backend) throws Exception {
        InetAddress loopback = InetAddress.getByName("::1");
        assumeTrue(NetworkInterface.getByInetAddress(loopback) != null, "no IPv6 here");
        UdpServer server = keep(server(backend, 1)
                .address(new InetSocketAddress(loopback, 0))
                .start((from, data) -> {
                    from.reply(data);
                    from.server().send(from.sender(), ByteBuffer.wrap("later".getBytes(US_ASCII)));
                }));
        DatagramSocket socket = new DatagramSocket(new InetSocketAddress(loopback, 0));
        opened.add(socket);
        socket.setSoTimeout(20_000);
        send(socket, server, "hello");
        assertThat(Set.of(receive(socket), receive(socket))).containsExactlyInAnyOrder("hello", "later");
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "nio"})
    @DisplayName("srv-14: a handler that throws is told so, and the next datagram is served")
    void throwing(String backend) throws Exception {
        LinkedBlockingQueue<Throwable> told = new LinkedBlockingQueue<>();
        UdpServer server = keep(server(backend, 1).start(new DatagramHandler() {
            @Override
            public void onDatagram(Datagram from, ByteBuffer data) throws Exception {
                if (data.get(0) == 'x') {
                    throw new IOException("on purpose");
                }
                from.reply(data);
            }

            @Override
            public void onError(Throwable failure) {
                told.add(failure);
                throw new IllegalStateException("this, too");
            }
        }));
        DatagramSocket socket = socket();
        send(socket, server, "x");
        assertThat(told.poll(10, TimeUnit.SECONDS)).hasMessage("on purpose");
        send(socket, server, "y");
        assertThat(receive(socket)).isEqualTo("y");
    }

    @Test
    @DisplayName("srv-14: a datagram is of no use after its call; a late answer is sent by the server, from any thread")
    void lateAnswers() throws Exception {
        AtomicReference<Datagram> kept = new AtomicReference<>();
        LinkedBlockingQueue<InetSocketAddress> senders = new LinkedBlockingQueue<>();
        UdpServer server = keep(server("epoll", 2).start((from, data) -> {
            kept.set(from);
            senders.add(from.sender());
        }));
        DatagramSocket socket = socket();
        send(socket, server, "x");
        InetSocketAddress sender = senders.poll(10, TimeUnit.SECONDS);
        await().untilAsserted(() -> assertThatThrownBy(() -> kept.get().reply("late"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("UdpServer.send"));
        for (int i = 0; i < 3; i++) {
            assertThat(server.send(sender, ByteBuffer.wrap("late".getBytes(US_ASCII))))
                    .isTrue();
            assertThat(receive(socket)).isEqualTo("late");
        }
        server.close();
        assertThat(server.send(sender, ByteBuffer.allocate(1))).isFalse();
    }

    @Test
    @DisplayName("srv-14: a datagram whose bytes cannot be copied does not count as one that waits")
    void notCopied() throws Exception {
        UdpServer server = keep(server("epoll", 1).maxPending(1).start((from, data) -> {}));
        DatagramSocket peer = socket();
        InetSocketAddress to = new InetSocketAddress(server.address().getAddress(), peer.getLocalPort());
        ByteBuffer gone;
        try (Arena arena = Arena.ofShared()) {
            gone = arena.allocate(1).asByteBuffer();
        }
        assertThatThrownBy(() -> server.send(to, gone)).isInstanceOf(IllegalStateException.class);
        assertThat(server.send(to, ByteBuffer.allocate(1))).isTrue();
    }

    @Test
    @DisplayName("srv-14: of what other threads send, only so many wait for a loop, and others are dropped")
    void pending() throws Exception {
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch held = new CountDownLatch(1);
        UdpServer server = keep(server("epoll", 1).maxPending(3).maxDatagram(10).start((from, data) -> {
            called.countDown();
            held.await();
        }));
        DatagramSocket socket = socket();
        send(socket, server, "x");
        called.await();
        InetSocketAddress to = new InetSocketAddress(InetAddress.getLoopbackAddress(), socket.getLocalPort());
        for (int i = 0; i < 5; i++) {
            byte[] text = ("late " + i).getBytes(US_ASCII);
            assertThat(server.send(to, ByteBuffer.wrap(text))).isEqualTo(i < 3);
            Arrays.fill(text, (byte) '?'); // its bytes were taken
        }
        held.countDown();
        for (int i = 0; i < 3; i++) {
            assertThat(receive(socket)).isEqualTo("late " + i);
        }
        for (int i = 0; i < 5; i++) {
            int number = i;
            await().until(() -> server.send(to, ByteBuffer.wrap(("again " + number).getBytes(US_ASCII))));
            assertThat(receive(socket)).isEqualTo("again " + i);
        }
        assertThatThrownBy(() -> server.send(to, ByteBuffer.allocate(11)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 10");
        assertThatThrownBy(() -> server.send(InetSocketAddress.createUnresolved("a", 1), ByteBuffer.allocate(1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not resolved");
    }

    @Test
    @DisplayName("srv-14: senders are spread over the loops, each always to the same one")
    void spread() throws Exception {
        UdpServer server = keep(server("epoll", 2)
                .start((from, data) -> from.reply(Thread.currentThread().getName())));
        assertThat(server.loopCount()).isEqualTo(2);
        Set<String> loops = new HashSet<>();
        for (int i = 0; i < 64 && loops.size() < 2; i++) {
            DatagramSocket socket = socket();
            send(socket, server, "?");
            String first = receive(socket);
            send(socket, server, "?");
            assertThat(receive(socket)).isEqualTo(first);
            loops.add(first);
        }
        assertThat(loops).hasSize(2);
        assertThatThrownBy(
                        () -> keep(server("epoll", 2).address(server.address()).start((from, data) -> {})))
                .as("a port is not shared with another server")
                .isInstanceOf(BindException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("srv-14: a shutdown serves what has arrived, and then the port is free")
    void shutdown(String backend) throws Exception {
        CountDownLatch sent = new CountDownLatch(1);
        UdpServer server = keep(server(backend, 1).maxDatagram(100).start((from, data) -> {
            sent.await();
            from.reply(data);
        }));
        DatagramSocket socket = socket();
        for (int i = 0; i < 100; i++) {
            send(socket, server, "" + i);
        }
        Thread release = Thread.ofPlatform().start(() -> {
            await().until(() -> server.toString().endsWith("closing"));
            sent.countDown();
        });
        ShutdownResult how = server.shutdown(Duration.ofSeconds(20));
        release.join();
        assertThat(how.drained()).isTrue();
        assertThat(how.remaining()).isEmpty();
        for (int i = 0; i < 100; i++) {
            assertThat(receive(socket)).isEqualTo("" + i);
        }
        keep(server(backend, 1).address(server.address()).start((from, data) -> {}));
    }

    @Test
    @DisplayName("srv-14: a shutdown does not wait for a handler that does not return, and names it")
    void heldShutdown() throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch called = new CountDownLatch(1);
        UdpServer server = keep(server("epoll", 1).start((from, data) -> {
            called.countDown();
            held.await();
        }));
        send(socket(), server, "x");
        called.await();
        ShutdownResult how = server.shutdown(Duration.ofMillis(50));
        assertThat(how.drained()).isFalse();
        assertThat(how.remaining()).isNotEmpty();
        held.countDown();
    }

    @Test
    @DisplayName("srv-14: a shutdown from the handler returns at once, and the server ends")
    void shutdownInside() throws Exception {
        UdpServer server =
                keep(server("epoll", 1).start((from, data) -> from.server().shutdown(Duration.ofSeconds(10))));
        send(socket(), server, "x");
        await().until(() -> server.toString().endsWith(", closed"));
    }
}
