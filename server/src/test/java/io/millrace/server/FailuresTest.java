package io.millrace.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Dispatch;
import io.millrace.engine.Reactors;
import io.millrace.server.support.ConnectionLog;
import io.millrace.server.support.LimitAccess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@DisplayName("srv-4: what goes wrong in callbacks")
@Timeout(30)
class FailuresTest {
    /** Keeps lines. */
    private static class Lines implements System.Logger {
        final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();

        @Override
        public String getName() {
            return "test";
        }

        @Override
        public boolean isLoggable(Level level) {
            return level != Level.TRACE;
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle bundle, String text, @Nullable Throwable thrown) {
            lines.add(level + " " + text + (thrown == null ? "" : " with " + thrown.getMessage()));
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle bundle, String format, @Nullable Object... params) {
            lines.add(level + " " + format);
        }

        List<String> take() {
            List<String> all = new ArrayList<>(lines);
            lines.clear();
            return all;
        }
    }

    private static TcpServer.Builder on(String backend, Dispatch mode) {
        return TcpServer.builder()
                .reactors(Reactors.builder().reactors(1).backend(backend).name("test"))
                .dispatch(mode, 1);
    }

    private static Socket connect(TcpServer server) throws IOException {
        return new Socket(InetAddress.getLoopbackAddress(), server.address().getPort());
    }

    static Stream<Arguments> modesAndBackends() {
        return Stream.of(Dispatch.values())
                .flatMap(mode -> Stream.of("epoll", "poll", "nio").map(backend -> Arguments.of(mode, backend)));
    }

