package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.engine.Dispatch;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.Idle;
import io.millrace.server.SendResult;
import io.millrace.server.TcpServer;
import io.millrace.testkit.TestConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("Handlers are tested without sockets")
class TestingAHandlerTest {
    @Test
    @DisplayName("srv-17: a write is taken in part, and the rest waits until the peer reads on")
    void partialWrites() {
        try (TestConnection peer = TestConnection.open((connection, data) -> connection.send(data))) {
            peer.peerStopsReading();
            peer.receive("abcdef");
            assertThat(peer.sentText()).isEmpty();
            assertThat(peer.connection().queuedBytes()).isEqualTo(6);
            peer.advance(Duration.ofSeconds(20));
            peer.peerReads(2);
            assertThat(peer.takeSentText()).isEqualTo("ab");
            assertThat(peer.connection().queuedBytes()).isEqualTo(4);
            peer.advance(Duration.ofSeconds(30).minusNanos(1)); // the write timeout counts from the last byte
            peer.peerReadsAll();
            assertThat(peer.takeSentText()).isEqualTo("cdef");
            peer.receiveInPieces("ghi", 2);
            assertThat(peer.sentText()).isEqualTo("ghi");
            peer.peerStopsReading();
            peer.receive("j");
            peer.advance(Duration.ofSeconds(30).minusNanos(1));
            assertThat(peer.isClosed()).isFalse();
            peer.advance(Duration.ofNanos(1));
            assertThat(peer.isClosed()).isTrue();
        }
    }

    @Test
    @DisplayName("srv-17: what takes more reads than one turn of a loop has is received all the same")
    void manyReads() {
        TcpServer.Builder settings = TcpServer.builder().bufferSize(1);
        try (TestConnection peer = TestConnection.open(settings, (connection, data) -> connection.send(data))) {
            String text = "x".repeat(1000);
            peer.receive(text);
            assertThat(peer.sentText()).isEqualTo(text);
        }
    }

    @Test
    @DisplayName("srv-17: what was sent before the peer stops reading, on whatever thread, is read")
    void sentBeforeItStops() {
        try (TestConnection peer = TestConnection.open((connection, data) -> {})) {
            peer.connection().send("before");
            peer.peerStopsReading();
            peer.connection().send("after");
            assertThat(peer.sentText()).isEqualTo("before");
            peer.peerReadsAll();
            assertThat(peer.sentText()).isEqualTo("beforeafter");
        }
    }

