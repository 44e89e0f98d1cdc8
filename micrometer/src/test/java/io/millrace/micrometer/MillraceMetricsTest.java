package io.millrace.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.engine.Histogram;
import io.millrace.engine.LoopView;
import io.millrace.engine.Metrics;
import io.millrace.engine.Reactors;
import io.millrace.engine.pool.ComputePool;
import io.millrace.engine.pool.ObjectPool;
import io.millrace.server.TcpServer;
import io.millrace.server.tls.Tls;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Millrace in Micrometer")
@Timeout(60)
@SuppressWarnings("try") // closed early, on purpose
class MillraceMetricsTest {
    @TempDir
    private Path folder;

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    private double counter(String name, String... tags) {
        return registry.get("millrace." + name).tags(tags).functionCounter().count();
    }

    private double gauge(String name, String... tags) {
        return registry.get("millrace." + name).tags(tags).gauge().value();
    }

    @Test
    @DisplayName("obs-2: bound to one registry twice, a histogram has each value once")
    void boundTwice() throws Exception {
        try (Reactors reactors = Reactors.builder().reactors(1).name("twice").open();
                MillraceMetrics metrics =
                        MillraceMetrics.builder().add(reactors.metrics()).build()) {
            metrics.bindTo(registry);
            metrics.bindTo(registry);
            CountDownLatch fired = new CountDownLatch(5);
            for (int i = 0; i < 5; i++) {
                reactors.schedule(Duration.ofMillis(1), ok -> fired.countDown());
            }
            assertThat(fired.await(20, TimeUnit.SECONDS)).isTrue();
            metrics.refresh();
            assertThat(registry.get("millrace.eventloop.delay").timer().count()).isEqualTo(5);
        }
    }

    @Test
    @DisplayName("obs-2: a registry shows a script of known work")
    void showsKnownWork() throws Exception {
        try (Reactors reactors = Reactors.builder().reactors(1).name("known").open();
                ComputePool pool = ComputePool.builder().threads(1).open();
                ObjectPool<byte[]> objects = ObjectPool.of(() -> new byte[1]);
                TcpServer server =
                        TcpServer.builder().manager(reactors).maxConnections(1).start((c, data) -> c.send(data));
                MillraceMetrics metrics = MillraceMetrics.builder()
                        .add("echo", server)
                        .add(reactors.metrics())
                        .add("compute", pool)
                        .add("objects", objects)
                        .addSet("jobs", () -> 7)
                        .build()) {
            metrics.bindTo(registry);
            try (Socket peer =
                    new Socket(server.address().getAddress(), server.address().getPort())) {
                peer.getOutputStream().write(new byte[1_000]);
                assertThat(peer.getInputStream().readNBytes(1_000)).hasSize(1_000);
                try (Socket refused = new Socket(
                        server.address().getAddress(), server.address().getPort())) {
                    assertThat(refused.getInputStream().read()).isEqualTo(-1);
                }
                CountDownLatch fired = new CountDownLatch(10);
                for (int i = 0; i < 10; i++) {
                    reactors.schedule(Duration.ofMillis(1), ok -> fired.countDown());
                }
                reactors.schedule(Duration.ofHours(1), ok -> {});
                assertThat(fired.await(20, TimeUnit.SECONDS)).isTrue();
                pool.submit(() -> 1).get(20, TimeUnit.SECONDS);
                objects.acquire().close();

                assertThat(gauge("connections", "server", "echo", "state", "open"))
                        .isEqualTo(1);
                assertThat(counter("connections.opened", "server", "echo")).isEqualTo(1);
                assertThat(counter("connections.refused")).isEqualTo(1);
                await().untilAsserted(() -> {
                    assertThat(counter("network.io", "direction", "receive")).isEqualTo(1_000);
                    assertThat(counter("network.io", "direction", "transmit")).isEqualTo(1_000);
                    assertThat(gauge("eventloop.alarms.pending", "loop", "known-0"))
                            .isEqualTo(1);
                    assertThat(counter("pool.tasks", "pool", "compute", "outcome", "completed"))
                            .isEqualTo(1);
                });
                assertThat(gauge("output.queued")).isZero();
                assertThat(counter("tls.handshakes", "outcome", "completed")).isZero();
                assertThat(counter("eventloop.alarms.due", "loop", "known-0")).isEqualTo(10);
                assertThat(gauge("eventloop.queue.depth", "priority", "normal")).isZero();
                assertThat(counter("eventloop.stalls", "kind", "blocked")).isZero();
                assertThat(counter("objects.acquired", "pool", "objects")).isEqualTo(1);
                assertThat(gauge("set.size", "set", "jobs")).isEqualTo(7);
                assertThat(gauge("eventloop.sources")).isEqualTo(2);
            }
        }
    }

