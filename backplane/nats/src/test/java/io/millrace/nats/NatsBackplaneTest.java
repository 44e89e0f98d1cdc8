package io.millrace.nats;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.backplane.Backplane;
import io.millrace.backplane.Gap;
import io.millrace.backplane.Rooms;
import io.millrace.engine.Reactors;
import io.millrace.testkit.Await;
import io.millrace.testkit.BackplaneContract;
import io.millrace.testkit.CuttableProxy;
import io.millrace.testkit.DeliveryHistory;
import io.millrace.testkit.DeliveryHistory.Recorder;
import io.millrace.testkit.NatsProcess;
import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import io.nats.client.Nats;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("backplane over NATS")
class NatsBackplaneTest extends BackplaneContract {
    private static final AtomicInteger TESTS = new AtomicInteger();

    private static NatsProcess server;
    private static CuttableProxy proxy;

    private final String namespace = "test-" + TESTS.incrementAndGet();

    @BeforeAll
    static void startServer() throws Exception {
        server = new NatsProcess();
        proxy = new CuttableProxy(server.port());
    }

    @AfterAll
    static void endServer() throws Exception {
        if (server != null) {
            proxy.close();
            server.close();
        }
    }

    @Override
    protected String url() {
        return "nats://127.0.0.1:" + proxy.port();
    }

    @Override
    protected String namespace() {
        return namespace;
    }

    @Override
    protected void stopEngine() {
        server.kill();
    }

    @Override
    protected void startEngine(boolean withData) throws Exception {
        if (!withData) {
            server.forget();
        }
        server.start();
    }

    @Override
    protected void cutConnections() {
        proxy.cut();
    }

    @Test
    @DisplayName("bp-2: a stream that is deleted is a new epoch, told before the next message")
    void deleted() throws Exception {
        DeliveryHistory history = new DeliveryHistory();
        try (Reactors reactors = Reactors.builder().reactors(1).open();
                Backplane backplane = Backplane.builder(server.url(), reactors)
                        .namespace(namespace)
                        .open()) {
            Recorder recorder = history.recorder("subscriber");
            recorder.started(backplane.topic("room").subscribe(recorder));
            for (int i = 0; i < 3; i++) {
                history.publish(backplane.topic("room"), "p", i).get(10, TimeUnit.SECONDS);
            }
            Await.until("they have come", () -> recorder.count() == 3);
            Connection beside = Nats.connect(server.url());
            beside.jetStreamManagement().deleteStream(namespace + "-topic-room");
            beside.close();
            Await.until("a gap was told", () -> !recorder.gaps().isEmpty());
            history.publish(backplane.topic("room"), "q", 0).get(10, TimeUnit.SECONDS);
            Await.until("it has come", () -> recorder.has("q/0"));
            assertThat(recorder.gaps().getFirst().reason()).isEqualTo(Gap.Reason.NEW_EPOCH);
        }
        assertThat(history.problems()).isEmpty();
    }

    @Test
    @DisplayName("bp-5: a node that closes leaves nothing behind that only it has used")
    void nothingIsLeft() throws Exception {
        Connection beside = Nats.connect(server.url());
        try (Reactors reactors = Reactors.builder().reactors(1).open()) {
            Backplane backplane = Backplane.builder(server.url(), reactors)
                    .namespace(namespace)
                    .open();
            Rooms rooms = Rooms.on(
                    backplane,
                    () -> {
                        throw new AssertionError("nobody joins");
                    },
                    (room, message) -> null);
            Await.until("there are two streams", () -> streams(beside).size() == 2);
            rooms.close();
            backplane.close();
            Await.until("that of all nodes is left", () -> streams(beside).size() == 1);
        } finally {
            beside.close();
        }
    }

    private List<String> streams(Connection connection) {
        try {
            return connection.jetStreamManagement().getStreamNames().stream()
                    .filter(name -> name.startsWith(namespace + "-"))
                    .toList();
        } catch (IOException | JetStreamApiException e) {
            throw new AssertionError(e);
        }
    }
}
