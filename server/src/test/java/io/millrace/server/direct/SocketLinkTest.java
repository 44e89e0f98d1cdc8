package io.millrace.server.direct;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.millrace.engine.Reactors;
import io.millrace.poll.ManualClock;
import io.millrace.server.TcpServer;
import io.millrace.server.connection.PerConnection;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@DisplayName("A link between a thread and its connection")
@Timeout(30)
class SocketLinkTest {
    /** More than the system takes. */
    private static final int MUCH = 16 << 20;

    private final CompletableFuture<SocketLink> made = new CompletableFuture<>();
    private final ManualClock clock = new ManualClock();
    private Reactors reactors;
    private TcpServer server;
    private Socket peer;
    private SocketLink link;

    @BeforeEach
    void connect() throws Exception {
        reactors = Reactors.builder()
                .reactors(1)
                .backend("poll")
                .clock(clock)
                .withoutWatchdog()
                .open();
        TcpServer.Builder settings = TcpServer.builder().manager(reactors).waterMarks(1 << 10, 1 << 11, 4 * MUCH);
        server = settings.start(new PerConnection(connection -> {
            SocketLink created = new SocketLink(connection, true, null);
            made.complete(created);
            return created;
        }));
        peer = new Socket();
        peer.setReceiveBufferSize(64 << 10);
        peer.connect(server.address());
        peer.setSoTimeout(20_000);
        link = made.get(20, TimeUnit.SECONDS);
    }

    @AfterEach
    void close() throws IOException {
        peer.close();
        server.shutdown(Duration.ofSeconds(5));
        reactors.close();
    }

    @Test
    @DisplayName(
            "vt-4 a writer that begins to wait when another thread has closed the output, and all is sent, does not wait")
    void outputClosedElsewhere() throws Exception {
        link.connection().closeOutput();
        assertThat(peer.getInputStream().read()).isNegative();
        link.awaitWritable(true, link.nanoTime()); // throws if it waits
    }

    @Test
    @DisplayName("vt-4 a writer that begins to wait when there is room again, and that was told, does not wait")
    void roomAgain() throws Exception {
        link.connection().send(ByteBuffer.allocate(MUCH));
        peer.getInputStream().readNBytes(MUCH);
        await().until(() -> link.connection().queuedBytes() == 0);
        advance(Duration.ZERO); // it was told in one of these turns
        link.awaitWritable(true, link.nanoTime()); // throws if it waits
    }

    @Test
    @DisplayName(
            "vt-4 a thread whose answer fails on the loop, for lack of memory perhaps, is told of the connection's end")
    void answerFails() throws Exception {
        CompletableFuture<Object> read = new CompletableFuture<>();
        Thread reader = Thread.ofVirtual().start(() -> {
            try {
                read.complete(link.read(null, false, 0, new SocketLink.Bytes()));
            } catch (IOException e) {
                read.complete(e);
            }
        });
        await().until(() -> reader.getState() == Thread.State.WAITING);
        CompletableFuture<Void> failed = new CompletableFuture<>();
        link.connection().loop().execute(() -> {
            try {
                link.onData(link.connection(), null); // as good as any failure
            } catch (Throwable e) {
                failed.completeExceptionally(e);
            }
        });
        assertThatThrownBy(() -> failed.get(20, TimeUnit.SECONDS)).hasRootCauseInstanceOf(NullPointerException.class);
        link.connection().abort();
        assertThat(read.get(20, TimeUnit.SECONDS)).isInstanceOf(IOException.class);
    }

    @Test
    @DisplayName(
            "vt-1 what had come before the loop ended can still be read, and after that the end is no end of input")
    void readsAfterTheLoop() throws Exception {
        peer.getOutputStream().write("abc".getBytes(US_ASCII));
        await().until(() -> link.connection().snapshot(null).paused());
        reactors.close();
        assertThat(read(link.nanoTime())).isEqualTo("1");
        SocketLink.Bytes rest = new SocketLink.Bytes();
        assertThat(link.read(null, false, 0, rest)).isEqualTo(2);
        assertThat(US_ASCII.decode(rest.take()).toString()).isEqualTo("bc");
        assertThatThrownBy(() -> read(link.nanoTime())).isInstanceOf(SocketException.class);
        assertThatThrownBy(() -> link.awaitWritable(true, link.nanoTime())).isInstanceOf(SocketException.class);
    }

