package io.millrace.observed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import java.io.File;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import jdk.jfr.Configuration;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Events for the flight recorder")
@Timeout(60)
@SuppressWarnings("try") // closed early, on purpose
class FlightRecorderTest {
    @TempDir
    Path folder;

    /** Computes for a while, without a clock that tests could move: long enough for the watchdog to notice. */
    private static final class Holds implements ConnectionHandler {
        final CountDownLatch letGo = new CountDownLatch(1);

        @Override
        public void onData(Connection connection, ByteBuffer data) throws InterruptedException {
            letGo.await(40, TimeUnit.SECONDS);
            connection.send(data);
        }
    }

    private List<RecordedEvent> read(Recording recording) throws Exception {
        recording.stop();
        Path file = folder.resolve("recording.jfr");
        recording.dump(file);
        return RecordingFile.readAllEvents(file);
    }

    private static List<RecordedEvent> of(List<RecordedEvent> events, String name, String loop) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals("millrace." + name))
                .filter(event -> loop.equals(event.getString("loop")))
                .toList();
    }

    @Test
    @DisplayName("obs-1: what happened is read back from a recording made with the settings file")
    void recordsWhatHappened() throws Exception {
        Configuration settings = Configuration.create(Path.of("../docs/millrace.jfc"));
        Holds handler = new Holds();
        try (Recording recording = new Recording(settings)) {
            recording.enable("millrace.Alarm").withoutThreshold();
            recording.enable("millrace.LoopLag").withPeriod(Duration.ofMillis(20));
            recording.start();
            String remote;
            try (TcpServer server = TcpServer.builder()
                            .reactors(Reactors.builder().reactors(1).name("recorded"))
                            .maxConnections(1)
                            .start(handler);
                    Socket peer = new Socket(
                            server.address().getAddress(), server.address().getPort())) {
                remote = peer.getLocalSocketAddress().toString();
                peer.getOutputStream().write(new byte[3]);
                var loop = server.metrics().engine().orElseThrow().loops().getFirst();
                await().until(() -> !loop.stalls().blocked().isEmpty());
                handler.letGo.countDown();
                assertThat(peer.getInputStream().readNBytes(3)).hasSize(3);
                await().until(() -> !loop.stalls().blocked().getFirst().ongoing());
                try (Socket refused = new Socket(
                        server.address().getAddress(), server.address().getPort())) {
                    assertThat(refused.getInputStream().read()).isEqualTo(-1);
                }
            }
            try (Reactors manager =
                    Reactors.builder().reactors(1).name("alarmed").open()) {
                CountDownLatch fired = new CountDownLatch(1);
                manager.schedule(Duration.ofMillis(1), ok -> fired.countDown());
                assertThat(fired.await(20, TimeUnit.SECONDS)).isTrue();
            }
            List<RecordedEvent> events = read(recording);

            List<RecordedEvent> accepts = of(events, "Accept", "recorded-0");
            assertThat(accepts)
                    .extracting(event -> event.getString("outcome"))
                    .containsExactlyInAnyOrder("TAKEN", "FULL");
            assertThat(accepts)
                    .anyMatch(event -> event.getString("remoteAddress").equals(remote));

            RecordedEvent connection = of(events, "Connection", "recorded-0").getFirst();
            assertThat(connection.getString("remoteAddress")).isEqualTo(remote);
            assertThat(connection.getLong("bytesReceived")).isEqualTo(3);
            assertThat(connection.getLong("bytesSent")).isEqualTo(3);
            assertThat(connection.getString("handler")).isEqualTo(Holds.class.getName());
            assertThat(connection.getDuration("age")).isGreaterThan(Duration.ofMillis(90));
            assertThat(connection.getString("cause")).isEmpty();

            List<RecordedEvent> blocked = of(events, "BlockedHandler", "recorded-0");
            assertThat(blocked).extracting(event -> event.getBoolean("ended")).containsExactly(false, true);
            assertThat(blocked).allSatisfy(event -> {
                assertThat(event.getString("place")).isEqualTo(Holds.class.getName() + ".onData");
                assertThat(event.getString("blockedStack")).contains("FlightRecorderTest.java:");
                assertThat(event.getDuration("heldFor")).isGreaterThanOrEqualTo(Duration.ofMillis(90));
            });

            assertThat(of(events, "Turn", "recorded-0")).isNotEmpty().allSatisfy(event -> {
                assertThat(event.getDuration()).isGreaterThanOrEqualTo(Duration.ofMillis(20));
                assertThat(event.getInt("items")).isPositive();
            });
            assertThat(of(events, "LoopLag", "recorded-0"))
                    .isNotEmpty()
                    .anyMatch(event -> event.getFloat("utilisation") > 0.5)
                    .anyMatch(event -> event.getDuration("inTurnFor").toMillis() > 20);

            RecordedEvent alarm = of(events, "Alarm", "alarmed-0").getFirst();
            assertThat(alarm.getString("callback")).contains("FlightRecorderTest");
            assertThat(alarm.getString("priority")).isEqualTo("NORMAL");
            assertThat(alarm.getDuration("late")).isBetween(Duration.ZERO, Duration.ofSeconds(20));
        }
    }

    @Test
    @DisplayName("obs-1: the lag of an event is that of the time since the last one, and its alarms add up")
    void lagIsOfThePeriod() throws Exception {
        try (Recording recording = new Recording();
                Reactors manager =
                        Reactors.builder().reactors(1).name("lagging").open()) {
            recording.enable("millrace.LoopLag").withPeriod(Duration.ofMillis(20));
            recording.start();
            CountDownLatch fired = new CountDownLatch(10);
            // The loop is held, so that the alarms are late by far more than those of a machine that is busy.
            CountDownLatch letGo = new CountDownLatch(1);
            manager.execute(() -> {
                for (int i = 0; i < 10; i++) {
                    manager.schedule(Duration.ofMillis(1), ok -> fired.countDown());
                }
                awaitQuietly(letGo);
            });
            long held = System.nanoTime();
            await().until(() -> System.nanoTime() - held > 300_000_000);
            letGo.countDown();
            assertThat(fired.await(20, TimeUnit.SECONDS)).isTrue();
            long fires = System.nanoTime();
            await().until(() -> System.nanoTime() - fires > 200_000_000);
            List<RecordedEvent> events = of(read(recording), "LoopLag", "lagging-0");
            assertThat(events.stream()
                            .mapToLong(event -> event.getLong("alarms"))
                            .sum())
                    .isEqualTo(10);
            List<RecordedEvent> late =
                    events.stream().filter(event -> event.getLong("alarms") > 0).toList();
            assertThat(late)
                    .allSatisfy(event -> assertThat(event.getDuration("lagMax")).isGreaterThan(Duration.ofMillis(250)));
            assertThat(events.getLast().getLong("alarms")).isZero();
            assertThat(events.getLast().getDuration("lagMax")).isEqualTo(Duration.ZERO);
            assertThat(events.getLast().getDuration("lagP99")).isEqualTo(Duration.ZERO);
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await(40, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    @DisplayName("obs-1: an event that is not enabled is not recorded")
    void recordsNothingElse() throws Exception {
        try (Recording recording = new Recording()) {
            recording.enable("millrace.Accept"); // the one of connections is off by default
            for (String other : List.of("Turn", "LoopLag", "Alarm", "BlockedHandler")) {
                recording.disable("millrace." + other);
            }
            recording.start();
            try (TcpServer server = TcpServer.builder()
                            .reactors(Reactors.builder().reactors(1).name("quiet"))
                            .start((connection, data) -> connection.send(data));
                    Socket peer = new Socket(
                            server.address().getAddress(), server.address().getPort())) {
                peer.getOutputStream().write(1);
                assertThat(peer.getInputStream().read()).isEqualTo(1);
            }
            assertThat(read(recording))
                    .extracting(event -> event.getEventType().getName())
                    .containsOnly("millrace.Accept");
        }
    }

    @Test
    @DisplayName("obs-1: the settings file names every event, and no other")
    void settingsNameEveryEvent() throws Exception {
        try (Reactors used = Reactors.builder().reactors(1).open();
                Recording recording = new Recording();
                TcpServer server = TcpServer.builder().manager(used).start((connection, data) -> {})) {
            recording.start();
            try (Socket peer =
                    new Socket(server.address().getAddress(), server.address().getPort())) {
                await().until(() -> FlightRecorder.getFlightRecorder().getEventTypes().stream()
                                .filter(type -> type.getName().startsWith("millrace."))
                                .count()
                        == 6);
            }
            assertThat(FlightRecorder.getFlightRecorder().getEventTypes().stream()
                            .map(type -> type.getName())
                            .filter(name -> name.startsWith("millrace."))
                            .collect(Collectors.toSet()))
                    .isEqualTo(Configuration.create(Path.of("../docs/millrace.jfc")).getSettings().keySet().stream()
                            .map(key -> key.substring(0, key.indexOf('#')))
                            .collect(Collectors.toSet()));
        }
    }

    /** A JVM without the module, in a process of its own: class files of this build, on the class path. */
    @Test
    @DisplayName("obs-1: a server runs on a JVM that has no flight recorder")
    void runsWithoutTheModule() throws Exception {
        String modules = System.getProperty("jdk.module.path", "");
        String classes = System.getProperty("java.class.path", "");
        String main = Path.of(FlightRecorderTest.class
                        .getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI())
                .toString();
        Path tests = Path.of("target/quick/test-classes").toAbsolutePath();
        String path = String.join(
                File.pathSeparator,
                modules,
                classes,
                main,
                tests.toString(),
                Path.of("target/test-classes").toAbsolutePath().toString());
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--limit-modules",
                        "java.base,java.logging,jdk.net,jdk.unsupported,jdk.management",
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        path,
                        WithoutRecorder.class.getName())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).as(said).isZero();
        assertThat(said).contains("recorder: false", "echo: 42");
    }
}
