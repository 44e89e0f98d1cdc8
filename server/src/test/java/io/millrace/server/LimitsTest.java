package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("Limits of a server")
@Timeout(60)
class LimitsTest {
    private static final int STORM = 64;

    /** Counts those that are open, and the most there were. */
    private static class Counting implements ConnectionHandler {
        final AtomicInteger open = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();
        final AtomicInteger opened = new AtomicInteger();
        final LinkedBlockingQueue<String> errors = new LinkedBlockingQueue<>();
        final LinkedBlockingQueue<Connection> connected = new LinkedBlockingQueue<>();

        @Override
        public void onConnect(Connection connection) {
            opened.incrementAndGet();
            most.accumulateAndGet(open.incrementAndGet(), Math::max);
            connected.add(connection);
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {}

        @Override
        public void onDisconnect(Connection connection) {
            open.decrementAndGet();
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            errors.add(String.valueOf(failure.getMessage()));
        }
    }

    private static TcpServer.Builder on(String backend, int loops) {
        return TcpServer.builder()
                .reactors(Reactors.builder().reactors(loops).backend(backend).name("test"));
    }

    /** Many connect at once, from an address of their own each if so asked; returns those that are open. */
    private static List<Socket> storm(InetSocketAddress to, int addresses) throws Exception {
        List<Socket> sockets = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        CountDownLatch go = new CountDownLatch(1);
        for (int i = 0; i < STORM; i++) {
            int from = 1 + i % addresses;
            threads.add(Thread.ofPlatform().start(() -> {
                Socket socket = new Socket();
                try {
                    socket.bind(
                            new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, (byte) from}), 0));
                    go.await();
                    socket.connect(to);
                } catch (IOException | InterruptedException e) {
                    throw new AssertionError(e);
                }
                synchronized (sockets) {
                    sockets.add(socket);
                }
            }));
        }
        go.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        return sockets;
    }

    private static void close(List<Socket> sockets) throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"epoll,1", "poll,1", "nio,1", "epoll,7"})
    @DisplayName("srv-2: maxConnections is exact on four loops, and its places are used again")
    void maxConnections(String backend, int most) throws Exception {
        Counting handler = new Counting();
        try (TcpServer server = on(backend, 4).maxConnections(most).start(handler)) {
            for (int round = 0; round < 4; round++) {
                int before = handler.opened.get();
                List<Socket> sockets = storm(server.address(), 1);
                await().until(() -> handler.opened.get() - before + handler.errors.size() >= STORM);
                assertThat(handler.most.get()).isEqualTo(most);
                assertThat(handler.errors.poll()).contains(most + " are open, which is the limit");
                handler.errors.clear();
                close(sockets);
                await().until(() -> ((Connections) server.context()).placesTaken() == 0);
                assertThat(handler.open).hasValue(0);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("srv-2: maxConnectionsPerAddress is exact on four loops, and forgets addresses that left")
    void perAddress(String backend) throws Exception {
        Counting handler = new Counting();
        try (TcpServer server = on(backend, 4).maxConnectionsPerAddress(2).start(handler)) {
            for (int round = 0; round < 4; round++) {
                int before = handler.opened.get();
                List<Socket> sockets = storm(server.address(), 8);
                await().until(() -> handler.opened.get() - before + handler.errors.size() == STORM);
                assertThat(handler.most.get()).isEqualTo(16);
                assertThat(server.context().connections())
                        .extracting(connection -> connection.remoteAddress().getAddress())
                        .hasSize(16)
                        .allSatisfy(address -> assertThat(server.context().connections())
                                .filteredOn(other ->
                                        other.remoteAddress().getAddress().equals(address))
                                .hasSize(2));
                assertThat(handler.errors.poll()).contains("2 from 127.0.0.").contains("maxConnectionsPerAddress");
                handler.errors.clear();
                close(sockets);
                await().until(() -> handler.open.get() == 0);
                await().until(() -> ((Connections) server.context()).addresses() == 0);
            }
        }
    }

    @Test
    @DisplayName("srv-2: after the admission is closed nobody is let in, and places are given back as before")
    void closedAdmission() {
        Connections connections = new Connections(new ServerSettings(), 2, Integer.MAX_VALUE);
        InetAddress anyone = InetAddress.getLoopbackAddress();
        assertThat(connections.admit(anyone)).isEqualTo(Connections.Admission.TAKEN);
        connections.closeAdmission();
        assertThat(connections.admit(anyone)).isEqualTo(Connections.Admission.CLOSED);
        connections.leave(anyone);
        assertThat(connections.placesTaken()).isZero();
        assertThat(connections.admit(anyone)).isEqualTo(Connections.Admission.CLOSED);
    }

    // ---- The budget ----

    private static List<Connection> take(Counting handler, int count) throws InterruptedException {
        List<Connection> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Connection connection = handler.connected.poll(10, TimeUnit.SECONDS);
            assertThat(connection).isNotNull();
            all.add(connection);
        }
        return all;
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-19: above the budget the connection that holds most is ended, and the others go on")
    void budget(Dispatch mode) throws Exception {
        Counting handler = new Counting();
        List<Socket> sockets = new ArrayList<>();
        try (TcpServer server =
                on("epoll", 2).dispatch(mode, 2).budget(64 << 20, 10).start(handler)) {
            for (int i = 0; i < 3; i++) {
                Socket socket = new Socket();
                socket.setReceiveBufferSize(32 << 10);
                socket.connect(server.address());
                sockets.add(socket);
            }
            List<Connection> all = take(handler, 3);
            // 8 and 50 MiB, of which the system takes some; then the third goes over it.
            all.get(0).send(ByteBuffer.allocate(8 << 20));
            for (int i = 0; i < 50; i++) {
                all.get(1).send(ByteBuffer.allocate(1 << 20));
            }
            await().until(() -> server.bytesSent() > 0);
            SendResult last = SendResult.QUEUED;
            for (int i = 0; i < 100 && !all.get(1).isClosed(); i++) {
                last = all.get(2).send(ByteBuffer.allocate(256 << 10));
            }
            assertThat(handler.errors.poll(10, TimeUnit.SECONDS))
                    .contains("closed " + all.get(1))
                    .contains("more than the budget of " + (64 << 20));
            await().until(() -> handler.open.get() == 2);
            assertThat(last).isNotEqualTo(SendResult.CLOSED);
            assertThat(all.get(0).isClosed()).isFalse();
            assertThat(all.get(2).isClosed()).isFalse();
            // What is left is what the others hold, and nothing when they are gone.
            Budget budget = ((Connections) server.context()).budget();
            assertThat(budget.bytes()).isBetween(1L, 64L << 20);
            all.get(0).abort();
            all.get(2).abort();
            await().until(() -> handler.open.get() == 0);
            await().untilAsserted(() -> assertThat(budget.bytes()).isZero());
        }
        close(sockets);
    }

    @Test
    @DisplayName(
            "srv-19: above the budget of files the connection that holds most of them is ended, and they are closed")
    void files(@TempDir Path directory) throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[1 << 20]);
        Counting handler = new Counting();
        try (TcpServer server = on("epoll", 2).budget(1 << 30, 20).start(handler);
                Socket first = new Socket();
                Socket second = new Socket()) {
            for (Socket socket : List.of(first, second)) {
                socket.setReceiveBufferSize(32 << 10);
                socket.connect(server.address());
            }
            List<Connection> all = take(handler, 2);
            Budget budget = ((Connections) server.context()).budget();
            for (int i = 0; i < 8; i++) {
                all.get(0).sendFile(file);
            }
            for (int i = 0; i < 100 && !all.get(1).isClosed(); i++) {
                all.get(1).sendFile(file);
            }
            assertThat(handler.errors.poll(10, TimeUnit.SECONDS))
                    .contains("closed " + all.get(1))
                    .contains("more than the budget of 20");
            assertThat(all.get(0).isClosed()).isFalse();
            await().until(() -> handler.open.get() == 1);
            await().until(() -> budget.files() <= 8);
            all.get(0).abort();
            await().until(() -> budget.files() == 0);
        }
    }

    @Test
    @DisplayName("srv-19: an echo that the system takes at once touches no count that connections share")
    void echoCountsNothing() {
        AtomicInteger charges = new AtomicInteger();
        SendGate gate = new SendGate() {
            @Override
            void lookAgain() {}

            @Override
            void charge(long bytes) {
                charges.incrementAndGet();
            }
        };
        // What other dispatches hand over, and the loop sends on: less than a grain.
        for (int i = 0; i < 1_000; i++) {
            assertThat(gate.announce(64, 1 << 20)).isEqualTo(SendGate.Admission.TAKEN);
            gate.arrived();
            gate.release(64);
        }
        assertThat(charges).hasValue(0);
        gate.hold(10_000);
        assertThat(charges).hasValue(1);
        gate.release(10_000);
        assertThat(charges).hasValue(2);
    }

    /** Holds a loop until it is closed. */
    private record Held(CountDownLatch open) implements AutoCloseable {
        static Held of(Reactors loops) throws InterruptedException {
            CountDownLatch entered = new CountDownLatch(1);
            CountDownLatch open = new CountDownLatch(1);
            loops.execute(() -> {
                entered.countDown();
                try {
                    open.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            });
            assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
            return new Held(open);
        }

        @Override
        public void close() {
            open.countDown();
        }
    }

    private static Reactors oneLoop() {
        return Reactors.builder().reactors(1).withoutWatchdog().open();
    }

    @Test
    @DisplayName("srv-19: who holds most files is ended for all, though its loop does not turn before others send more")
    void oneVictimOfFiles(@TempDir Path directory) throws Exception {
        Path large = Files.write(directory.resolve("large"), new byte[8 << 20]);
        Path small = Files.write(directory.resolve("small"), new byte[20_000]);
        Counting handler = new Counting();
        List<Socket> sockets = new ArrayList<>();
        try (Reactors loops = oneLoop();
                TcpServer server =
                        TcpServer.builder().manager(loops).budget(1 << 30, 10).start(handler)) {
            for (int i = 0; i < 4; i++) {
                sockets.add(new Socket(
                        server.address().getAddress(), server.address().getPort()));
            }
            List<Connection> all = take(handler, 4);
            for (int i = 0; i < 10; i++) {
                all.get(0).sendFile(large);
            }
            try (Held held = Held.of(loops)) {
                for (Connection healthy : all.subList(1, 4)) {
                    assertThat(healthy.sendFile(small)).isNotEqualTo(SendResult.CLOSED);
                }
                assertThat(held.open().getCount()).isEqualTo(1);
            }
            await().until(() -> handler.open.get() == 3);
            assertThat(handler.errors).hasSize(1);
            assertThat(all.subList(1, 4)).noneMatch(Connection::isClosed);
            await().until(() -> ((Connections) server.context()).budget().files() == 0);
        }
        close(sockets);
    }

    @Test
    @DisplayName(
            "srv-19: one that is ended at its own limit counts as released, so nobody else is ended for what it holds")
    void endedAtItsOwnLimit() throws Exception {
        Counting handler = new Counting();
        List<Socket> sockets = new ArrayList<>();
        try (Reactors loops = oneLoop();
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .waterMarks(0, 1 << 20, 8 << 20)
                        .budget(10 << 20, 100)
                        .start(handler)) {
            for (int i = 0; i < 2; i++) {
                sockets.add(new Socket(
                        server.address().getAddress(), server.address().getPort()));
            }
            List<Connection> all = take(handler, 2);
            try (Held held = Held.of(loops)) {
                while (all.get(0).send(ByteBuffer.allocate(1 << 20)) != SendResult.CLOSED) {
                    assertThat(held.open().getCount()).isEqualTo(1);
                }
                assertThat(all.get(1).send(ByteBuffer.allocate(3 << 20))).isNotEqualTo(SendResult.CLOSED);
            }
            await().until(() -> handler.open.get() == 1);
            assertThat(handler.errors).hasSize(1);
            assertThat(all.get(1).isClosed()).isFalse();
        }
        close(sockets);
    }

    @Test
    @DisplayName(
            "srv-2: a place is free when onDisconnect has returned, so a handler that counts finds no more than the limit")
    void placeAfterTheLastCall() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch mayReturn = new CountDownLatch(1);
        Counting handler = new Counting() {
            @Override
            public void onDisconnect(Connection connection) {
                entered.countDown();
                try {
                    mayReturn.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                super.onDisconnect(connection);
            }
        };
        try (TcpServer server =
                on("epoll", 2).dispatch(Dispatch.POOL, 4).maxConnections(1).start(handler)) {
            new Socket(server.address().getAddress(), server.address().getPort()).close();
            assertThat(entered.await(10, TimeUnit.SECONDS)).isTrue();
            try (Socket second =
                    new Socket(server.address().getAddress(), server.address().getPort())) {
                assertThat(handler.errors.poll(10, TimeUnit.SECONDS)).contains("1 are open, which is the limit");
                assertThat(second.getInputStream().read()).isEqualTo(-1);
            }
            mayReturn.countDown();
            await().until(() -> ((Connections) server.context()).placesTaken() == 0);
            try (Socket third =
                    new Socket(server.address().getAddress(), server.address().getPort())) {
                await().until(() -> handler.opened.get() == 2);
                assertThat(third.isConnected()).isTrue();
            }
            assertThat(handler.most).hasValue(1);
        }
    }
}
