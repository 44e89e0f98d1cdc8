package io.millrace.server.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.poll.Clock;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.SendResult;
import io.millrace.server.ServerContext;
import io.millrace.server.TcpServer;
import io.millrace.server.connection.StreamConnection;
import io.millrace.server.support.ServerSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
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

    @Test
    @DisplayName(
            "end-4: a connection that took its place before the admission was closed, and is added after it, is closed")
    void addedAfterAClose() throws Exception {
        Counting handler = new Counting();
        try (TcpServer server = on("epoll", 1).start(handler);
                Socket socket = new Socket()) {
            socket.connect(server.address());
            StreamConnection connection = (StreamConnection) take(handler, 1).getFirst();
            Connections others = new Connections(new ServerSettings(), 2, Integer.MAX_VALUE);
            assertThat(others.admit(InetAddress.getLoopbackAddress())).isEqualTo(Connections.Admission.TAKEN);
            others.closeAdmission();
            others.add(connection);
            assertThat(connection.isClosed()).isTrue();
        }
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
            SendBudget budget = ((Connections) server.context()).budget();
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
            SendBudget budget = ((Connections) server.context()).budget();
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
    @DisplayName("srv-2: who is turned away for its address takes no place")
    void turnedAwayTakesNoPlace() throws Exception {
        Connections connections = new Connections(new ServerSettings(), 2, 1);
        InetAddress one = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        InetAddress other = InetAddress.getByAddress(new byte[] {127, 0, 0, 2});
        assertThat(connections.admit(one)).isEqualTo(Connections.Admission.TAKEN);
        assertThat(connections.admit(one)).isEqualTo(Connections.Admission.ADDRESS_FULL);
        assertThat(connections.placesTaken()).isEqualTo(1);
        assertThat(connections.admit(other)).isEqualTo(Connections.Admission.TAKEN);
    }

    /** Connections whose loop sends nothing before a task of it has returned: so what waits is known to the byte. */
    private interface OnTheLoop {
        void run(ServerContext context, List<Connection> all) throws Exception;
    }

    private static void onTheLoop(int count, Counting handler, TcpServer.Builder builder, OnTheLoop task)
            throws Exception {
        List<Socket> sockets = new ArrayList<>();
        try (Reactors loops = Reactors.builder().reactors(1).name("test").open();
                TcpServer server = builder.manager(loops).start(handler)) {
            for (int i = 0; i < count; i++) {
                Socket socket = new Socket();
                socket.setReceiveBufferSize(32 << 10);
                socket.connect(server.address());
                sockets.add(socket);
            }
            List<Connection> all = take(handler, count);
            CompletableFuture<Void> done = new CompletableFuture<>();
            loops.execute(() -> {
                try {
                    task.run(server.context(), all);
                    done.complete(null);
                } catch (Throwable e) {
                    done.completeExceptionally(e);
                }
            });
            done.get(20, TimeUnit.SECONDS);
        } finally {
            close(sockets);
        }
    }

    @Test
    @DisplayName("srv-1: on the loop a send is admitted while what waits is within the limit, and not above it")
    void theLimitOnTheLoop() throws Exception {
        onTheLoop(2, new Counting(), TcpServer.builder().waterMarks(10, 20, 10_000), (context, all) -> {
            Connection connection = all.getFirst();
            assertThat(connection.send(ByteBuffer.allocate(10_000))).isEqualTo(SendResult.ABOVE_HIGH_WATER);
            assertThat(connection.send(ByteBuffer.allocate(1))).isEqualTo(SendResult.ABOVE_HIGH_WATER);
            ByteBuffer refused = ByteBuffer.allocate(1);
            assertThat(connection.send(refused)).isEqualTo(SendResult.CLOSED);
            assertThat(refused.remaining()).isEqualTo(1);
            assertThat(connection.isClosed()).isTrue();
            assertThat(all.get(1).isClosed()).isFalse();
        });
    }

    @Test
    @DisplayName("mill-9, srv-1: a broadcast counts those that take it, not one that it ends at its limit")
    void aBroadcastAtTheLimit() throws Exception {
        TcpServer.Builder builder = TcpServer.builder().waterMarks(10, 20, 10_000);
        onTheLoop(2, new Counting(), builder, (context, all) -> {
            all.getFirst().send(ByteBuffer.allocate(10_001));
            assertThat(context.broadcast(ByteBuffer.allocate(10))).isEqualTo(1);
            assertThat(all.getFirst().isClosed()).isTrue();
        });
    }

    private static void send(Connection connection, int kibibytes) {
        connection.send(ByteBuffer.allocate(kibibytes << 10));
    }

    @Test
    @DisplayName("srv-19: one victim draws no others after it, although it holds its memory until its loop has turned")
    void oneVictim() throws Exception {
        onTheLoop(2, new Counting(), TcpServer.builder().budget(4 << 20, 10), (context, all) -> {
            send(all.get(0), 3 << 10);
            send(all.get(1), 2 << 10);
            assertThat(all.get(0).isClosed()).isTrue();
            send(all.get(1), 512);
            assertThat(all.get(1).isClosed()).isFalse();
        });
    }

    @Test
    @DisplayName("srv-19: nobody is ended for what one holds that is aborted, until its loop comes to it")
    void abortedIsNoVictim() throws Exception {
        Counting handler = new Counting();
        List<Socket> sockets = new ArrayList<>();
        try (Reactors loops = Reactors.builder().reactors(1).name("test").open();
                TcpServer server =
                        TcpServer.builder().manager(loops).budget(64 << 20, 10).start(handler)) {
            for (int i = 0; i < 2; i++) {
                Socket socket = new Socket();
                socket.setReceiveBufferSize(32 << 10);
                socket.connect(server.address());
                sockets.add(socket);
            }
            List<Connection> all = take(handler, 2);
            CompletableFuture<Boolean> closed = new CompletableFuture<>();
            loops.execute(() -> {
                send(all.get(0), 50 << 10);
                all.get(0).abort();
                // What was asked for at the end of this turn is done before this is, in the order of the calls.
                ((StreamConnection) all.get(0)).loop().atEndOfTurn(() -> {
                    send(all.get(1), 30 << 10);
                    closed.complete(all.get(1).isClosed());
                });
            });
            assertThat(closed.get(20, TimeUnit.SECONDS)).isFalse();
            SendBudget budget = ((Connections) server.context()).budget();
            await().until(() -> handler.open.get() == 1);
            all.get(1).abort();
            await().until(() -> handler.open.get() == 0);
            await().untilAsserted(() -> assertThat(budget.bytes()).isZero());
        } finally {
            close(sockets);
        }
    }

    @Test
    @DisplayName("srv-2: one that is turned away for its address does not turn away others, not even for a moment")
    void turnedAwayTakesNoPlaceMeanwhile() throws Exception {
        Connections connections = new Connections(new ServerSettings(), 2, 1);
        InetAddress one = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
        InetAddress other = InetAddress.getByAddress(new byte[] {127, 0, 0, 2});
        assertThat(connections.admit(one)).isEqualTo(Connections.Admission.TAKEN);
        AtomicBoolean done = new AtomicBoolean();
        Thread storm = Thread.ofPlatform().start(() -> {
            while (!done.get()) {
                connections.admit(one);
            }
        });
        try {
            for (int i = 0; i < 200_000; i++) {
                assertThat(connections.admit(other)).isEqualTo(Connections.Admission.TAKEN);
                connections.leave(other);
            }
        } finally {
            done.set(true);
            storm.join();
        }
    }

    @Test
    @DisplayName("srv-1, srv-19: bytes for which there is no memory do not count as waiting")
    void noMemoryToWaitIn(@TempDir Path directory) throws Exception {
        Counting handler = new Counting();
        Path sparse = directory.resolve("sparse");
        try (FileChannel file = FileChannel.open(
                sparse, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            // No array is as long as this on any heap.
            ByteBuffer tooLong = file.map(FileChannel.MapMode.READ_WRITE, 0, Integer.MAX_VALUE);
            onTheLoop(1, handler, TcpServer.builder(), (context, all) -> {
                assertThatThrownBy(() -> all.getFirst().send(tooLong)).isInstanceOf(OutOfMemoryError.class);
                assertThat(all.getFirst().queuedBytes()).isZero();
                assertThat(((Connections) context).budget().bytes()).isZero();
                assertThat(tooLong.position()).isZero();
            });
        }
    }

    @Test
    @DisplayName(
            "mill-15, srv-1, end-9: bytes that were taken and cannot be kept reset the connection, and leave no gap in it")
    void takenAndLost() throws Exception {
        Counting handler = new Counting();
        AtomicBoolean fails = new AtomicBoolean();
        Clock clock = () -> {
            if (fails.compareAndSet(true, false)) {
                throw new OutOfMemoryError("meant so");
            }
            return System.nanoTime();
        };
        try (Reactors loops = Reactors.builder()
                        .reactors(1)
                        .clock(clock)
                        .withoutWatchdog()
                        .name("test")
                        .open();
                TcpServer server = TcpServer.builder().manager(loops).start(handler);
                Socket socket = new Socket()) {
            socket.connect(server.address());
            StreamConnection connection = (StreamConnection) take(handler, 1).getFirst();
            assertThat(connection.admits(10_000)).isTrue();
            loops.execute(() -> {
                fails.set(true); // the next look at the clock, which is when they begin to wait
                connection.arrive(ByteBuffer.allocate(10_000));
            });
            await().until(() -> handler.open.get() == 0);
            assertThat(handler.errors.poll()).contains("10000 bytes that were to be sent are lost");
            assertThat(connection.queuedBytes()).isZero();
            await().untilAsserted(() -> assertThat(
                            ((Connections) server.context()).budget().bytes())
                    .isZero());
            assertThatThrownBy(() -> socket.getInputStream().read()).isInstanceOf(SocketException.class);
        }
    }

    @Test
    @DisplayName("srv-19: a second victim is looked for among those that are not ended already")
    void theSecondVictim() throws Exception {
        onTheLoop(3, new Counting(), TcpServer.builder().budget(4 << 20, 10), (context, all) -> {
            send(all.get(0), 3584);
            send(all.get(1), 600);
            assertThat(all.get(0).isClosed()).isTrue();
            send(all.get(1), 1960);
            send(all.get(2), 1600);
            assertThat(all.get(1).isClosed()).isTrue();
            assertThat(all.get(2).isClosed()).isFalse();
        });
    }

    @Test
    @DisplayName("srv-19: behind a loop that does not turn, who goes above twice the budget is ended")
    void twiceTheBudget() throws Exception {
        onTheLoop(2, new Counting(), TcpServer.builder().budget(4 << 20, 10), (context, all) -> {
            send(all.get(0), 4200);
            assertThat(all.get(0).isClosed()).isTrue();
            send(all.get(1), 2000);
            assertThat(all.get(1).isClosed()).isFalse();
            send(all.get(1), 2050);
            assertThat(all.get(1).isClosed()).isTrue();
        });
    }

    @Test
    @DisplayName("srv-19: when its victim is gone, the budget is as large as before")
    void theBudgetIsGivenBack() throws Exception {
        Counting handler = new Counting();
        List<Socket> sockets = new ArrayList<>();
        try (Reactors loops = Reactors.builder().reactors(1).name("test").open();
                TcpServer server =
                        TcpServer.builder().manager(loops).budget(4 << 20, 10).start(handler)) {
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < 2; i++) {
                    Socket socket = new Socket();
                    socket.connect(server.address());
                    sockets.add(socket);
                }
                List<Connection> all = take(handler, 2);
                CompletableFuture<List<Boolean>> closed = new CompletableFuture<>();
                loops.execute(() -> {
                    send(all.get(0), 3 << 10);
                    send(all.get(1), 2 << 10);
                    closed.complete(List.of(all.get(0).isClosed(), all.get(1).isClosed()));
                });
                assertThat(closed.get(20, TimeUnit.SECONDS))
                        .as("round %s", round)
                        .containsExactly(true, false);
                all.get(1).abort();
                await().until(() -> handler.open.get() == 0);
                SendBudget budget = ((Connections) server.context()).budget();
                await().untilAsserted(() -> assertThat(budget.bytes()).isZero());
            }
        } finally {
            close(sockets);
        }
    }

    @Test
    @DisplayName("srv-19: the budget of files is exact")
    void theLastFile(@TempDir Path directory) throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[8192]);
        onTheLoop(1, new Counting(), TcpServer.builder().budget(1 << 30, 5), (context, all) -> {
            Connection connection = all.getFirst();
            for (int i = 0; i < 5; i++) {
                connection.sendFile(file);
            }
            assertThat(connection.isClosed()).isFalse();
            connection.sendFile(file);
            assertThat(connection.isClosed()).isTrue();
        });
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-19: what is on its way to a connection that ends meanwhile leaves the budget")
    void onItsWay(Dispatch mode) throws Exception {
        Counting handler = new Counting();
        AtomicReference<SendResult> sent = new AtomicReference<>();
        AtomicReference<SendBudget> budget = new AtomicReference<>();
        onTheLoop(1, handler, TcpServer.builder().dispatch(mode, 1), (context, all) -> {
            budget.set(((Connections) context).budget());
            Connection connection = all.getFirst();
            Thread sender = Thread.ofPlatform().start(() -> sent.set(connection.send(ByteBuffer.allocate(1 << 20))));
            sender.join();
            connection.abort(); // at the end of this turn; what was sent arrives in the next
        });
        assertThat(sent.get()).isEqualTo(SendResult.ABOVE_HIGH_WATER);
        assertThat(budget.get().bytes()).isZero();
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-19: a file that is on its way to a connection that ends meanwhile is closed")
    void fileOnItsWay(Dispatch mode, @TempDir Path directory) throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[100_000]);
        AtomicReference<SendBudget> budget = new AtomicReference<>();
        onTheLoop(1, new Counting(), TcpServer.builder().dispatch(mode, 1), (context, all) -> {
            budget.set(((Connections) context).budget());
            Connection connection = all.getFirst();
            Thread sender = Thread.ofPlatform().start(() -> sendFile(connection, file));
            sender.join();
            assertThat(budget.get().files()).isOne();
            connection.abort(); // at the end of this turn; the file arrives in the next
        });
        await().until(() -> budget.get().files() == 0);
    }

    private static void sendFile(Connection connection, Path file) {
        try {
            connection.sendFile(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
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
