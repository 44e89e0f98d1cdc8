package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Priority;
import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many connections begin or end at once. The unit of work is one that does, as it costs system calls and callbacks. */
@DisplayName("A storm of connections")
@Timeout(60)
class StormTest {
    private static final int MANY = 300;
    /** Of the {@code MANY}, what a turn may do. */
    private static final int A_TURN = 32;

    /** Counts how many callbacks each turn makes. All on the loop, but for what is awaited. */
    private static final class Turns implements ConnectionHandler {
        final CountDownLatch connected = new CountDownLatch(MANY);
        final CountDownLatch disconnected = new CountDownLatch(MANY);
        private final Reactors manager;
        private int connects;
        private int disconnects;
        private int mostConnects;
        private int mostDisconnects;
        private boolean watching;

        Turns(Reactors manager) {
            this.manager = manager;
        }

        /** What is queued in a turn runs in the next, what is HIGH before everything else of it; a NORMAL one behind what it finds. */
        private void count() {
            if (!watching) {
                watching = true;
                manager.run(this::turnEnded, Priority.HIGH);
            }
        }

        private void turnEnded() {
            watching = false;
            mostConnects = Math.max(mostConnects, connects);
            mostDisconnects = Math.max(mostDisconnects, disconnects);
            connects = 0;
            disconnects = 0;
        }

        @Override
        public void onConnect(Connection connection) {
            count();
            connects++;
            connected.countDown();
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            connection.send(data);
        }

        @Override
        public void onDisconnect(Connection connection) {
            count();
            disconnects++;
            disconnected.countDown();
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            // A reset is what some of these tests make.
        }

        int mostConnects() throws Exception {
            assertThat(connected.await(30, TimeUnit.SECONDS)).isTrue();
            return after(() -> mostConnects);
        }

        int mostDisconnects() throws Exception {
            assertThat(disconnected.await(30, TimeUnit.SECONDS)).isTrue();
            return after(() -> mostDisconnects);
        }

        private int after(IntSupplier what) throws Exception {
            CompletableFuture<Integer> result = new CompletableFuture<>();
            manager.run(() -> manager.run(() -> result.complete(what.getAsInt()), Priority.LOW), Priority.LOW);
            return result.get(20, TimeUnit.SECONDS);
        }
    }

    private final ManualClock clock = new ManualClock();
    private final List<SocketChannel> peers = new ArrayList<>();

    private Reactors manager(String backend) {
        return Reactors.builder()
                .reactors(1)
                .backend(backend)
                .clock(clock)
                .withoutWatchdog()
                .open();
    }

    private static TcpServer.Builder server(Reactors manager) {
        return TcpServer.builder().manager(manager).backlog(2 * MANY);
    }

    /** Holds the loop while something is done, so that it finds all of it at once. */
    private interface Doing {
        void run() throws IOException;
    }

