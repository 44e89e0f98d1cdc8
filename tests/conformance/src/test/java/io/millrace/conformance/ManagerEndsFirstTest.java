package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventManager;
import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.server.Connection;
import io.millrace.server.ShutdownResult;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.Background;
import io.millrace.testkit.OpenFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("A manager that ends before its servers and clients")
@Timeout(120)
@EnabledOnOs(OS.LINUX)
class ManagerEndsFirstTest {
    private static final int LARGE = 8 << 20;
    private static final Duration AGES = Duration.ofDays(1);

    @TempDir
    static Path directory;

    private static Path file;
    private Map<String, Integer> before = Map.of();

    /** What a peer asks for with its first byte. */
    private enum Situation {
        IDLE,
        PAUSED,
        HALF_CLOSED,
        LINGERING,
        ABOVE_HIGH_WATER,
        QUEUED_FILE
    }

    /** Puts each connection into the situation that its peer asks for. */
    private static final class Situations extends Calls {
        private final AtomicInteger ready = new AtomicInteger();

        @Override
        public void onData(Connection connection, ByteBuffer data) throws Exception {
            switch (Situation.values()[data.get()]) {
                case IDLE, HALF_CLOSED -> {}
                case PAUSED -> connection.pauseReads();
                case LINGERING -> connection.close();
                case ABOVE_HIGH_WATER -> connection.send(ByteBuffer.allocate(LARGE));
                case QUEUED_FILE -> connection.sendFile(file);
            }
            ready.incrementAndGet();
        }

        void await() {
            Await.until("every handler was called", () -> ready.get() == Situation.values().length);
        }
    }

    @BeforeEach
    void takeBaseLine() throws Exception {
        if (file == null) {
            file = directory.resolve("large");
            Files.write(file, new byte[LARGE]);
            for (Managers manager : Managers.values()) {
                endFirst(manager, Dispatch.LOOP); // opens what the JVM opens once
            }
        }
        before = OpenFiles.count();
    }