    // ---- By default ----

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("by default a connection whose onData threw is closed, after what was sent before")
    void closes(Dispatch mode, String backend) throws Exception {
        try (TcpServer server = on(backend, mode).start((connection, data) -> {
                    connection.send("so far");
                    throw new IOException("a mistake"); // not one of the network, though of its class
                });
                Socket socket = connect(server)) {
            socket.getOutputStream().write(1);
            assertThat(socket.getInputStream().readAllBytes()).asString().isEqualTo("so far");
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("by default so it is with frames, onEndOfInput and onWritable")
    void closesElsewhere(Dispatch mode) throws Exception {
        try (TcpServer server = on("epoll", mode).start(Framing.lines(10).frames((connection, data) -> {
                    throw new AssertionError("a mistake");
                }));
                Socket socket = connect(server)) {
            socket.getOutputStream().write('\n');
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
        try (TcpServer server = on("epoll", mode).start(new ConnectionHandler() {
                    @Override
                    public void onData(Connection connection, ByteBuffer data) {}

                    @Override
                    public void onEndOfInput(Connection connection) {
                        throw new IllegalStateException("a mistake");
                    }
                });
                Socket socket = connect(server)) {
            socket.shutdownOutput();
            assertThat(socket.getInputStream().read()).isEqualTo(-1);
        }
        try (TcpServer server = on("epoll", mode).waterMarks(0, 1, 64 << 20).start(new ConnectionHandler() {
                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        connection.send("xyz");
                    }

                    @Override
                    public void onWritable(Connection connection) throws Exception {
                        throw new Exception("a mistake");
                    }
                });
                Socket socket = connect(server)) {
            socket.getOutputStream().write(1);
            assertThat(socket.getInputStream().readAllBytes()).asString().isEqualTo("xyz");
        }
    }

    // ---- onConnect ----

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("an onConnect that throws refuses the connection, whatever onError does; nothing but the end is told")
    void refuses(Dispatch mode, String backend) throws Exception {
        LinkedBlockingQueue<String> log = new LinkedBlockingQueue<>();
        CompletableFuture<Void> gone = new CompletableFuture<>();
        try (TcpServer server = on(backend, mode).start(new ConnectionHandler() {
                    @Override
                    public void onConnect(Connection connection) throws Exception {
                        throw new Exception("not you");
                    }

                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        log.add("data");
                    }

                    @Override
                    public void onEndOfInput(Connection connection) {
                        log.add("end");
                    }

                    @Override
                    public void onError(@Nullable Connection connection, Throwable failure) {
                        log.add("error " + failure.getMessage());
                    }

                    @Override
                    public void onDisconnect(Connection connection) {
                        log.add("disconnect");
                        gone.complete(null);
                    }
                });
                Socket socket = connect(server)) {
            try {
                socket.getOutputStream().write(1);
                assertThat(socket.getInputStream().read()).isEqualTo(-1);
            } catch (IOException e) {
                // reset, because of what was not read
            }
            gone.get(10, TimeUnit.SECONDS);
            assertThat(log).containsExactly("error not you", "disconnect");
        }
    }

    @Test
    @DisplayName("a client whose onConnect throws has no connection")
    void clientRefuses() throws Exception {
        try (TcpServer server = on("epoll", Dispatch.LOOP).start((connection, data) -> {});
                TcpClient client = TcpClient.open()) {
            CompletableFuture<Connection> made = client.connect(server.address(), new ConnectionHandler() {
                @Override
                public void onConnect(Connection connection) throws Exception {
                    throw new Exception("not this one");
                }

                @Override
                public void onData(Connection connection, ByteBuffer data) {}

                @Override
                public void onError(@Nullable Connection connection, Throwable failure) {}
            });
            assertThat(org.assertj.core.api.Assertions.catchThrowable(() -> made.get(10, TimeUnit.SECONDS)))
                    .isInstanceOf(ExecutionException.class)
                    .hasRootCauseMessage("not this one");
            org.awaitility.Awaitility.await()
                    .until(() -> client.context().connections().isEmpty());
        }
    }

    // ---- Whatever is thrown ----

    /** As evil as an exception can be. */
    private static final class Evil extends RuntimeException {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new IllegalStateException("no message");
        }

        @Override
        public String toString() {
            throw new IllegalStateException("no text");
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable thrown) throws T {
        throw (T) thrown;
    }

    private static int overflow(int depth) {
        return overflow(depth + 1) + 1;
    }

    private static void throwSomething(int which) {
        switch (which % 5) {
            case 0 -> FailuresTest.<RuntimeException>sneak(new IOException("checked"));
            case 1 -> FailuresTest.<RuntimeException>sneak(new Throwable("neither"));
            case 2 -> throw new Evil();
            case 3 -> overflow(0);
            default -> throw new LinkageError("an error");
        }
    }

    @ParameterizedTest
    @MethodSource("modesAndBackends")
    @DisplayName("whatever a callback throws, and its onError and toString too, the loop and the others go on")
    void anything(Dispatch mode, String backend) throws Exception {
        try (TcpServer server = on(backend, mode).maxConnections(2).start(new ConnectionHandler() {
                    @Override
                    public void onData(Connection connection, ByteBuffer data) {
                        byte what = data.get();
                        connection.send(ByteBuffer.wrap(new byte[] {what}));
                        throwSomething(what);
                    }

                    @Override
                    public void onDisconnect(Connection connection) {
                        throwSomething(1);
                    }

                    @Override
                    public void onError(@Nullable Connection connection, Throwable failure) {
                        throwSomething(2);
                    }

                    @Override
                    public String toString() {
                        throw new IllegalStateException("no text");
                    }
                });
                Socket other = connect(server)) {
            for (int i = 0; i < 10; i++) {
                try (Socket socket = connect(server)) {
                    socket.getOutputStream().write(i);
                    assertThat(socket.getInputStream().read()).isEqualTo(i);
                    try (Socket tooMany = connect(server)) {
                        assertThat(tooMany.getInputStream().read()).isEqualTo(-1);
                    }
                }
                other.getOutputStream().write(i);
                assertThat(other.getInputStream().read()).isEqualTo(i);
                org.awaitility.Awaitility.await()
                        .until(() -> server.context().connections().size() == 1);
            }
        }
    }

    // ---- The log ----

    @Test
    @DisplayName("a line a second of each kind, which says how many were left out")
    void rate() {
        AtomicLong clock = new AtomicLong(-5);
        Lines lines = new Lines();
        ConnectionLog log = new ConnectionLog(lines, clock::get);
        for (int i = 0; i < 100; i++) {
            log.log(ConnectionLog.Kind.LIMIT, null, "number ", i);
        }
        log.log(ConnectionLog.Kind.PEER, new IOException("reset"), "a peer");
        assertThat(lines.take()).containsExactly("WARNING number 0", "DEBUG a peer with reset");
        clock.addAndGet(999_999_999);
        log.log(ConnectionLog.Kind.LIMIT, null, "early");
        assertThat(lines.take()).isEmpty();
        clock.addAndGet(1);
        log.log(ConnectionLog.Kind.LIMIT, null, "late");
        assertThat(lines.take()).containsExactly("WARNING late (100 more like this were left out)");
        clock.addAndGet(1_000_000_000);
        log.log(ConnectionLog.Kind.LIMIT, null, "later");
        assertThat(lines.take()).containsExactly("WARNING later");
    }

    @Test
    @DisplayName("it cannot fail, and says what can be said")
    void cannotFail() {
        Lines lines = new Lines();
        ConnectionLog log = new ConnectionLog(lines, () -> 0);
        log.log(ConnectionLog.Kind.CALLBACK, new Evil(), "about ", new Object() {
            @Override
            public String toString() {
                throw new StackOverflowError();
            }
        });
        assertThat(lines.take())
                .singleElement()
                .asString()
                .startsWith("WARNING about io.millrace.server.FailuresTest")
                .endsWith("$Evil");
        new ConnectionLog(
                        new Lines() {
                            @Override
                            public boolean isLoggable(Level level) {
                                throw new IllegalStateException();
                            }
                        },
                        () -> 0)
                .log(ConnectionLog.Kind.CALLBACK, null, "nothing");
    }

    @Test
    @DisplayName("the default onError: a callback's mistake with its stack, a limit without, the peer for debugging")
    void kinds() {
        Lines lines = new Lines();
        AtomicLong clock = new AtomicLong();
        ConnectionLog log = new ConnectionLog(lines, () -> clock.addAndGet(2_000_000_000));
        ConnectionHandler handler = new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {}

            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {
                log.logByDefault(this, connection, failure);
            }

            @Override
            public String toString() {
                return "the handler";
            }
        };
        IOException mistake = new IOException("a mistake");
        ConnectionLog.tellThrown(handler, null, mistake);
        ConnectionLog.tell(handler, null, mistake); // which nobody has thrown this time
        ConnectionLog.tell(handler, null, new IOException("reset"));
        ConnectionLog.tell(handler, null, LimitAccess.closed("too much"));
        ConnectionLog.tell(
                handler, null, new LimitException(ConnectionLog.Kind.NOT_ACCEPTED, "EMFILE", new IOException(), null));
        assertThat(lines.take())
                .containsExactly(
                        "WARNING a callback of the handler threw with a mistake",
                        "DEBUG a connection could not be accepted with a mistake",
                        "DEBUG a connection could not be accepted with reset",
                        "WARNING too much",
                        "WARNING EMFILE");
    }
}