    private static void atOnce(Reactors manager, Doing what) throws Exception {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        manager.execute(() -> {
            held.countDown();
            try {
                done.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        held.await();
        try {
            what.run();
        } finally {
            done.countDown();
        }
    }

    private void connectAll(Reactors manager, InetSocketAddress address) throws Exception {
        atOnce(manager, () -> {
            for (int i = 0; i < MANY; i++) {
                peers.add(SocketChannel.open(address));
            }
        });
    }

    private void closeAll() throws IOException {
        for (SocketChannel peer : peers) {
            peer.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-5: a turn accepts a few, however many wait")
    void accepts(String backend) throws Exception {
        try (Reactors manager = manager(backend)) {
            Turns turns = new Turns(manager);
            try (TcpServer server = server(manager).start(turns)) {
                connectAll(manager, server.address());
                assertThat(turns.mostConnects()).isBetween(1, A_TURN);
            } finally {
                closeAll();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-5: a server that closes accepts what waits a few at a turn, too, and all of it")
    void acceptsWhileItCloses(String backend) throws Exception {
        try (Reactors manager = manager(backend)) {
            Turns turns = new Turns(manager);
            TcpServer server = server(manager).start(turns);
            Thread closer = Thread.ofPlatform().unstarted(server::close);
            atOnce(manager, () -> {
                for (int i = 0; i < MANY; i++) {
                    peers.add(SocketChannel.open(server.address()));
                }
                closer.start();
                // It has posted its task when it waits.
                await().until(() -> closer.getState() == Thread.State.TIMED_WAITING);
            });
            try {
                assertThat(turns.mostConnects()).isBetween(1, A_TURN);
                assertThat(turns.mostDisconnects()).isBetween(1, A_TURN);
            } finally {
                closeAll();
                closer.join();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-5: a server that closes accepts a few at a turn of those that come while it is about to")
    void acceptsWhoComesWhileItCloses(String backend) throws Exception {
        try (Reactors manager = manager(backend)) {
            Turns turns = new Turns(manager);
            TcpServer server = server(manager).start(turns);
            Thread closer = Thread.ofPlatform().unstarted(server::close);
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch connected = new CountDownLatch(1);
            // The task that holds the loop and that of the close run in one turn, so the loop has not been told of
            // those who come between.
            atOnce(manager, () -> {
                manager.execute(() -> {
                    held.countDown();
                    try {
                        connected.await();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });
                closer.start();
                await().until(() -> closer.getState() == Thread.State.TIMED_WAITING);
            });
            held.await();
            try {
                for (int i = 0; i < MANY; i++) {
                    peers.add(SocketChannel.open(server.address()));
                }
            } finally {
                connected.countDown();
            }
            try {
                assertThat(turns.mostConnects()).isBetween(1, A_TURN);
            } finally {
                closeAll();
                closer.join();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-5: a turn ends a few, however many peers hang up")
    void peersHangUp(String backend) throws Exception {
        try (Reactors manager = manager(backend)) {
            Turns turns = new Turns(manager);
            try (TcpServer server = server(manager).start(turns)) {
                connectAll(manager, server.address());
                turns.mostConnects();
                atOnce(manager, this::closeAll);
                assertThat(turns.mostDisconnects()).isBetween(1, A_TURN);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-5: a turn ends a few, however many peers reset")
    void peersReset(String backend) throws Exception {
        try (Reactors manager = manager(backend)) {
            Turns turns = new Turns(manager);
            try (TcpServer server = server(manager).start(turns)) {
                connectAll(manager, server.address());
                turns.mostConnects();
                for (SocketChannel peer : peers) {
                    peer.setOption(StandardSocketOptions.SO_LINGER, 0);
                }
                atOnce(manager, this::closeAll);
                assertThat(turns.mostDisconnects()).isBetween(1, A_TURN);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-5: a turn ends a few, however many a server closes")
    void serverCloses(String backend) throws Exception {
        try (Reactors manager = manager(backend)) {
            Turns turns = new Turns(manager);
            TcpServer server = server(manager).start(turns);
            connectAll(manager, server.address());
            turns.mostConnects();
            server.close();
            assertThat(turns.mostDisconnects()).isBetween(1, A_TURN);
            closeAll();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-5: a turn ends a few, however many are idle for too long")
    void allAreIdle(String backend) throws Exception {
        try (Reactors manager = manager(backend)) {
            Turns turns = new Turns(manager);
            try (TcpServer server =
                    server(manager).idleTimeout(Duration.ofSeconds(5)).start(turns)) {
                connectAll(manager, server.address());
                turns.mostConnects();
                clock.advance(Duration.ofSeconds(6));
                assertThat(turns.mostDisconnects()).isBetween(1, A_TURN);
                closeAll();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-5: a turn ends a few, however many peers hang up whose output has ended before")
    void halfClosedPeersHangUp(String backend) throws Exception {
        try (Reactors manager = manager(backend)) {
            Turns turns = new Turns(manager);
            try (TcpServer server = server(manager).start(turns)) {
                connectAll(manager, server.address());
                turns.mostConnects();
                server.context().connections().forEach(Connection::closeOutput);
                for (SocketChannel peer : peers) {
                    assertThat(peer.read(ByteBuffer.allocate(1))).isEqualTo(-1);
                }
                atOnce(manager, this::closeAll);
                assertThat(turns.mostDisconnects()).isBetween(1, A_TURN);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"epoll", "poll", "nio"})
    @DisplayName("end-5: a turn ends a few, however many another thread has sent more than the limit")
    void allAreAtTheirLimit(String backend) throws Exception {
        try (Reactors manager = manager(backend)) {
            Turns turns = new Turns(manager);
            try (TcpServer server = server(manager).waterMarks(1, 2, 3).start(turns)) {
                connectAll(manager, server.address());
                turns.mostConnects();
                atOnce(manager, () -> {
                    assertThat(server.context().broadcast(ByteBuffer.allocate(10)))
                            .isEqualTo(MANY);
                    assertThat(server.context().broadcast(ByteBuffer.allocate(10)))
                            .isZero();
                });
                assertThat(turns.mostDisconnects()).isBetween(1, A_TURN);
                closeAll();
            }
        }
    }
}