    private static Socket connect(InetSocketAddress address) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), address.getPort());
        socket.setSoTimeout((int) Await.DEADLINE.toMillis());
        return socket;
    }

    private static void awaitEnd(Socket socket) throws IOException {
        byte[] buffer = new byte[1 << 16];
        try {
            while (socket.getInputStream().read(buffer) >= 0) {}
        } catch (java.net.SocketTimeoutException e) {
            throw new AssertionError("the peer was not told of the end", e);
        } catch (IOException e) {
            // A reset is an end too.
        }
    }

    /** A listener that takes nobody any more: who connects to it waits. */
    private static final class Full implements AutoCloseable {
        private final ServerSocketChannel listener = ServerSocketChannel.open();
        private final List<SocketChannel> queued = new ArrayList<>();

        Full() throws IOException {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
            for (int i = 0; i < 3; i++) {
                SocketChannel channel = SocketChannel.open();
                channel.configureBlocking(false);
                channel.connect(listener.getLocalAddress());
                queued.add(channel);
            }
        }

        InetSocketAddress address() throws IOException {
            return (InetSocketAddress) listener.getLocalAddress();
        }

        @Override
        public void close() throws IOException {
            for (SocketChannel channel : queued) {
                channel.close();
            }
            listener.close();
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("io.millrace.conformance.Managers#withDispatch")
    @DisplayName("end-2: ends its connections in whatever state they are, their listener, and what is being connected")
    void everythingEndsWithIt(Managers kind, Dispatch dispatch) throws Exception {
        endFirst(kind, dispatch);
        Await.until(
                "descriptors as before, " + before + ", not " + OpenFiles.count(),
                () -> OpenFiles.areNoMoreThan(before));
    }

    private static void endFirst(Managers kind, Dispatch dispatch) throws Exception {
        Situations calls = new Situations();
        Calls clientCalls = new Calls();
        EventManager manager = kind.open();
        TcpServer server =
                TcpServer.builder().manager(manager).dispatch(dispatch, 2).start(calls);
        TcpClient client =
                TcpClient.builder().manager(manager).dispatch(dispatch, 2).open();
        List<Socket> peers = new ArrayList<>();
        try (Full full = new Full()) {
            for (Situation situation : Situation.values()) {
                Socket peer = connect(server.address());
                peers.add(peer);
                peer.getOutputStream().write(situation.ordinal());
                if (situation == Situation.HALF_CLOSED) {
                    peer.shutdownOutput();
                }
            }
            CompletableFuture<Connection> there = client.connect(server.address(), clientCalls);
            CompletableFuture<Connection> pending = client.connect(full.address(), clientCalls);
            there.get();
            calls.await();

            Background.run(manager::close).result();
            assertThat(manager.isTerminated()).isTrue();
            for (Socket peer : peers) {
                awaitEnd(peer);
            }
            assertThatThrownBy(() -> connect(server.address())).isInstanceOf(IOException.class);
            calls.awaitAllEnded();
            clientCalls.awaitAllEnded();
            Await.until("the attempt has failed", pending::isCompletedExceptionally);
            // At once: nobody could wait for a day.
            for (int i = 0; i < 2; i++) {
                ShutdownResult result =
                        Background.call(() -> server.shutdown(AGES)).result();
                assertThat(result.remaining()).isEmpty();
                Background.run(server::close).result();
                Background.run(client::close).result();
            }
            assertThat(client.connect(server.address(), clientCalls)).isCompletedExceptionally();
        } finally {
            for (Socket peer : peers) {
                peer.close();
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#ours")
    @DisplayName(
            "end-2, end-3: a handler that does not return keeps its loop; its peers are cut off at the deadline, and the rest follows")
    void aBlockedHandlerKeepsItsLoop(Managers kind) throws Exception {
        ManualClock clock = new ManualClock();
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        Calls calls = new Calls() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                entered.countDown();
                open.await();
            }
        };
        Reactors manager = kind.reactors(clock).reactors(1).open();
        TcpServer server = TcpServer.builder().manager(manager).start(calls);
        try (Socket blocking = connect(server.address());
                Socket other = connect(server.address())) {
            calls.awaitConnected(2);
            blocking.getOutputStream().write(1);
            entered.await();
            Background<List<String>> ending = Background.call(() -> manager.shutdown(Duration.ofSeconds(1)));
            List<String> remains = Clocks.advanceUntilDone(clock, ending);
            assertThat(String.join("; ", remains)).contains("tested-0");
            awaitEnd(blocking);
            awaitEnd(other);
            assertThatThrownBy(() -> connect(server.address())).isInstanceOf(IOException.class);
            assertThat(calls.disconnected()).as("the loop is held up").isZero();
            assertThat(manager.isTerminated()).isFalse();
            // The server says so too, and returns by its own deadline.
            Background<ShutdownResult> serverEnds = Background.call(() -> server.shutdown(Duration.ofSeconds(1)));
            assertThat(Clocks.advanceUntilDone(clock, serverEnds).remaining()).hasSize(2);

            open.countDown();
            calls.awaitAllEnded();
            Await.until("the manager has ended", manager::isTerminated);
            assertThat(Background.call(() -> manager.shutdown(AGES)).result()).isEmpty();
        } finally {
            open.countDown();
        }
        Await.until(
                "descriptors as before, " + before + ", not " + OpenFiles.count(),
                () -> OpenFiles.areNoMoreThan(before));
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource(Dispatch.class)
    @DisplayName(
            "end-2, end-3: a server with a blocked handler returns by its deadline and names it; the rest follows when the handler returns")
    void aServerNamesABlockedHandler(Dispatch dispatch) throws Exception {
        ManualClock clock = new ManualClock();
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        Calls calls = new Calls() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                entered.countDown();
                open.await();
            }
        };
        TcpServer server = TcpServer.builder()
                .reactors(Managers.EPOLL.reactors(clock))
                .dispatch(dispatch, 2)
                .start(calls);
        try (Socket blocking = connect(server.address());
                Socket other = connect(server.address())) {
            calls.awaitConnected(2);
            blocking.getOutputStream().write(1);
            entered.await();
            Background<ShutdownResult> ending = Background.call(() -> server.shutdown(Duration.ofSeconds(1)));
            ShutdownResult result = Clocks.advanceUntilDone(clock, ending);
            assertThat(result.drained()).isFalse();
            assertThat(result.remaining()).isNotEmpty();
            assertThat(result.remaining().getFirst()).contains("connection ");
            awaitEnd(blocking);
            awaitEnd(other);
            assertThat(Background.call(() -> server.shutdown(AGES)).result()).isEqualTo(result);

            open.countDown();
            calls.awaitAllEnded();
        } finally {
            open.countDown();
        }
        Await.until(
                "descriptors as before, " + before + ", not " + OpenFiles.count(),
                () -> OpenFiles.areNoMoreThan(before));
        Clocks.awaitNoThread("tested");
        Clocks.awaitNoThread("millrace-server-worker");
    }
}