    @Test
    @DisplayName("srv-17: while time passes, each timeout fires at its own time")
    void timeoutsInOrder() {
        List<String> log = new ArrayList<>();
        ConnectionHandler patient = new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {}

            @Override
            public void onIdle(Connection connection, Idle kind) {
                log.add(kind.name());
            }
        };
        TcpServer.Builder settings =
                TcpServer.builder().readIdleTimeout(Duration.ofSeconds(10)).writeIdleTimeout(Duration.ofSeconds(4));
        try (TestConnection peer = TestConnection.open(settings, patient)) {
            peer.advance(Duration.ofSeconds(13));
            assertThat(log).containsExactly("WRITE", "WRITE", "READ", "WRITE");
        }
    }

    @Test
    @DisplayName("srv-17: the check of a split says which split failed")
    void failingSplit() {
        ConnectionHandler broken = (connection, data) -> {
            connection.send(data.remaining() == 3 ? "" : "x");
        };
        assertThatThrownBy(() -> TestConnection.receiveAtEverySplit(
                        () -> TestConnection.open(broken),
                        "abcd".getBytes(UTF_8),
                        peer -> assertThat(peer.sentText()).isEqualTo("xx")))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("split after byte 1 of 4");
    }

    @Test
    @DisplayName(
            "srv-17: callbacks run on the calling thread under every dispatch, and a buffer that was kept is overwritten")
    void oneThread() {
        for (Dispatch dispatch : Dispatch.values()) {
            List<Thread> threads = new ArrayList<>();
            List<ByteBuffer> kept = new ArrayList<>();
            TcpServer.Builder settings = TcpServer.builder().dispatch(dispatch, 2);
            try (TestConnection peer = TestConnection.open(settings, (connection, data) -> {
                threads.add(Thread.currentThread());
                assertThat(data.isDirect()).isEqualTo(dispatch == Dispatch.LOOP);
                kept.add(data);
                connection.send(data.duplicate());
            })) {
                peer.receive("abc");
                assertThat(peer.sentText()).isEqualTo("abc");
                assertThat(threads).containsExactly(Thread.currentThread());
                if (dispatch == Dispatch.LOOP) {
                    assertThat(kept.getFirst().get(0)).isNotEqualTo((byte) 'a');
                }
            }
        }
    }

    @Test
    @DisplayName("srv-17: a handler may receive on its own connection from a callback; it is told afterwards")
    void receivesInACallback() {
        List<TestConnection> opened = new ArrayList<>();
        List<String> log = new ArrayList<>();
        TestConnection peer = TestConnection.open((connection, data) -> {
            String text = UTF_8.decode(data).toString();
            if (text.equals("first")) {
                opened.getFirst().receive("second");
            }
            log.add(text);
        });
        opened.add(peer);
        peer.receive("first");
        assertThat(log).containsExactly("first", "second");
        peer.close();
        peer.close();
        assertThat(peer.isClosed()).isTrue();
    }

    @Test
    @DisplayName("srv-17, end-9: a test can tell a regular end from a reset, also of a connection that fails")
    void resets() {
        try (TestConnection peer = TestConnection.open((connection, data) -> connection.send(data))) {
            peer.receive("a");
            peer.connection().abort();
            assertThat(peer.hasOutputEnded()).isTrue();
            assertThat(peer.wasReset()).isFalse();
        }
        try (TestConnection peer = TestConnection.open((connection, data) -> {
            connection.send(data);
            connection.abort();
        })) {
            peer.receive("a");
            assertThat(peer.isClosed()).isTrue();
            assertThat(peer.sent()).isEmpty();
            assertThat(peer.wasReset()).isTrue();
            assertThat(peer.hasOutputEnded()).isFalse();
        }
        try (TestConnection peer = TestConnection.open((connection, data) -> connection.send(data))) {
            peer.peerStopsReading();
            peer.receive("a");
            peer.reset();
            assertThat(peer.isClosed()).isTrue();
            assertThat(peer.wasReset()).isTrue();
        }
        try (TestConnection peer = TestConnection.open((connection, data) -> connection.reset())) {
            peer.receive("a");
            assertThat(peer.wasReset()).isTrue();
        }
    }

    @Test
    @DisplayName("srv-12, mill-8: one that is paused behind its last frame is idle, because nothing waits")
    void pausedBehindTheLastFrame() {
        TcpServer.Builder settings = TcpServer.builder().readIdleTimeout(Duration.ofSeconds(10));
        try (TestConnection peer = TestConnection.open(
                settings, Framing.lines(10).frames((connection, data) -> connection.pauseReads()))) {
            peer.receive("a\n");
            peer.advance(Duration.ofSeconds(9));
            assertThat(peer.isClosed()).isFalse();
            peer.advance(Duration.ofSeconds(2));
            assertThat(peer.isClosed()).isTrue();
        }
    }

    @Test
    @DisplayName("srv-17: a handler that always leaves something for the next turn fails the test and does not hang it")
    void neverIdle() {
        ConnectionHandler restless = new ConnectionHandler() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                again(connection);
            }

            private void again(Connection connection) {
                connection.execute(() -> again(connection));
            }
        };
        TestConnection peer = TestConnection.open(restless);
        assertThatThrownBy(() -> peer.receive("x"))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("not idle after");
    }

    @Test
    @DisplayName(
            "srv-17, srv-2: several connections of one server, from addresses of their own; one that was turned away has no connection")
    void several() {
        TcpServer.Builder settings = TcpServer.builder().maxConnectionsPerAddress(1);
        try (TestConnection one = TestConnection.open(settings, connection -> (same, data) -> {
            assertThat(same).isSameAs(connection);
            same.server().broadcast(data);
        })) {
            TestConnection refused = one.openAnother();
            assertThat(refused.isClosed()).isTrue();
            assertThatThrownBy(refused::connection)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("turned it away");
            InetSocketAddress elsewhere = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), 1);
            TestConnection other = one.openAnother(elsewhere);
            assertThat(other.connection().remoteAddress()).isEqualTo(elsewhere);
            one.receive("all");
            assertThat(other.sentText()).isEqualTo("all");
            assertThat(one.server().connections()).hasSize(2);
            other.reset();
            assertThat(one.server().connections()).hasSize(1);
            assertThat(other.connection().send("x")).isEqualTo(SendResult.CLOSED);
        }
    }
}
