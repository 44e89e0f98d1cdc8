package io.millrace.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.EventManager;
import io.millrace.engine.Reactors;
import io.millrace.poll.Clock;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.KeptConnection;
import io.millrace.server.Reconnect;
import io.millrace.server.Relay;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.Background;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Many random conversations at once, each with an {@link EchoingAtRandom} or through a relay to one. The seed of what
 * failed is in the message: {@code -Dmillrace.seed=} runs that one, and {@code -Dmillrace.seeds=} sets how many there are.
 */
@DisplayName("Conversations at random, on every manager and dispatch")
@Timeout(120)
class ConversationsTest {
    private static final int SEEDS =
            Integer.getInteger("millrace.seeds", Boolean.getBoolean("millrace.soak") ? 2_000 : 24);
    private static final @Nullable Long ONE = Long.getLong("millrace.seed");
    private static final int AT_ONCE = 8;

    static List<ServerSetting> settings() {
        return ServerSetting.chosen().stream().filter(each -> !each.tls()).toList();
    }

    /** Where the bytes go: to the server, or through a relay whose other side is on the same manager or on another. */
    private enum Way {
        STRAIGHT,
        RELAYED,
        RELAYED_ELSEWHERE
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("settings")
    @DisplayName(
            "mill-7, mill-8, srv-5: whatever a handler does with them, all bytes come back in order, and it is told all once")
    void conversations(ServerSetting setting, @TempDir Path directory) throws Exception {
        for (int first = 0; first < SEEDS; first += AT_ONCE) {
            List<Background<Boolean>> running = new ArrayList<>();
            for (int i = first; i < first + AT_ONCE; i++) {
                long seed = ONE == null ? i : ONE;
                running.add(Background.call(() -> converse(setting, seed, directory)));
            }
            for (Background<Boolean> each : running) {
                assertThat(each.result()).isTrue();
            }
        }
    }

    private static boolean converse(ServerSetting setting, long seed, Path directory) {
        try {
            Random random = new Random(seed);
            Way way = Way.values()[random.nextInt(3)];
            try (ServerSetting.Opened on = setting.open(Clock.system());
                    ExecutorService helper = Executors.newSingleThreadExecutor();
                    Reactors elsewhere = Reactors.builder()
                            .reactors(1)
                            .withoutWatchdog()
                            .daemon(true)
                            .open()) {
                List<EchoingAtRandom> handlers = new ArrayList<>();
                AtomicInteger made = new AtomicInteger();
                int conversations = 1 + random.nextInt(4);
                int size = random.nextInt(4) == 0 ? random.nextInt(10) : random.nextInt(200_000);
                TcpServer.Builder builder = on.server()
                        .readWhileFull(random.nextBoolean())
                        .waterMarks(random.nextInt(2_000), 2_000 + random.nextInt(8_000), 64 << 20);
                if (random.nextBoolean()) {
                    builder.bufferSize(1 + size / 1_000 + random.nextInt(5_000));
                }
                boolean breaks = random.nextInt(3) == 0;
                for (int i = 0; i < conversations; i++) {
                    handlers.add(new EchoingAtRandom(new Random(seed * 31 + i), size, helper, directory, breaks));
                }
                try (TcpServer server = builder.start(connection -> handlers.get(made.getAndIncrement()));
                        TcpClient client = way == Way.RELAYED_ELSEWHERE
                                ? TcpClient.builder().manager(elsewhere).open()
                                : on.client().open();
                        TcpServer front = on.server()
                                .waterMarks(1_000, 5_000, 64 << 20)
                                .start(Relay.proxy(client, server.address()))) {
                    InetSocketAddress to = way == Way.STRAIGHT ? server.address() : front.address();
                    List<Background<String>> peers = new ArrayList<>();
                    for (int i = 0; i < conversations; i++) {
                        Random own = new Random(seed * 37 + i);
                        peers.add(Background.call(() -> new RandomPeer(own, size, breaks).talk(to)));
                    }
                    for (Background<String> peer : peers) {
                        String wrong = result(peer);
                        if (!wrong.isEmpty() && !(breaks && wrong.startsWith("ended"))) {
                            throw new AssertionError(wrong + "\n" + server.dump() + front.dump() + handlers);
                        }
                    }
                    Await.until(
                            "all have ended",
                            () -> server.connections().isEmpty()
                                    && front.connections().isEmpty());
                    handlers.subList(0, made.get()).forEach(EchoingAtRandom::awaitEnd);
                }
                if (on.on() instanceof EventManager manager && (setting.isForeign())) {
                    Await.until("no alarm is pending", () -> Managers.pendingAlarms(manager) == 0);
                }
            }
            return true;
        } catch (Throwable e) {
            throw new AssertionError(
                    "seed " + seed + " on " + setting + " (run it with -Dmillrace.seed=" + seed + "): " + e, e);
        }
    }