    @Test
    @DisplayName("obs-2: delay and turn are histograms, with every value in its bucket, once")
    void histogramsAreHistograms() throws Exception {
        try (Reactors reactors = Reactors.builder().reactors(1).name("hist").open();
                MillraceMetrics metrics =
                        MillraceMetrics.builder().add(reactors.metrics()).build()) {
            CountDownLatch early = new CountDownLatch(3);
            for (int i = 0; i < 3; i++) {
                reactors.schedule(Duration.ofMillis(1), ok -> early.countDown());
            }
            assertThat(early.await(20, TimeUnit.SECONDS)).isTrue();
            LoopView loop = reactors.metrics().loops().getFirst();
            await().until(() -> loop.activity() == LoopView.Activity.SLEEPING);
            Histogram turnsBefore = loop.metrics().turnTime();
            Histogram lagBefore = loop.metrics().loopLag();
            metrics.bindTo(registry);
            CountDownLatch fired = new CountDownLatch(25);
            for (int i = 0; i < 25; i++) {
                reactors.schedule(Duration.ofMillis(1 + i), ok -> fired.countDown());
            }
            assertThat(fired.await(20, TimeUnit.SECONDS)).isTrue();
            Metrics known = reactors.metrics();
            Timer delay = registry.get("millrace.eventloop.delay").timer();
            Timer turn = registry.get("millrace.eventloop.turn").timer();
            await().untilAsserted(() -> {
                metrics.refresh();
                metrics.refresh(); // what was passed on is not passed on again
                assertThat(delay.count()).isEqualTo(25);
                assertThat(turn.count())
                        .isPositive()
                        .isEqualTo(known.turnTime().since(turnsBefore).count());
            });
            Histogram lag = known.loopLag().since(lagBefore);
            assertThat(lag.count()).as("what was before is not passed on").isEqualTo(25);
            assertThat(delay.max(TimeUnit.NANOSECONDS)).isEqualTo(lag.maxNanos());
            assertThat(delay.totalTime(TimeUnit.NANOSECONDS))
                    .isBetween((double) lag.sumNanos(), lag.sumNanos() * 1.125 + 25);
            var buckets = delay.takeSnapshot().histogramCounts();
            assertThat(buckets).hasSize(6);
            assertThat(buckets[buckets.length - 1].count()).isEqualTo(25);
            assertThat(Arrays.stream(buckets).filter(each -> each.bucket() == 1e7))
                    .singleElement()
                    .satisfies(each -> assertThat(each.count())
                            .isEqualTo(lag.buckets().stream()
                                    .filter(bucket -> bucket.atMostNanos() <= 10_000_000)
                                    .mapToLong(Histogram.Bucket::count)
                                    .sum()));
        }
    }

    /** A certificate that is its own authority, made by the JDK's keytool. */
    private SSLContext ownKeys() throws Exception {
        Path store = folder.resolve("store.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "own",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        "secret")
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(said).isZero();
        KeyStore own = KeyStore.getInstance(store.toFile(), "secret".toCharArray());
        KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
        keys.init(own, "secret".toCharArray());
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("own", own.getCertificate("own"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
        trust.init(trusted);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    @Test
    @DisplayName("obs-2: counts TLS handshakes that were completed, and those that failed")
    void countsHandshakes() throws Exception {
        SSLContext keys = ownKeys();
        try (TcpServer server =
                        TcpServer.builder().tls(Tls.of(keys)).start((connection, data) -> connection.send(data));
                MillraceMetrics metrics =
                        MillraceMetrics.builder().add("tls", server).build()) {
            metrics.bindTo(registry);
            for (int i = 0; i < 2; i++) {
                try (Socket peer = keys.getSocketFactory()
                        .createSocket(
                                server.address().getAddress(), server.address().getPort())) {
                    peer.getOutputStream().write(7);
                    assertThat(peer.getInputStream().read()).isEqualTo(7);
                }
            }
            for (int i = 0; i < 3; i++) {
                try (Socket plain = new Socket(
                        server.address().getAddress(), server.address().getPort())) {
                    plain.getOutputStream().write("GET / HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                    plain.getInputStream().readAllBytes();
                }
            }
            await().untilAsserted(() -> {
                assertThat(counter("tls.handshakes", "outcome", "completed")).isEqualTo(2);
                assertThat(counter("tls.handshakes", "outcome", "failed")).isEqualTo(3);
                assertThat(counter("network.io", "direction", "receive")).isEqualTo(2);
            });
        }
    }

    @Test
    @DisplayName("obs-2: loops of the same name have meters of their own")
    void sameNames() {
        try (Reactors one = Reactors.builder().reactors(1).name("same").open();
                Reactors two = Reactors.builder().reactors(1).name("same").open();
                MillraceMetrics metrics = MillraceMetrics.builder()
                        .add(one.metrics())
                        .add(two.metrics())
                        .build()) {
            metrics.bindTo(registry);
            assertThat(registry.get("millrace.eventloop.turns").functionCounters())
                    .extracting(each -> each.getId().getTag("loop"))
                    .containsExactlyInAnyOrder("same-0", "same-0 (2)");
        }
    }

    @Test
    @DisplayName("obs-2: loops that two servers share are bound once, and a blocked loop counts as busy")
    void sharedLoops() throws Exception {
        CountDownLatch letGo = new CountDownLatch(1);
        try (Reactors reactors = Reactors.builder().reactors(1).name("shared").open();
                TcpServer one = TcpServer.builder().manager(reactors).start((c, data) -> {});
                TcpServer two = TcpServer.builder().manager(reactors).start((c, data) -> {});
                MillraceMetrics metrics = MillraceMetrics.builder()
                        .add("one", one)
                        .add("two", two)
                        .build()) {
            metrics.bindTo(registry);
            assertThat(registry.get("millrace.eventloop.turns").functionCounters())
                    .hasSize(1);
            assertThat(registry.get("millrace.connections.opened").functionCounters())
                    .hasSize(2);
            reactors.execute(() -> {
                try {
                    letGo.await(40, TimeUnit.SECONDS);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            await().untilAsserted(
                            () -> assertThat(gauge("eventloop.utilization")).isGreaterThan(0.9));
            await().untilAsserted(() ->
                    assertThat(counter("eventloop.stalls", "kind", "blocked")).isEqualTo(1));
            letGo.countDown();
            assertThatThrownBy(() -> MillraceMetrics.builder().add("one", one).add("one", two))
                    .hasMessageContaining("two under the name one");
            metrics.close();
            assertThatThrownBy(() -> metrics.bindTo(registry)).hasMessageContaining("closed");
        }
    }
}
