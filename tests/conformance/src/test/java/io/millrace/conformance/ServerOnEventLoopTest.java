package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Dispatch;
import io.millrace.engine.EventLoop;
import io.millrace.engine.Reactors;
import io.millrace.poll.Clock;
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
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("Servers and clients on an event loop")
@Timeout(60)
@SuppressWarnings("try") // closed early, on purpose
class ServerOnEventLoopTest {
    private static final Duration AGES = Duration.ofDays(1);
    private static final Duration TURN = Duration.ofMillis(100);

    private static EventLoop.Builder loop(Managers kind, Clock clock) {
        return EventLoop.builder()
                .backend(kind.name().toLowerCase(Locale.ROOT))
                .workers(1)
                .dispatch(Dispatch.LOOP)
                .name("tested")
                .withoutWatchdog()
                .clock(clock);
    }

    private static EventLoop open(Managers kind) {
        return loop(kind, Clock.system()).open();
    }

    /** Sends back what comes, and notes where that was. */
    private static final class Echo extends Calls {
        private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            threads.add(Thread.currentThread());
            connection.send(data);
        }

        @Override
        public void onDisconnect(Connection connection) throws Exception {
            threads.add(Thread.currentThread());
            super.onDisconnect(connection);
        }
    }

    /** Completes when a byte has come. */
    private static final class Answer extends Calls {
        private final CompletableFuture<Byte> got = new CompletableFuture<>();

        @Override
        public void onConnect(Connection connection) throws Exception {
            super.onConnect(connection);
            connection.send(ByteBuffer.wrap(new byte[] {7}));
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            got.complete(data.get());
        }
    }

    private static Socket connect(InetSocketAddress address) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), address.getPort());
        socket.setSoTimeout((int) Await.DEADLINE.toMillis());
        return socket;
    }

    private static void awaitEnd(Socket socket) throws IOException {
        try {
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        } catch (java.net.SocketTimeoutException e) {
            throw new AssertionError("the peer was not told of the end", e);
        } catch (IOException e) {
            // A reset is an end too.
        }
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("io.millrace.conformance.Managers#oursWithDispatch")
    @DisplayName("grpc-16: are served by the thread that runs the loop, or where their dispatch says")
    void onALoopThatRuns(Managers kind, Dispatch dispatch) throws Exception {
        Echo echo = new Echo();
        Answer answer = new Answer();
        EventLoop loop = open(kind);
        Thread runner = Thread.ofPlatform().start(loop::run);
        try (loop;
                TcpServer server =
                        TcpServer.builder().loop(loop).dispatch(dispatch, 2).start(echo);
                TcpClient client =
                        TcpClient.builder().loop(loop).dispatch(dispatch, 2).open()) {
            assertThat(server.backend()).isEqualTo(loop.report().chosen());
            client.connect(server.address(), answer).get(10, TimeUnit.SECONDS);
            assertThat(answer.got.get(10, TimeUnit.SECONDS)).isEqualTo((byte) 7);
            try (Socket socket = connect(server.address())) {
                socket.getOutputStream().write(9);
                assertThat(socket.getInputStream().read()).isEqualTo(9);
            }
            if (dispatch == Dispatch.LOOP) {
                assertThat(echo.threads).containsExactly(runner);
            } else {
                assertThat(echo.threads).doesNotContain(runner);
            }
        }
        echo.awaitAllEnded();
        answer.awaitAllEnded();
        runner.join();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#ours")
    @DisplayName("grpc-16: run on a thread that drives the loop turn by turn, and that closes them between two turns")
    void drivenByTheUser(Managers kind) {
        Background.run(() -> driveAndClose(kind)).result();
    }

    private static void driveAndClose(Managers kind) throws Exception {
        Echo echo = new Echo();
        Answer answer = new Answer();
        ManualClock clock = new ManualClock(); // stands still: nothing waits for a deadline
        try (EventLoop loop = loop(kind, clock).open()) {
            TcpServer server = TcpServer.builder().loop(loop).start(echo);
            TcpClient client = TcpClient.builder().loop(loop).open();
            try (Socket socket = connect(server.address())) {
                socket.getOutputStream().write(9);
                CompletableFuture<Connection> made = client.connect(server.address(), answer);
                while (!answer.got.isDone()
                        || echo.connected() < 2
                        || socket.getInputStream().available() == 0) {
                    loop.runOnce(Duration.ZERO);
                }
                assertThat(made).isCompleted();
                assertThat(socket.getInputStream().read()).isEqualTo(9);
                assertThat(echo.threads).containsExactly(Thread.currentThread());

                client.close();
                assertThat(answer.disconnected()).isEqualTo(1);
                Background<ShutdownResult> elsewhere = Background.call(() -> server.shutdown(AGES));
                while (server.toString().indexOf("closing") < 0) {
                    Thread.onSpinWait();
                }
                socket.shutdownOutput();
                server.close();
                assertThat(echo.disconnected()).isEqualTo(2);
                assertThat(elsewhere.result().remaining()).isEmpty();
                assertThat(echo.threads)
                        .as("another thread that waits does not run the loop")
                        .containsExactly(Thread.currentThread());
                awaitEnd(socket);
            }
            CompletableFuture<String> task = new CompletableFuture<>();
            loop.execute(() -> task.complete("the loop is open"));
            loop.runOnce(TURN);
            assertThat(task).isCompletedWithValue("the loop is open");
        }
    }

    @Test
    @DisplayName("grpc-16: run on several reactors of a loop, and are closed by the thread that ran it")
    void onSeveralReactors() throws Exception {
        Echo echo = new Echo();
        EventLoop loop = loop(Managers.EPOLL, Clock.system()).workers(3).open();
        Background<ShutdownResult> running = Background.call(() -> {
            try (loop;
                    TcpServer server = TcpServer.builder().loop(loop).start(echo)) {
                assertThat(server.loopCount()).isEqualTo(3);
                Background<Boolean> peers = Background.run(() -> {
                    for (int i = 0; i < 12; i++) {
                        try (Socket socket = connect(server.address())) {
                            socket.getOutputStream().write(9);
                            assertThat(socket.getInputStream().read()).isEqualTo(9);
                        }
                    }
                    connect(server.address()); // and one that stays
                    echo.awaitConnected(13);
                    loop.stop();
                });
                loop.run();
                peers.result();
                return server.shutdown(Duration.ofMinutes(5));
            }
        });
        assertThat(running.result().remaining()).isEmpty();
        echo.awaitAllEnded();
        assertThat(echo.connected()).isEqualTo(13);
        assertThat(echo.threads).hasSizeGreaterThan(1);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.millrace.conformance.Managers#ours")
    @EnabledOnOs(OS.LINUX)
    @DisplayName("end-2: end with a loop that is closed first, whether it runs or not")
    void theLoopEndsFirst(Managers kind) throws Exception {
        endFirst(kind, true); // opens what the JVM opens once
        Map<String, Integer> before = OpenFiles.count();
        endFirst(kind, true);
        endFirst(kind, false);
        Await.until(
                "descriptors as before, " + before + ", not " + OpenFiles.count(),
                () -> OpenFiles.areNoMoreThan(before));
    }

    private static void endFirst(Managers kind, boolean runs) throws Exception {
        Calls calls = new Calls();
        Calls clientCalls = new Calls();
        EventLoop loop = open(kind);
        TcpServer server = TcpServer.builder().loop(loop).start(calls);
        TcpClient client = TcpClient.builder().loop(loop).open();
        CompletableFuture<Connection> made = client.connect(server.address(), clientCalls);
        try (Socket peer = connect(server.address())) {
            Thread runner = Thread.ofPlatform().start(loop::run);
            made.get(10, TimeUnit.SECONDS);
            calls.awaitConnected(2);
            if (!runs) {
                loop.stop();
                runner.join();
            }
            Background.run(loop::close).result();
            runner.join();
            awaitEnd(peer);
            assertThatThrownBy(() -> connect(server.address())).isInstanceOf(IOException.class);
            calls.awaitAllEnded();
            clientCalls.awaitAllEnded();
            ShutdownResult result = Background.call(() -> server.shutdown(AGES)).result();
            assertThat(result.remaining()).isEmpty();
            Background.run(client::close).result();
            assertThat(client.connect(server.address(), clientCalls)).isCompletedExceptionally();
        }
    }

    @ParameterizedTest(name = "closed by {0}")
    @EnumSource(Closer.class)
    @DisplayName("end-2, end-3: a handler that does not return keeps the loop; its peers are cut off at the deadline")
    void aBlockedHandlerKeepsTheLoop(Closer closer) throws Exception {
        ManualClock clock = new ManualClock();
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch open = new CountDownLatch(1);
        EventLoop loop = loop(Managers.EPOLL, clock).open();
        Calls calls = new Calls() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                if (closer == Closer.HANDLER) {
                    loop.shutdown(Duration.ofSeconds(1));
                }
                entered.countDown();
                open.await();
            }
        };
        Thread runner = Thread.ofPlatform().start(loop::run);
        TcpServer server = TcpServer.builder().loop(loop).start(calls);
        try (Socket blocking = connect(server.address());
                Socket other = connect(server.address())) {
            calls.awaitConnected(2);
            blocking.getOutputStream().write(1);
            entered.await();
            if (closer == Closer.ANOTHER_THREAD) {
                Background<List<String>> ending = Background.call(() -> loop.shutdown(Duration.ofSeconds(1)));
                assertThat(Clocks.advanceUntilDone(clock, ending)).isNotEmpty();
            }
            Background<Boolean> ends = Background.run(() -> {
                awaitEnd(blocking);
                awaitEnd(other);
            });
            Clocks.advanceUntilDone(clock, ends);
            assertThat(calls.disconnected()).as("the loop is held up").isZero();

            open.countDown();
            calls.awaitAllEnded();
            runner.join();
        } finally {
            open.countDown();
        }
        assertThat(Background.call(() -> server.shutdown(AGES)).result().remaining())
                .isEmpty();
    }

    private enum Closer {
        ANOTHER_THREAD,
        HANDLER
    }

    @Test
    @DisplayName("grpc-16: are not started on a loop that is closed, and their port is free again")
    void onAClosedLoop() throws Exception {
        EventLoop loop = open(Managers.EPOLL);
        loop.close();
        InetSocketAddress address;
        try (TcpServer server = TcpServer.listen(0, (connection, data) -> {})) {
            address = server.address();
        }
        assertThatThrownBy(() -> TcpServer.builder().loop(loop).address(address).start(new Calls()))
                .isInstanceOf(RejectedExecutionException.class);
        try (TcpServer server = TcpServer.builder().address(address).start(new Calls());
                TcpClient client = TcpClient.builder().loop(loop).open()) {
            assertThat(client.connect(server.address(), new Calls())).isCompletedExceptionally();
        }
    }

    @Test
    @DisplayName("grpc-16: run on the loop, the manager or the reactors that their builder was given last")
    void theLastOneCounts() throws Exception {
        try (EventLoop loop = open(Managers.EPOLL);
                Reactors manager = Managers.EPOLL.reactors(Clock.system()).open()) {
            TcpServer.Builder builder = TcpServer.builder();
            TcpServer onLoop = builder.manager(manager).loop(loop).start(new Calls());
            assertThat(onLoop.loopCount()).isEqualTo(1);
            try (TcpServer server = builder.manager(manager).start(new Calls())) {
                assertThat(server.loopCount()).isEqualTo(2);
            }
            try (TcpServer server = builder.reactors(
                            Managers.EPOLL.reactors(Clock.system()).reactors(3))
                    .start(new Calls())) {
                assertThat(server.loopCount()).isEqualTo(3);
            }
            loop.close();
            onLoop.close();
        }
    }
}