    private static String result(Background<String> peer) {
        try {
            return peer.result();
        } catch (AssertionError e) {
            return "no end: " + e.getMessage();
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("settings")
    @DisplayName(
            "srv-13: a connection that is kept up comes back however it ends, and not after its close, on every manager")
    void kept(ServerSetting setting) throws Exception {
        AtomicInteger connects = new AtomicInteger();
        AtomicInteger disconnects = new AtomicInteger();
        AtomicInteger accepted = new AtomicInteger();
        try (ServerSetting.Opened on = setting.open(Clock.system());
                TcpServer server = on.server().start((connection, data) -> {
                    switch (accepted.incrementAndGet() % 3) {
                        case 0 -> connection.close();
                        case 1 -> connection.abort();
                        default -> connection.reset();
                    }
                });
                TcpClient client = on.client().open()) {
            KeptConnection kept = client.keepConnected(
                    server.address(),
                    new ConnectionHandler() {
                        @Override
                        public void onConnect(Connection connection) {
                            connects.incrementAndGet();
                            connection.send("x");
                        }

                        @Override
                        public void onData(Connection connection, ByteBuffer data) {}

                        @Override
                        public void onError(@Nullable Connection connection, Throwable failure) {}

                        @Override
                        public void onDisconnect(Connection connection) {
                            disconnects.incrementAndGet();
                        }
                    },
                    Reconnect.backoff(Duration.ofMillis(1), Duration.ofMillis(3)));
            Await.until("it has come back", () -> connects.get() >= 20);
            kept.close();
            Await.until("it has ended", () -> client.connections().isEmpty() && connects.get() == disconnects.get());
            int then = connects.get();
            assertThat(client.shutdown(Duration.ofSeconds(10)).remaining()).isEmpty();
            assertThat(connects.get()).isEqualTo(then);
            assertThat(kept.state()).isEqualTo(KeptConnection.State.ENDED);
        }
    }

    /** Sends random bytes in random pieces, and reads at random times. */
    private record RandomPeer(Random random, int size, boolean breaks) {
        /** Returns what was wrong; empty if nothing was. */
        String talk(InetSocketAddress to) throws Exception {
            byte[] sent = new byte[size];
            random.nextBytes(sent);
            int breaksAt = breaks && random.nextBoolean() ? random.nextInt(size + 1) : -1;
            long readSeed = random.nextLong();
            try (Socket socket = new Socket()) {
                if (random.nextBoolean()) {
                    socket.setReceiveBufferSize(30_000); // a few kilobytes would make TCP wait for its timers
                }
                socket.connect(to);
                socket.setSoTimeout(30_000);
                Background<String> reading = Background.call(() -> read(socket, sent, new Random(readSeed)));
                try {
                    write(socket, sent, breaksAt);
                } catch (IOException e) {
                    return "ended while it was sent to: " + e;
                }
                return reading.result();
            }
        }

        private void write(Socket socket, byte[] sent, int breaksAt) throws Exception {
            for (int at = 0; at < size; ) {
                int piece = Math.min(size - at, 1 + random.nextInt(random.nextInt(10) == 0 ? 60_000 : 300));
                if (breaksAt >= at && breaksAt < at + piece) {
                    socket.setSoLinger(random.nextBoolean(), 0);
                    socket.close();
                    return;
                }
                socket.getOutputStream().write(sent, at, piece);
                at += piece;
                pause(random);
            }
            socket.shutdownOutput();
        }

        private static String read(Socket socket, byte[] expected, Random random) {
            byte[] into = new byte[10_000];
            int got = 0;
            try {
                for (; ; ) {
                    int count = socket.getInputStream().read(into, 0, 1 + random.nextInt(into.length));
                    if (count < 0) {
                        return got == expected.length ? "" : "ended after " + got + " of " + expected.length;
                    }
                    for (int i = 0; i < count; i++, got++) {
                        if (got >= expected.length || into[i] != expected[got]) {
                            return "another byte at " + got + " of " + expected.length;
                        }
                    }
                    pause(random);
                }
            } catch (SocketTimeoutException e) {
                return "nothing comes after " + got + " of " + expected.length;
            } catch (IOException e) {
                return "ended by " + e + " after " + got + " of " + expected.length;
            }
        }

        private static void pause(Random random) {
            if (random.nextInt(40) == 0) {
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(random.nextInt(3_000)));
            }
        }
    }
}
