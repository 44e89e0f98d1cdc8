package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("What a handler is told after it has closed its connection")
@Timeout(60)
class AfterCloseTest {
    /** How a handler may end its connection. */
    enum Ending {
        CLOSE {
            @Override
            void end(Connection connection) {
                connection.close();
            }
        },
        ABORT {
            @Override
            void end(Connection connection) {
                connection.abort();
            }
        },
        SEND_CLOSE_ABORT {
            @Override
            void end(Connection connection) {
                connection.send("x");
                connection.close();
                connection.abort();
            }
        },
        /** The callback that runs meanwhile may finish. */
        ON_ANOTHER_THREAD {
            @Override
            void end(Connection connection) throws InterruptedException {
                Thread.ofPlatform().daemon().start(connection::close).join();
            }
        };

        abstract void end(Connection connection) throws InterruptedException;
    }

    /** Waits in its first {@code onData} until it may end the connection, and keeps what it is told. */
    private static final class Closing implements ConnectionHandler {
        final List<String> told = new CopyOnWriteArrayList<>();
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch open = new CountDownLatch(1);
        final CountDownLatch over = new CountDownLatch(1);
        private final Ending ending;
        private final int sends;

        Closing(Ending ending, int sends) {
            this.ending = ending;
            this.sends = sends;
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) throws Exception {
            told.add("data");
            if (sends > 0) {
                assertThat(connection.send(ByteBuffer.allocate(sends))).isEqualTo(SendResult.ABOVE_HIGH_WATER);
            }
            entered.countDown();
            open.await();
            ending.end(connection);
            assertThat(connection.isClosed()).isTrue();
        }

        @Override
        public void onEndOfInput(Connection connection) {
            told.add("end of input");
        }

        @Override
        public void onWritable(Connection connection) {
            told.add("writable");
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            told.add("error " + failure);
        }

        @Override
        public void onDisconnect(Connection connection) {
            told.add("disconnect");
            over.countDown();
        }
    }

    /** Several turns: whatever the loop had to do is done. */
    private static void turns(Reactors loops) throws Exception {
        for (int i = 0; i < 8; i++) {
            CompletableFuture<Void> done = new CompletableFuture<>();
            loops.execute(() -> done.complete(null));
            done.get(10, TimeUnit.SECONDS);
        }
    }

    static Stream<Arguments> everyEnding() {
        return Stream.of(Dispatch.values())
                .flatMap(mode -> Stream.of(Ending.values()).map(ending -> Arguments.of(mode, ending)));
    }

    @ParameterizedTest
    @MethodSource("everyEnding")
    @DisplayName("mill-7: once close or abort has returned, no data and no end of input follow, on every dispatch")
    void noInputFollows(Dispatch mode, Ending ending) throws Exception {
        Closing handler = new Closing(ending, 0);
        try (Reactors loops = Reactors.builder().reactors(1).name("test").open();
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .dispatch(mode, 1)
                        .bufferSize(16)
                        .start(handler);
                Socket socket = new Socket()) {
            socket.connect(server.address());
            socket.getOutputStream().write(new byte[50]);
            socket.shutdownOutput();
            if (mode != Dispatch.LOOP) {
                await().until(() -> server.bytesReceived() == 50);
                turns(loops); // so the end of input waits behind the data, too
            }
            handler.open.countDown();
            assertThat(handler.over.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(handler.told).containsExactly("data", "disconnect");
        } finally {
            handler.open.countDown();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Dispatch.class,
            names = {"POOL", "VIRTUAL"})
    @DisplayName("mill-7, srv-9: an onWritable that waits behind the callback that closes the connection is not called")
    void noWritableFollows(Dispatch mode) throws Exception {
        Closing handler = new Closing(Ending.CLOSE, 2000);
        try (Reactors loops = Reactors.builder().reactors(1).name("test").open();
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .dispatch(mode, 1)
                        .waterMarks(100, 1000, 1 << 20)
                        .start(handler);
                Socket socket = new Socket()) {
            socket.connect(server.address());
            socket.getOutputStream().write(1);
            assertThat(handler.entered.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(socket.getInputStream().readNBytes(2000)).hasSize(2000);
            turns(loops); // so it is told that it may write
            handler.open.countDown();
            assertThat(handler.over.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(handler.told).containsExactly("data", "disconnect");
        } finally {
            handler.open.countDown();
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName(
            "mill-7, srv-12: a closed connection whose peer takes nothing ends at its idle timeout, without onIdle")
    void noIdleFollows(Dispatch mode) throws Exception {
        ManualClock clock = new ManualClock();
        List<String> told = new CopyOnWriteArrayList<>();
        CountDownLatch closed = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        try (Reactors loops =
                        Reactors.builder().reactors(1).clock(clock).name("test").open();
                TcpServer server = TcpServer.builder()
                        .manager(loops)
                        .dispatch(mode, 1)
                        .idleTimeout(Duration.ofSeconds(5))
                        .start(new ConnectionHandler() {
                            @Override
                            public void onConnect(Connection connection) {
                                connection.send(ByteBuffer.allocate(8 << 20));
                                connection.close();
                                closed.countDown();
                            }

                            @Override
                            public void onData(Connection connection, ByteBuffer data) {}

                            @Override
                            public void onIdle(Connection connection, Idle kind) {
                                told.add("idle");
                            }

                            @Override
                            public void onError(@Nullable Connection connection, Throwable failure) {
                                told.add(failure.getClass().getSimpleName());
                            }

                            @Override
                            public void onDisconnect(Connection connection) {
                                told.add("disconnect");
                                over.countDown();
                            }
                        });
                Socket socket = new Socket()) {
            socket.setReceiveBufferSize(32 << 10);
            socket.connect(server.address());
            assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
            turns(loops);
            clock.advance(Duration.ofSeconds(6));
            assertThat(over.await(10, TimeUnit.SECONDS)).isTrue();
            assertThat(told).containsExactly("SocketTimeoutException", "disconnect");
        }
    }
}
