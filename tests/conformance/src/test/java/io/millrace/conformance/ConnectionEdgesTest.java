package io.millrace.conformance;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.engine.Dispatch;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.HandlerFactory;
import io.millrace.server.Idle;
import io.millrace.server.Relay;
import io.millrace.server.SendResult;
import io.millrace.server.TcpServer;
import io.millrace.testkit.Await;
import io.millrace.testkit.TestConnection;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("What a connection does where two of its rules meet, without sockets")
@SuppressWarnings("try") // closed early, on purpose
class ConnectionEdgesTest {
    private final List<String> log = new ArrayList<>();

    /** Writes down what it is told. */
    private class Recording implements ConnectionHandler {
        @Override
        public void onData(Connection connection, ByteBuffer data) throws Exception {
            log.add("data " + US_ASCII.decode(data));
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            log.add("error " + failure.getClass().getSimpleName());
        }

        @Override
        public void onDisconnect(Connection connection) {
            log.add("disconnect");
        }
    }

    @Test
    @DisplayName("mill-7, srv-1: one that a limit has ended is told of no more input after its handler has closed it")
    void closedAfterALimit() {
        TcpServer.Builder settings =
                TcpServer.builder().dispatch(Dispatch.POOL, 1).bufferSize(1).waterMarks(0, 0, 0);
        ConnectionHandler closing = new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                super.onData(connection, data);
                connection.send("x");
                assertThat(connection.send("y")).isEqualTo(SendResult.CLOSED);
                connection.close();
            }
        };
        try (TestConnection peer = TestConnection.open(settings, closing)) {
            peer.receive("ab"); // two reads, which wait for their callbacks together
            assertThat(log).containsExactly("data a", "error LimitException", "disconnect");
        }
    }

    @Test
    @DisplayName("mill-11: a server that goes on sending does not put the write timeout off")
    void sendingIsNoProgress() {
        TcpServer.Builder settings = TcpServer.builder().writeTimeout(Duration.ofSeconds(10));
        try (TestConnection peer = TestConnection.open(settings, new Recording())) {
            peer.peerStopsReading();
            peer.connection().send("a");
            peer.advance(Duration.ofSeconds(6));
            peer.connection().send("b");
            peer.advance(Duration.ofSeconds(4).minusNanos(1));
            assertThat(log).isEmpty();
            peer.advance(Duration.ofNanos(1));
            assertThat(log).containsExactly("error SocketTimeoutException", "disconnect");
        }
    }

    @Test
    @DisplayName("mill-12: one that has neither sent nor received anything is closed without a farewell")
    void closedAtOnce() {
        try (TestConnection peer = TestConnection.open(new Recording() {
            @Override
            public void onConnect(Connection connection) {
                connection.close();
            }
        })) {
            assertThat(peer.isClosed()).isTrue();
            assertThat(peer.wasReset()).isFalse();
            assertThat(log).containsExactly("disconnect");
        }
    }

    @Test
    @DisplayName("mill-12, mill-10: silence does not count during the farewell of a close")
    void silentFarewell() {
        TcpServer.Builder settings = TcpServer.builder().idleTimeout(Duration.ofMillis(400));
        try (TestConnection peer = TestConnection.open(settings, new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.close();
            }
        })) {
            peer.receive("x");
            peer.advance(Duration.ofMillis(800));
            assertThat(peer.hasOutputEnded()).isTrue();
            assertThat(peer.isClosed()).isFalse();
            peer.endOfInput();
            assertThat(peer.isClosed()).isTrue();
            assertThat(log).containsExactly("disconnect");
        }
    }

    @Test
    @DisplayName("srv-4: an InterruptedException of a callback does not leave the loop's thread interrupted")
    void interruptedOnTheLoop() {
        ConnectionHandler interrupted = new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                throw new InterruptedException();
            }
        };
        try (TestConnection peer = TestConnection.open(interrupted)) {
            peer.receive("x");
            assertThat(Thread.interrupted()).as("on the loop").isFalse();
            assertThat(log).containsExactly("error InterruptedException");
        }
        TcpServer.Builder onAPool = TcpServer.builder().dispatch(Dispatch.POOL, 1);
        try (TestConnection peer = TestConnection.open(onAPool, interrupted)) {
            peer.receive("x");
            assertThat(Thread.interrupted()).as("on a thread of a pool").isTrue();
        }
    }

    @Test
    @DisplayName("srv-11: one frame of exact length may be set again and again, on any number of connections")
    void exactlyOnceMore() {
        Framing two = Framing.exactly(2);
        ConnectionHandler pairs = new Recording() {
            @Override
            public void onConnect(Connection connection) {
                connection.setFraming(two);
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                super.onData(connection, data);
                connection.setFraming(two);
            }
        };
        try (TestConnection peer = TestConnection.open(pairs);
                TestConnection another = peer.openAnother()) {
            peer.receive("abc");
            another.receive("xyz");
            peer.receive("d");
            assertThat(log).containsExactly("data ab", "data xy", "data cd");
        }
    }

    @Test
    @DisplayName("srv-9, mill-9: what a callback has gathered counts, up to the high-water mark and one byte above")
    void gatheredAtTheMark() {
        ConnectionHandler sending = new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                log.add(connection.send("abc") + " " + connection.send("d") + " " + connection.send("e"));
            }

            @Override
            public void onWritable(Connection connection) {
                log.add("writable");
            }
        };
        try (TestConnection peer = TestConnection.open(TcpServer.builder().waterMarks(2, 4, 100), sending)) {
            peer.receive("x");
            assertThat(log).containsExactly("QUEUED QUEUED ABOVE_HIGH_WATER", "writable");
            assertThat(peer.sentText()).isEqualTo("abcde");
        }
    }

    @Test
    @DisplayName("srv-9, mill-8: it is read with just the high-water mark waiting, and above that from the low one on")
    void waitingAtTheMarks() {
        ConnectionHandler recording = new Recording() {
            @Override
            public void onWritable(Connection connection) {
                log.add("writable");
            }
        };
        try (TestConnection peer = TestConnection.open(TcpServer.builder().waterMarks(2, 4, 100), recording)) {
            peer.peerStopsReading();
            assertThat(peer.connection().send("abcd")).isEqualTo(SendResult.QUEUED);
            peer.runUntilIdle();
            peer.receive("x");
            assertThat(log).containsExactly("data x");
            assertThat(peer.connection().isWritable()).isTrue();
            assertThat(peer.connection().send("e")).isEqualTo(SendResult.ABOVE_HIGH_WATER);
            peer.runUntilIdle();
            peer.receive("y");
            peer.peerReads(2);
            assertThat(log).containsExactly("data x");
            assertThat(peer.connection().isWritable()).as("between the marks").isFalse();
            peer.peerReads(1);
            assertThat(log).containsExactlyInAnyOrder("data x", "data y", "writable");
            assertThat(peer.connection().isWritable()).isTrue();
        }
    }

    @Test
    @DisplayName("srv-5, end-9: who asks in the last callback whether all was written hears of what was lost")
    void askedInTheLastCallback() {
        List<CompletableFuture<Void>> asked = new ArrayList<>();
        try (TestConnection peer = TestConnection.open(new Recording() {
            @Override
            public void onDisconnect(Connection connection) {
                asked.add(connection.written());
            }
        })) {
            peer.peerStopsReading();
            peer.connection().send("abc");
            peer.connection().abort();
            peer.runUntilIdle();
            assertThat(asked).singleElement().matches(CompletableFuture::isCompletedExceptionally);
        }
    }

    @ParameterizedTest
    @EnumSource(Dispatch.class)
    @DisplayName("srv-6: a task that has run is not kept until the end of the connection")
    void tasksAreForgotten(Dispatch mode) {
        TcpServer.Builder settings = TcpServer.builder().dispatch(mode, 1);
        try (TestConnection peer = TestConnection.open(settings, new Recording())) {
            List<WeakReference<Object>> done = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                Object used = new Object();
                peer.connection().execute(() -> log.add("ran " + used.hashCode()));
                done.add(new WeakReference<>(used));
            }
            peer.runUntilIdle();
            assertThat(log).hasSize(3);
            // The last one may still be on the stack.
            Await.until("they are collected", () -> {
                System.gc();
                return done.stream().filter(each -> each.get() != null).count() <= 1;
            });
        }
    }

    @Test
    @DisplayName("srv-5, end-9: who asks after a reset whether all was written hears that it was not")
    void askedAfterAReset() {
        List<CompletableFuture<Void>> asked = new ArrayList<>();
        try (TestConnection peer = TestConnection.open((connection, data) -> {
            connection.reset();
            asked.add(connection.written());
        })) {
            peer.connection().send("taken by the system");
            peer.runUntilIdle();
            peer.receive("x");
            assertThat(asked).singleElement().matches(CompletableFuture::isCompletedExceptionally);
        }
    }

    // ---- Frames ----

    @Test
    @DisplayName("srv-11, mill-8: one whose directions have both ended does not end before the frames that are held")
    void heldBehindBothEnds() {
        List<TestConnection> peers = new ArrayList<>();
        ConnectionHandler pausing = new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                super.onData(connection, data);
                switch (log.getLast()) {
                    case "data go" -> {
                        // Read in one turn, before the next callback.
                        peers.getFirst().receive("a\nb\n");
                        peers.getFirst().endOfInput();
                    }
                    case "data a" -> {
                        connection.pauseReads();
                        connection.closeOutput();
                    }
                    default -> {}
                }
            }

            @Override
            public void onEndOfInput(Connection connection) {
                log.add("end");
            }
        };
        TcpServer.Builder settings = TcpServer.builder().dispatch(Dispatch.POOL, 1);
        try (TestConnection peer =
                TestConnection.open(settings, Framing.lines(80).frames(pausing))) {
            peers.add(peer);
            peer.receive("go\n");
            assertThat(log).containsExactly("data go", "data a");
            assertThat(peer.hasOutputEnded()).isTrue();
            assertThat(peer.isClosed()).isFalse();
            peer.connection().resumeReads();
            peer.runUntilIdle();
            assertThat(log).containsExactly("data go", "data a", "data b", "end", "disconnect");
        }
    }

    @Test
    @DisplayName(
            "srv-11, mill-8: off the loop, too, frames are held though both directions had ended before they were looked at")
    void heldBehindAnEarlierEnd() {
        List<TestConnection> peers = new ArrayList<>();
        ConnectionHandler pausing = new Recording() {
            @Override
            public void onConnect(Connection connection) {
                connection.closeOutput();
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                super.onData(connection, data);
                if (log.size() == 1) {
                    // Read to the end, before the next callback.
                    peers.getFirst().receive("a\nb\n");
                    peers.getFirst().endOfInput();
                }
                connection.pauseReads();
            }

            @Override
            public void onEndOfInput(Connection connection) {
                log.add("end");
            }
        };
        TcpServer.Builder settings = TcpServer.builder().dispatch(Dispatch.POOL, 1);
        try (TestConnection peer =
                TestConnection.open(settings, Framing.lines(80).frames(pausing))) {
            peers.add(peer);
            peer.receive("go\n");
            for (String next : List.of("data a", "data b", "end")) {
                assertThat(peer.isClosed()).isFalse();
                peer.connection().resumeReads();
                peer.runUntilIdle();
                assertThat(log).contains(next);
            }
            assertThat(log).containsExactly("data go", "data a", "data b", "end", "disconnect");
        }
    }

    @Test
    @DisplayName("mr-9: a frame is not late if more of it has arrived than was read at once when its time was up")
    void arrivedButNotRead() {
        List<TestConnection> peers = new ArrayList<>();
        Duration limit = Duration.ofSeconds(10);
        ConnectionHandler stopping = new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                super.onData(connection, data);
                if (log.getLast().equals("data stop")) {
                    // As if the process were stopped meanwhile.
                    peers.getFirst().receive("b".repeat(49) + "\n");
                    peers.getFirst().advance(limit);
                }
            }
        };
        TcpServer.Builder settings = TcpServer.builder().bufferSize(1);
        try (TestConnection peer = TestConnection.open(
                        settings, Framing.lines(80).within(limit).frames(stopping));
                TestConnection another = peer.openAnother()) {
            peers.add(peer);
            peer.receive("a");
            another.receive("stop\n");
            peer.advance(Duration.ofSeconds(1));
            assertThat(log).containsExactly("data stop", "data a" + "b".repeat(49));
        }
    }

    // ---- Silence ----

    private final ConnectionHandler idle = new Recording() {
        @Override
        public void onIdle(Connection connection, Idle kind) {
            log.add("idle " + kind);
        }
    };

    @Test
    @DisplayName("srv-12: a limit of writing alone is watched, also behind a longer one of reading")
    void shorterLimitLater() {
        try (TestConnection peer = TestConnection.open(idle);
                TestConnection another = peer.openAnother()) {
            peer.connection().setWriteIdleTimeout(Duration.ofSeconds(4));
            peer.advance(Duration.ofSeconds(4));
            assertThat(log).containsExactly("idle WRITE");
            peer.close();
            log.clear();
            another.connection().setReadIdleTimeout(Duration.ofSeconds(10));
            another.advance(Duration.ofSeconds(1));
            another.connection().setWriteIdleTimeout(Duration.ofSeconds(4));
            another.advance(Duration.ofSeconds(4).minusNanos(1));
            assertThat(log).isEmpty();
            another.advance(Duration.ofNanos(1));
            assertThat(log).containsExactly("idle WRITE");
        }
    }

    private static TcpServer.Builder impatient() {
        return TcpServer.builder()
                .waterMarks(2, 4, 100)
                .writeTimeout(Duration.ZERO)
                .idleTimeout(Duration.ofSeconds(5));
    }

    @Test
    @DisplayName("srv-12, mill-10: a peer that takes nothing is idle, though what it has sent is not read meanwhile")
    void fullIsIdle() {
        try (TestConnection peer = TestConnection.open(impatient(), new Recording())) {
            peer.peerStopsReading();
            assertThat(peer.connection().send("abcde")).isEqualTo(SendResult.ABOVE_HIGH_WATER);
            peer.runUntilIdle();
            peer.receive("x");
            peer.advance(Duration.ofSeconds(5));
            assertThat(log).containsExactly("error SocketTimeoutException", "disconnect");
        }
    }

    @Test
    @DisplayName("srv-12, mill-10: one that was closed is idle, too, if its peer does not take the rest")
    void closedIsIdle() {
        try (TestConnection peer = TestConnection.open(impatient(), new Recording())) {
            peer.peerStopsReading();
            peer.connection().send("abc");
            peer.connection().close();
            peer.advance(Duration.ofSeconds(5).minusNanos(1));
            assertThat(peer.isClosed()).isFalse();
            peer.advance(Duration.ofNanos(1));
            assertThat(peer.isClosed()).isTrue();
            assertThat(log).containsExactly("error SocketTimeoutException", "disconnect");
        }
    }

    // ---- Relays ----

    @Test
    @DisplayName("srv-8: a relay passes bytes on as they come, though the connections had framings before")
    void relayedWithoutFrames() {
        try (TestConnection one = TestConnection.open(Framing.lines(80).frames(new Recording()));
                TestConnection other = one.openAnother()) {
            one.receive("a line\nhalf a");
            Relay.between(one.connection(), other.connection());
            one.receive(" line and more");
            other.receive("an\nanswer");
            assertThat(log).containsExactly("data a line");
            assertThat(other.sentText()).isEqualTo("half a line and more");
            assertThat(one.sentText()).isEqualTo("an\nanswer");
        }
    }

    @Test
    @DisplayName("srv-8, srv-10: a relay that a factory begins while it makes the handler counts")
    void relayedByTheFactory() {
        List<Connection> made = new ArrayList<>();
        HandlerFactory relaying = connection -> {
            made.add(connection);
            if (made.size() == 2) {
                Relay.between(made.getFirst(), connection);
            }
            return new Recording();
        };
        try (TestConnection one = TestConnection.open(relaying);
                TestConnection other = one.openAnother()) {
            one.receive("there");
            other.receive("back");
            assertThat(other.sentText()).isEqualTo("there");
            assertThat(one.sentText()).isEqualTo("back");
            assertThat(log).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("srv-8: who is joined with a connection that has ended is closed, also if that never had a relay")
    void joinedWithOneThatHasEnded(boolean inOrder) {
        try (TestConnection one = TestConnection.open(new Recording());
                TestConnection other = one.openAnother()) {
            Connection ended = one.connection();
            ended.abort();
            one.runUntilIdle();
            assertThat(log).containsExactly("disconnect");
            if (inOrder) {
                Relay.between(ended, other.connection());
            } else {
                Relay.between(other.connection(), ended);
            }
            other.advance(Duration.ofSeconds(2));
            assertThat(other.isClosed()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("srv-8: who is joined with a connection that is relayed neither gets into that relay nor ends it")
    void relayedAlready(boolean inOrder) {
        try (TestConnection one = TestConnection.open(new Recording());
                TestConnection other = one.openAnother();
                TestConnection third = one.openAnother()) {
            Relay.between(one.connection(), other.connection());
            if (inOrder) {
                Relay.between(other.connection(), third.connection());
            } else {
                Relay.between(third.connection(), other.connection());
            }
            third.receive("lost");
            one.receive("there");
            other.receive("back");
            assertThat(other.sentText()).isEqualTo("there");
            assertThat(one.sentText()).isEqualTo("back");
            third.advance(Duration.ofSeconds(2));
            assertThat(log).containsExactly("error IllegalStateException", "disconnect");
            assertThat(third.isClosed()).isTrue();
            assertThat(other.isClosed()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("srv-8: in a callback of one that is relayed, another relay is refused, and nothing has changed")
    void relayedAlreadyInACallback(boolean inOrder) {
        try (TestConnection one = TestConnection.open(new Recording());
                TestConnection other = one.openAnother();
                TestConnection third = one.openAnother()) {
            Relay.between(one.connection(), other.connection());
            other.connection().execute(() -> {
                if (inOrder) {
                    Relay.between(other.connection(), third.connection());
                } else {
                    Relay.between(third.connection(), other.connection());
                }
            });
            third.receive("own");
            one.receive("there");
            assertThat(log).containsExactly("error IllegalStateException", "data own");
            assertThat(other.sentText()).isEqualTo("there");
            TestConnection fourth = one.openAnother(); // with which it can still be relayed
            Relay.between(third.connection(), fourth.connection());
            third.receive("on");
            assertThat(fourth.sentText()).isEqualTo("on");
        }
    }

    @Test
    @DisplayName("srv-8, srv-4: the end of a side is passed on, though its handler throws when it is told")
    void relayEndsThoughOnDisconnectThrows() {
        ConnectionHandler throwing = new Recording() {
            @Override
            public void onDisconnect(Connection connection) {
                super.onDisconnect(connection);
                throw new IllegalStateException("thrown by a test");
            }
        };
        try (TestConnection one = TestConnection.open(throwing);
                TestConnection other = one.openAnother()) {
            Relay.between(one.connection(), other.connection());
            one.receive("all");
            one.connection().abort();
            assertThat(other.sentText()).isEqualTo("all");
            assertThat(other.isClosed()).isTrue();
            assertThat(log).containsExactly("disconnect", "disconnect");
        }
    }
}
