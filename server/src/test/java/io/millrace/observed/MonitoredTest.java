package io.millrace.observed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.EventLoop;
import io.millrace.engine.LoopView;
import io.millrace.engine.Metrics;
import io.millrace.engine.Reactors;
import io.millrace.engine.StallReport;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.ConnectionSnapshot;
import io.millrace.server.DirectClient;
import io.millrace.server.DirectServer;
import io.millrace.server.Monitored;
import io.millrace.server.ServerMetrics;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("What a server tells about itself")
@Timeout(60)
@SuppressWarnings("try") // closed early, on purpose
class MonitoredTest {
    private static final ConnectionHandler ECHO = (connection, data) -> connection.send(data);

    /** Blocks the loop in {@code onData} until it is let go. */
    private static final class Blocker implements ConnectionHandler {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch letGo = new CountDownLatch(1);

        @Override
        public void onData(Connection connection, ByteBuffer data) throws InterruptedException {
            entered.countDown();
            letGo.await(40, TimeUnit.SECONDS);
        }
    }

    private static Socket connect(TcpServer server) throws Exception {
        Socket socket =
                new Socket(server.address().getAddress(), server.address().getPort());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static void exchange(Socket socket, String text) throws Exception {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        socket.getOutputStream().write(bytes);
        assertThat(socket.getInputStream().readNBytes(bytes.length)).isEqualTo(bytes);
    }

    @Test
    @DisplayName("obs-4: a server reaches its metrics, whoever opened its loops")
    void metricsOnAnyLoops() throws Exception {
        try (Reactors manager = Reactors.builder().reactors(1).name("mine").open();
                EventLoop loop = EventLoop.builder().name("loop").open();
                TcpServer onGlobal = TcpServer.listen(0, ECHO);
                TcpServer onOwn = TcpServer.builder()
                        .reactors(Reactors.builder().reactors(2).name("own"))
                        .start(ECHO);
                TcpServer onMine = TcpServer.builder().manager(manager).start(ECHO);
                TcpServer onLoop = TcpServer.builder().loop(loop).start(ECHO);
                DirectServer direct = DirectServer.listen(0, socket -> socket.readLine(10));
                TcpClient client = TcpClient.open();
                DirectClient directClient = DirectClient.open()) {
            for (Monitored each : List.of(onGlobal, onOwn, onMine, onLoop, direct, client, directClient)) {
                Metrics engine = each.metrics().engine().orElseThrow();
                assertThat(engine.loops()).hasSize(engine.reactors());
                assertThat(each.dump())
                        .startsWith(
                                each instanceof DirectServer d
                                        ? d.server().toString()
                                        : each instanceof DirectClient ? "TCP client" : each.toString())
                        .contains(
                                "0 connections open", engine.loops().getFirst().name());
                assertThat(each.metrics())
                        .hasToString(each.metrics().toString())
                        .asString()
                        .contains("bytes received");
            }
            assertThat(onOwn.metrics().engine().orElseThrow().loops())
                    .extracting(LoopView::name)
                    .containsExactly("own-0", "own-1");
        }
    }

    @Test
    @DisplayName("obs-4: counters and snapshots say what happened")
    void countsAndSnapshots() throws Exception {
        try (TcpServer server = TcpServer.builder()
                        .reactors(Reactors.builder().reactors(1).name("counted"))
                        .maxConnections(2)
                        .waterMarks(1_000, 2_000, 1 << 20)
                        .start(ECHO);
                Socket one = connect(server);
                Socket two = connect(server)) {
            exchange(one, "hello");
            exchange(two, "hello, world");
            try (Socket refused = connect(server)) {
                assertThat(refused.getInputStream().read()).isEqualTo(-1);
            }
            ServerMetrics metrics = server.metrics();
            assertThat(metrics.connections()).isEqualTo(2);
            assertThat(metrics.connectionsOpened()).isEqualTo(2);
            assertThat(metrics.connectionsTurnedAway()).isEqualTo(1);
            await().untilAsserted(() -> {
                assertThat(metrics.bytesReceived()).isEqualTo(17);
                assertThat(metrics.bytesSent()).isEqualTo(17);
            });
            assertThat(metrics.bytesQueued()).isZero();
            assertThat(metrics.connectionsFull()).isZero();

            ConnectionSnapshot first = server.connections().stream()
                    .filter(each -> each.remoteAddress().equals(one.getLocalSocketAddress()))
                    .findFirst()
                    .orElseThrow();
            assertThat(first.state()).isEqualTo(ConnectionSnapshot.State.OPEN);
            assertThat(first.bytesReceived()).isEqualTo(5);
            assertThat(first.loop()).isEqualTo("counted-0");
            assertThat(first.handler()).startsWith(MonitoredTest.class.getName());
            assertThat(first.lowWater()).isEqualTo(1_000);
            assertThat(first.highWater()).isEqualTo(2_000);
            assertThat(first.age()).isPositive().isGreaterThanOrEqualTo(first.idle());
            assertThat(first.secured()).isEmpty();
            assertThat(first.localAddress()).isNull();
            assertThat(server.connection(first.id()).orElseThrow().localAddress())
                    .isEqualTo(server.address());
            assertThat(server.connection(99)).isEmpty();
            assertThat(server.remaining()).hasSize(2).allMatch(line -> line.endsWith("on counted-0"));

            assertThat(server.context().close(first.id())).isTrue();
            assertThat(one.getInputStream().read()).isEqualTo(-1);
            one.close();
            await().untilAsserted(
                            () -> assertThat(server.connection(first.id())).isEmpty());
        }
    }

    @Test
    @DisplayName("obs-4: a counter never decreases, whoever closes connections meanwhile")
    void countersNeverDecrease() throws Exception {
        int many = 400;
        List<Socket> peers = new ArrayList<>();
        try (TcpServer server = TcpServer.builder()
                .reactors(Reactors.builder().reactors(2).name("churned"))
                .backlog(many)
                .start(ECHO)) {
            for (int i = 0; i < many; i++) {
                peers.add(connect(server));
                exchange(peers.getLast(), "x".repeat(100));
            }
            ServerMetrics metrics = server.metrics();
            await().untilAsserted(() -> assertThat(metrics.bytesReceived()).isEqualTo(many * 100L));
            Thread closes = Thread.ofPlatform().start(() -> {
                for (ConnectionSnapshot each : server.connections()) {
                    server.context().close(each.id());
                }
            });
            while (metrics.connections() > 0) {
                assertThat(metrics.bytesReceived()).isEqualTo(many * 100L);
                assertThat(metrics.bytesSent()).isEqualTo(many * 100L);
            }
            closes.join();
            assertThat(metrics.bytesReceived()).isEqualTo(many * 100L);
        } finally {
            for (Socket peer : peers) {
                peer.close();
            }
        }
    }

    @Test
    @DisplayName("obs-4: what waits to be sent shows in the snapshot, the metrics and the dump")
    void showsWhatWaits() throws Exception {
        AtomicReference<Connection> connection = new AtomicReference<>();
        ConnectionHandler floods = new ConnectionHandler() {
            @Override
            public void onConnect(Connection opened) {
                connection.set(opened);
            }

            @Override
            public void onData(Connection opened, ByteBuffer data) {
                opened.send(ByteBuffer.allocate(32 << 20));
            }
        };
        try (TcpServer server = TcpServer.builder()
                        .waterMarks(32 << 10, 64 << 10, 64 << 20)
                        .start(floods);
                Socket peer = connect(server)) {
            peer.getOutputStream().write(1);
            await().untilAsserted(
                            () -> assertThat(server.metrics().connectionsFull()).isEqualTo(1));
            ConnectionSnapshot full = server.connections().getFirst();
            assertThat(full.isFull()).isTrue();
            assertThat(full.paused()).isTrue();
            assertThat(server.metrics().bytesQueued()).isGreaterThan(full.highWater());
            assertThat(server.dump()).contains("bytes wait to be sent", "a shutdown would wait for 1");
            connection.get().abort();
            await().untilAsserted(() ->
                    assertThat(server.metrics().connectionsFailed()).isEqualTo(1));
        }
    }

    @Test
    @DisplayName("obs-4: a blocked loop is listed, dumped and named with the line that blocks it")
    void tellsWhileBlocked() throws Exception {
        Blocker handler = new Blocker();
        try (TcpServer server = TcpServer.builder()
                        .reactors(Reactors.builder().reactors(1).name("held"))
                        .start(handler);
                Socket peer = connect(server)) {
            peer.getOutputStream().write(1);
            assertThat(handler.entered.await(20, TimeUnit.SECONDS)).isTrue();
            LoopView loop = server.metrics().engine().orElseThrow().loops().getFirst();
            await().untilAsserted(() -> assertThat(loop.stalls().blocked()).hasSize(1));
            StallReport.Blocked stall = loop.stalls().blocked().getFirst();
            assertThat(stall.place()).isEqualTo(Blocker.class.getName() + ".onData");
            assertThat(stall.ongoing()).isTrue();
            assertThat(stall.line().orElseThrow().getFileName()).isEqualTo("MonitoredTest.java");
            assertThat(stall.tally().count()).isEqualTo(1);
            await().untilAsserted(() -> assertThat(
                            loop.stalls().blocked().getFirst().tally().longest())
                    .isGreaterThan(Duration.ofMillis(250)));

            assertThat(loop.activity()).isEqualTo(LoopView.Activity.WORKING);
            assertThat(loop.turnLasts()).isGreaterThan(Duration.ofMillis(200));
            assertThat(loop.running().orElseThrow()).contains("connection 1");
            assertThat(loop.stack()).anyMatch(frame -> frame.getClassName().equals(Blocker.class.getName()));
            assertThat(server.connections()).hasSize(1);
            assertThat(server.dump()).contains("held-0: has been in a turn for");

            handler.letGo.countDown();
            await().untilAsserted(() -> {
                assertThat(loop.stalls().blocked().getFirst().ongoing()).isFalse();
                assertThat(loop.activity()).isEqualTo(LoopView.Activity.SLEEPING);
            });
            assertThat(loop.running()).isEmpty();
            assertThat(loop.turnLasts()).isZero();
            // Its duration was followed until the end, and counted once.
            StallReport.Tally tally = loop.stalls().blocked().getFirst().tally();
            assertThat(tally.count()).isEqualTo(1);
            assertThat(tally.total()).isEqualTo(tally.longest());
        }
    }

    @Test
    @DisplayName("obs-4: a loop tells its next alarms, its sources and its busy time")
    void tellsAlarmsAndSources() throws Exception {
        try (Reactors manager = Reactors.builder().reactors(1).name("alarms").open();
                TcpServer server = TcpServer.builder()
                        .manager(manager)
                        .address(new InetSocketAddress("127.0.0.1", 0))
                        .start(ECHO);
                Socket peer = connect(server)) {
            exchange(peer, "x");
            CountDownLatch ran = new CountDownLatch(2);
            manager.schedule(Duration.ofMillis(1), fired -> ran.countDown());
            manager.schedule(Duration.ofHours(2), fired -> {});
            manager.schedule(Duration.ofHours(1), fired -> {});
            manager.execute(ran::countDown);
            assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
            LoopView loop = manager.metrics().loops().getFirst();
            await().untilAsserted(() -> assertThat(loop.nextAlarms(10)).hasSize(2));
            assertThat(loop.nextAlarms(1)).hasSize(1);
            assertThat(loop.nextAlarms(0)).isEmpty();
            assertThat(loop.nextAlarms(1).getFirst().in()).isBetween(Duration.ofMinutes(50), Duration.ofHours(1));
            await().untilAsserted(() ->
                    assertThat(loop.sources(10)).hasSize(2).anyMatch(line -> line.contains("TcpListener")));
            assertThat(loop.sources(1)).hasSize(1);

            Metrics metrics = manager.metrics();
            await().untilAsserted(() -> {
                assertThat(metrics.busyNanos())
                        .isPositive()
                        .isEqualTo(metrics.turnTime().sumNanos());
                assertThat(metrics.turnTime().buckets().stream()
                                .mapToLong(b -> b.count())
                                .sum())
                        .isEqualTo(metrics.turns());
            });
            assertThat(metrics.loopLag().count()).isEqualTo(1);
            assertThat(metrics.loopLag().buckets()).hasSize(1);
            assertThat(metrics.loopLag().sumNanos()).isEqualTo(metrics.loopLag().maxNanos());
        }
    }
}