    @Test
    @DisplayName("vt-1 what arrives in pieces while nobody reads is read in its order")
    void keepsTheOrder() throws Exception {
        link.connection().loop().execute(() -> {
            for (String piece : new String[] {"ab", "cd", "e"}) { // as TLS may, from one read
                link.onData(link.connection(), ByteBuffer.wrap(piece.getBytes(US_ASCII)));
            }
        });
        ByteBuffer all = ByteBuffer.allocate(5);
        while (all.hasRemaining()) {
            link.read(all, true, after(Duration.ofHours(1)), new SocketLink.Bytes());
        }
        assertThat(new String(all.array(), US_ASCII)).isEqualTo("abcde");
    }

    @Test
    @DisplayName("vt-1 a thread that waits for more does not keep the bytes that it has read")
    void keepsNothing() throws Exception {
        peer.getOutputStream().write("abc".getBytes(US_ASCII));
        SocketLink.Bytes bytes = new SocketLink.Bytes();
        link.read(null, false, 0, bytes);
        assertThat(US_ASCII.decode(bytes.take()).toString()).isEqualTo("abc");
        assertThat(bytes.take()).isNull();
    }

    @Test
    @DisplayName("vt-6 a conversation that is cut short before its thread has started is interrupted all the same")
    void cutShortBeforeItStarts() throws Exception {
        for (boolean carried : new boolean[] {true, false}) {
            CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
            SocketLink conversing = new SocketLink(
                    link.connection(),
                    carried,
                    talks -> interrupted.complete(Thread.currentThread().isInterrupted()));
            conversing.cutShort();
            link.connection().loop().execute(() -> conversing.onConnect(link.connection()));
            assertThat(interrupted.get(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** Has a thread do something that may wait, and returns what became of it. */
    private CompletableFuture<String> waiting(Callable<?> what) {
        CompletableFuture<String> ended = new CompletableFuture<>();
        Thread thread = Thread.ofVirtual().start(() -> {
            try {
                ended.complete("returned " + what.call());
            } catch (Exception e) {
                ended.complete(e.getClass().getSimpleName());
            }
        });
        await().until(() -> thread.getState() == Thread.State.WAITING);
        return ended;
    }

    /** Lets time pass, and returns when the loop has seen it. */
    private void advance(Duration by) throws Exception {
        clock.advance(by);
        for (int i = 0; i < 2; i++) { // what is due in the first turn runs in it
            CompletableFuture<Void> turn = new CompletableFuture<>();
            link.connection().loop().execute(() -> turn.complete(null));
            turn.get(20, TimeUnit.SECONDS);
        }
    }

    private long after(Duration time) {
        return link.nanoTime() + time.toNanos();
    }

    private String read(long deadline) throws IOException {
        return "" + link.read(ByteBuffer.allocate(1), true, deadline, new SocketLink.Bytes());
    }

    @Test
    @DisplayName(
            "vt-1 an alarm that an earlier call has left behind ends no later call, in either direction, nor its limit")
    void alarmLeftBehind() throws Exception {
        long early = after(Duration.ofSeconds(1));
        CompletableFuture<String> first = waiting(() -> read(early));
        peer.getOutputStream().write(1);
        assertThat(first.get(20, TimeUnit.SECONDS)).isEqualTo("returned 1");
        link.connection().send(ByteBuffer.allocate(MUCH));
        long late = after(Duration.ofSeconds(5));
        CompletableFuture<String> reader = waiting(() -> read(late));
        CompletableFuture<String> writer = waiting(() -> {
            link.awaitWritable(true, late + 1_000_000_000);
            return "";
        });
        advance(Duration.ofSeconds(2));
        assertThat(reader).isNotDone();
        assertThat(writer).isNotDone();
        advance(Duration.ofSeconds(3));
        assertThat(reader.get(20, TimeUnit.SECONDS)).isEqualTo("SocketTimeoutException");
        assertThat(writer).isNotDone();
        advance(Duration.ofSeconds(1));
        assertThat(writer.get(20, TimeUnit.SECONDS)).isEqualTo("SocketTimeoutException");
        link.reset();
    }

    @Test
    @DisplayName("vt-1 the end of a connection leaves no alarm behind")
    void noAlarmAfterTheEnd() throws Exception {
        CompletableFuture<String> read = waiting(() -> read(after(Duration.ofHours(1))));
        await().until(() -> reactors.dump().contains("alarms are pending"));
        peer.close();
        assertThat(read.get(20, TimeUnit.SECONDS)).isEqualTo("returned -1");
        link.close();
        await().until(() -> !reactors.dump().contains("alarms are pending"));
    }
}
