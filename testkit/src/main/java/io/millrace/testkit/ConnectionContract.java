package io.millrace.testkit;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.net.FileSource;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.Idle;
import io.millrace.server.SendResult;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a connection owes its handler, whether there is a socket below it or not: the same suite on both is why a test with {@link TestConnection} means something. */
@Timeout(60)
public abstract class ConnectionContract {
    /** More than the system takes for a peer that does not read. */
    private static final int LARGE = 16 << 20;

    private static final int HIGH = 64 * 1024;

    private final Supplier<? extends ConnectionRig> rigs;
    private final ConcurrentLinkedQueue<String> log = new ConcurrentLinkedQueue<>();
    private @Nullable ConnectionRig opened;

    /**
     * The suite on one kind of connections.
     *
     * @param rigs opens one for each test
     */
    protected ConnectionContract(Supplier<? extends ConnectionRig> rigs) {
        this.rigs = rigs;
    }

    @AfterEach
    void closeRig() throws Exception {
        if (opened != null) {
            opened.close();
        }
    }

    private ConnectionRig rig() {
        if (opened == null) {
            opened = rigs.get();
        }
        return Objects.requireNonNull(opened);
    }

    private ConnectionRig.Peer open(ConnectionHandler handler) throws Exception {
        return rig().open(rig().server(), handler);
    }

    private String next() {
        rig().await("the next call of the handler", () -> !log.isEmpty());
        return log.remove();
    }

    private void assertNothingMore() throws Exception {
        rig().settle();
        assertThat(log).isEmpty();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(US_ASCII);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, US_ASCII);
    }

    private static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(17).nextBytes(bytes);
        return bytes;
    }

    private void note(Connection connection, @Nullable IOException failure) {
        log.add(failure == null ? "written" : "lost");
    }

    /** Writes down what it is told. */
    private class Recording implements ConnectionHandler {
        @Override
        public void onConnect(Connection connection) throws Exception {
            log.add("connect");
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) throws Exception {
            log.add("data " + US_ASCII.decode(data));
        }

        @Override
        public void onEndOfInput(Connection connection) throws Exception {
            log.add("end");
            ConnectionHandler.super.onEndOfInput(connection);
        }

        @Override
        public void onWritable(Connection connection) throws Exception {
            log.add("writable");
        }

        @Override
        public void onDisconnect(Connection connection) throws Exception {
            log.add("disconnect");
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            log.add("error " + failure.getClass().getSimpleName());
        }
    }

    private ConnectionRig.Peer openRecording() throws Exception {
        ConnectionRig.Peer peer = open(new Recording());
        assertThat(next()).isEqualTo("connect");
        return peer;
    }

    // ---- Receiving ----

    @Test
    @DisplayName("srv-17, mill-7: connect, data, the end of input and disconnect are told in this order, each once")
    void order() throws Exception {
        ConnectionRig.Peer peer = open(new Recording());
        assertThat(next()).isEqualTo("connect");
        assertNothingMore();
        peer.send(bytes("a"));
        assertThat(next()).isEqualTo("data a");
        peer.send(bytes("b"));
        assertThat(next()).isEqualTo("data b");
        peer.endOutput();
        assertThat(next()).isEqualTo("end");
        assertThat(next()).isEqualTo("disconnect");
        assertThat(peer.readToEnd()).isEmpty();
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, mill-8: bytes that come together with the end are not lost")
    void bytesBeforeTheEnd() throws Exception {
        StringBuilder all = new StringBuilder();
        ConnectionRig.Peer peer = open(new Recording() {
            @Override
            public void onConnect(Connection connection) {
                connection.pauseReads();
                log.add("connect");
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {
                all.append(US_ASCII.decode(data));
            }
        });
        assertThat(next()).isEqualTo("connect");
        rig().settle();
        peer.send(bytes("one "));
        peer.send(bytes("two"));
        peer.endOutput();
        assertNothingMore();
        peer.connection().resumeReads();
        assertThat(next()).isEqualTo("end");
        assertThat(all).hasToString("one two");
        assertThat(next()).isEqualTo("disconnect");
    }

    @Test
    @DisplayName("srv-17, mill-11: bytes that come one at a time arrive in order")
    void byteByByte() throws Exception {
        byte[] sent = random(300);
        StringBuilder received = new StringBuilder();
        ConnectionRig.Peer peer = open((connection, data) -> {
            while (data.hasRemaining()) {
                received.append(data.get()).append(' ');
            }
            if (received.toString().split(" ").length == sent.length) {
                log.add("all");
            }
        });
        StringBuilder expected = new StringBuilder();
        for (byte one : sent) {
            peer.send(one);
            expected.append(one).append(' ');
        }
        assertThat(next()).isEqualTo("all");
        assertThat(received).hasToString(expected.toString());
    }

    @Test
    @DisplayName("srv-17, mill-10: onData gets no more than the size of the buffer at once")
    void bufferSize() throws Exception {
        ConnectionRig.Peer peer = rig().open(rig().server().bufferSize(10), (connection, data) -> {
            if (data.remaining() > 10) {
                log.add("too much: " + data.remaining());
            }
            connection.send(data);
        });
        byte[] sent = random(95);
        peer.send(sent);
        assertThat(peer.read(95)).isEqualTo(sent);
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, mill-8: a connection that is paused is not read until it is resumed")
    void pause() throws Exception {
        ConnectionRig.Peer peer = openRecording();
        peer.connection().pauseReads();
        rig().settle();
        peer.send(bytes("a"));
        assertNothingMore();
        peer.connection().resumeReads();
        assertThat(next()).isEqualTo("data a");
        peer.send(bytes("b"));
        assertThat(next()).isEqualTo("data b");
    }

    @Test
    @DisplayName("srv-17, mill-8: a callback that pauses gets nothing more, though more has arrived")
    void pauseInACallback() throws Exception {
        ConnectionRig.Peer peer = rig().open(rig().server().bufferSize(1), new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                super.onData(connection, data);
                connection.pauseReads();
            }
        });
        assertThat(next()).isEqualTo("connect");
        peer.send(bytes("ab"));
        assertThat(next()).isEqualTo("data a");
        rig().settle();
        List<String> more = new ArrayList<>(log); // off the loop some may have been on their way
        log.clear();
        peer.connection().resumeReads();
        if (more.isEmpty()) {
            more.add(next());
        }
        assertThat(more).containsExactly("data b");
    }

    // ---- Sending ----

    @Test
    @DisplayName("srv-17, mill-15: what a callback sends arrives in order, and its buffers may be reused at once")
    void sendsInOrder() throws Exception {
        ConnectionRig.Peer peer = open((connection, data) -> {
            ByteBuffer reused = ByteBuffer.allocate(1);
            for (int i = 0; i < 10; i++) {
                reused.clear().put((byte) ('0' + i)).flip();
                assertThat(connection.send(reused)).isEqualTo(SendResult.QUEUED);
                assertThat(reused.hasRemaining()).isFalse();
            }
            connection.send(ByteBuffer.wrap(bytes("x".repeat(6000))));
            connection.send(data);
        });
        peer.send(bytes("end"));
        assertThat(text(peer.read(6013))).isEqualTo("0123456789" + "x".repeat(6000) + "end");
    }

    @Test
    @DisplayName("srv-17, mill-9: what another thread sends arrives in order")
    void sendsFromElsewhere() throws Exception {
        ConnectionRig.Peer peer = openRecording();
        Connection connection = peer.connection();
        Thread other = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < 100; i++) {
                connection.send(String.valueOf(i % 10));
            }
        });
        other.join();
        assertThat(text(peer.read(100))).isEqualTo("0123456789".repeat(10));
    }

    @Test
    @DisplayName(
            "srv-17, srv-9: send tells when too much waits, and onWritable comes once for each time it does not any more")
    void waterMarks() throws Exception {
        ConnectionRig.Peer peer = openRecording();
        Connection connection = peer.connection();
        for (int round = 0; round < 2; round++) {
            assertThat(connection.send(ByteBuffer.allocate(10))).isEqualTo(SendResult.QUEUED);
            assertThat(connection.send(ByteBuffer.allocate(LARGE))).isEqualTo(SendResult.ABOVE_HIGH_WATER);
            assertThat(connection.send(ByteBuffer.allocate(10))).isEqualTo(SendResult.ABOVE_HIGH_WATER);
            rig().await("the system has taken some", () -> connection.queuedBytes() < LARGE);
            assertThat(connection.isWritable()).isFalse();
            assertNothingMore();
            peer.read(LARGE + 20);
            assertThat(next()).isEqualTo("writable");
            assertThat(connection.isWritable()).isTrue();
            rig().await("all is sent", () -> connection.queuedBytes() == 0);
            assertNothingMore();
        }
    }

    @Test
    @DisplayName("srv-17, srv-9: a callback that fills the connection is told after it has returned, and may send on")
    void writableAfterTheCallback() throws Exception {
        ConnectionRig.Peer peer = open(new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.send(ByteBuffer.allocate(LARGE));
                log.add("returned");
            }

            @Override
            public void onWritable(Connection connection) {
                log.add("writable");
                connection.send("more");
            }
        });
        assertThat(next()).isEqualTo("connect");
        peer.send((byte) 1);
        assertThat(next()).isEqualTo("returned");
        assertNothingMore();
        peer.read(LARGE);
        assertThat(next()).isEqualTo("writable");
        assertThat(text(peer.read(4))).isEqualTo("more");
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, srv-9: a connection above its high water is not read until it is below again")
    void notReadWhileFull() throws Exception {
        ConnectionRig.Peer peer = openRecording();
        Connection connection = peer.connection();
        connection.send(ByteBuffer.allocate(LARGE));
        rig().await("the system has taken some", () -> connection.queuedBytes() < LARGE);
        rig().settle();
        peer.send(bytes("a"));
        assertNothingMore();
        peer.read(LARGE);
        assertThat(List.of(next(), next())).containsExactlyInAnyOrder("writable", "data a");
    }

    @Test
    @DisplayName("srv-17, srv-9: with readWhileFull it is read all the same")
    void readWhileFull() throws Exception {
        ConnectionRig.Peer peer = rig().open(rig().server().readWhileFull(true), new Recording());
        assertThat(next()).isEqualTo("connect");
        Connection connection = peer.connection();
        connection.send(ByteBuffer.allocate(LARGE));
        rig().await("the system has taken some", () -> connection.queuedBytes() < LARGE);
        peer.send(bytes("a"));
        assertThat(next()).isEqualTo("data a");
        assertThat(connection.queuedBytes()).isGreaterThan(HIGH);
    }

    @Test
    @DisplayName("srv-17, srv-1: a send above the limit is refused, and ends the connection with the reason")
    void limit() throws Exception {
        ConnectionRig.Peer peer = rig().open(rig().server().waterMarks(10, 20, LARGE / 2), new Recording() {
            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {
                log.add(String.valueOf(failure.getMessage()));
            }
        });
        assertThat(next()).isEqualTo("connect");
        Connection connection = peer.connection();
        assertThat(connection.send(ByteBuffer.allocate(LARGE))).isEqualTo(SendResult.ABOVE_HIGH_WATER);
        rig().settle();
        ByteBuffer more = ByteBuffer.allocate(1);
        rig().settle();
        assertThat(connection.queuedBytes()).isGreaterThan(LARGE / 2);
        assertThat(connection.send(more)).isEqualTo(SendResult.CLOSED);
        assertThat(more.hasRemaining()).isTrue();
        assertThat(next()).contains("more than the limit of " + LARGE / 2);
        assertThat(next()).isEqualTo("disconnect");
        assertReset(peer);
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, mill-15: files and bytes go out in the order of the calls")
    void files(@TempDir Path directory) throws Exception {
        byte[] content = random(3 << 20);
        Path file = Files.write(directory.resolve("file"), content);
        Path small = Files.write(directory.resolve("small"), bytes("small"));
        FileSource opened = FileSource.open(file);
        FileSource tooShort = FileSource.open(small);
        ConnectionRig.Peer peer = open((connection, data) -> {
            connection.send("before ");
            connection.sendFile(file);
            connection.send(" between ");
            connection.sendFile(small);
            connection.sendFile(file, 1, 2);
            connection.sendFile(opened, 3, 100_000);
            assertThatThrownBy(() -> connection.sendFile(tooShort, 5, 1)).isInstanceOf(EOFException.class);
            assertThatThrownBy(tooShort::size).isInstanceOf(ClosedChannelException.class);
        });
        peer.send((byte) 1);
        assertThat(text(peer.read(7))).isEqualTo("before ");
        assertThat(peer.read(content.length)).isEqualTo(content);
        assertThat(text(peer.read(14))).isEqualTo(" between small");
        assertThat(peer.read(2)).containsExactly(content[1], content[2]);
        assertThat(peer.read(100_000)).isEqualTo(Arrays.copyOfRange(content, 3, 100_003));
        rig().await("the connection has closed the file", () -> isClosed(opened));
    }

    private static boolean isClosed(FileSource file) {
        try {
            file.size();
            return false;
        } catch (ClosedChannelException e) {
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    @DisplayName("srv-17, mill-15: an empty piece that another thread sends behind a file stops nothing")
    void emptyPieceBehindAFile(@TempDir Path directory) throws Exception {
        byte[] content = random(5_000);
        Path file = Files.write(directory.resolve("file"), content);
        ConnectionRig.Peer peer = rig().open(rig().server().waterMarks(LARGE, LARGE, 2 * LARGE), new Recording());
        assertThat(next()).isEqualTo("connect");
        Connection connection = peer.connection();
        connection.send(ByteBuffer.allocate(LARGE)); // some of which waits while the rest is sent
        connection.sendFile(file);
        connection.send(ByteBuffer.allocate(0));
        connection.send(ByteBuffer.wrap(content));
        connection.close();
        byte[] all = peer.readToEnd();
        assertThat(all).hasSize(LARGE + 2 * content.length);
        assertThat(Arrays.copyOfRange(all, LARGE, LARGE + content.length)).isEqualTo(content);
        assertThat(Arrays.copyOfRange(all, LARGE + content.length, all.length)).isEqualTo(content);
    }

    @Test
    @DisplayName("srv-17, srv-14: an open file that is not taken is closed all the same")
    void fileNotTaken(@TempDir Path directory) throws Exception {
        Path file = Files.write(directory.resolve("file"), new byte[10_000]);
        FileSource refused = FileSource.open(file);
        FileSource wrong = FileSource.open(file);
        ConnectionRig.Peer peer = open((connection, data) -> {
            assertThatThrownBy(() -> connection.sendFile(wrong, -1, 1)).isInstanceOf(IllegalArgumentException.class);
            connection.send("end");
            connection.close();
            assertThat(connection.sendFile(refused, 0, 10_000)).isEqualTo(SendResult.CLOSED);
            assertThatThrownBy(wrong::size).isInstanceOf(ClosedChannelException.class);
            assertThatThrownBy(refused::size).isInstanceOf(ClosedChannelException.class);
            log.add("closed");
        });
        peer.send((byte) 1);
        assertThat(text(peer.read(3))).isEqualTo("end");
        assertThat(next()).isEqualTo("closed");
    }

    // ---- Completion of writes, tasks ----

    @Test
    @DisplayName(
            "srv-17, srv-5: onWritten comes when the system has taken everything up to these bytes, and not before")
    void written() throws Exception {
        ConnectionRig.Peer peer = openRecording();
        Connection connection = peer.connection();
        connection.send(ByteBuffer.allocate(LARGE));
        connection.send(ByteBuffer.allocate(1), this::note);
        CompletableFuture<Void> all = connection.written();
        rig().await("the system has taken some", () -> connection.queuedBytes() < LARGE);
        peer.read(LARGE / 4);
        assertNothingMore();
        assertThat(all).isNotDone();
        peer.read(LARGE + 1 - LARGE / 4);
        assertThat(List.of(next(), next())).containsExactlyInAnyOrder("writable", "written");
        rig().await("written() completes", all::isDone);
        assertThat(all).isCompleted();
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, srv-5: in a callback it comes after that has returned")
    void writtenInACallback() throws Exception {
        ConnectionRig.Peer peer = open((connection, data) -> {
            connection.send(data, this::note);
            log.add("returned");
        });
        peer.send((byte) 1);
        assertThat(next()).isEqualTo("returned");
        assertThat(next()).isEqualTo("written");
        assertThat(peer.read(1)).containsExactly(1);
    }

    @Test
    @DisplayName("srv-17, srv-5, end-9: an abort loses what waits, tells so before the disconnect, and resets the peer")
    void abort() throws Exception {
        ConnectionRig.Peer peer = openRecording();
        Connection connection = peer.connection();
        connection.send(ByteBuffer.allocate(LARGE), this::note);
        CompletableFuture<Void> all = connection.written();
        connection.abort();
        assertThat(connection.isClosed()).isTrue();
        assertThat(next()).isEqualTo("lost");
        assertThat(next()).isEqualTo("disconnect");
        assertThat(all).isCompletedExceptionally();
        assertReset(peer);
        assertThat(connection.send("x")).isEqualTo(SendResult.CLOSED);
        assertNothingMore();
    }

    @Test
    @DisplayName(
            "srv-17, srv-5, end-9: what an aborting callback has sent is told as lost and reset, or else it is there")
    void abortInACallback() throws Exception {
        ConnectionRig.Peer peer = open(new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.send(ByteBuffer.wrap(bytes("all of it")), (same, failure) -> note(same, failure));
                var ignored = connection
                        .written()
                        .whenComplete((nothing, failure) -> log.add(failure == null ? "written" : "lost"));
                connection.abort();
            }
        });
        assertThat(next()).isEqualTo("connect");
        peer.send((byte) 1);
        String told = next();
        assertThat(next()).isEqualTo(told);
        assertThat(next()).isEqualTo("disconnect");
        if (told.equals("written")) {
            assertThat(text(peer.readToEnd())).isEqualTo("all of it"); // off the loop it may have been on its way
        } else {
            assertThat(told).isEqualTo("lost");
            assertReset(peer);
        }
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, end-9: an abort that loses nothing is a regular end")
    void abortOfNothing() throws Exception {
        ConnectionRig.Peer peer = openRecording();
        peer.connection().send(ByteBuffer.wrap(bytes("all of it")), (same, failure) -> note(same, failure));
        assertThat(next()).isEqualTo("written");
        peer.connection().abort();
        assertThat(next()).isEqualTo("disconnect");
        assertThat(text(peer.readToEnd())).isEqualTo("all of it");
    }

    @Test
    @DisplayName("srv-17, end-9: reset ends at once, and the peer sees a reset though everything was sent")
    void resetByUs() throws Exception {
        ConnectionRig.Peer peer = openRecording();
        Connection connection = peer.connection();
        connection.send(ByteBuffer.wrap(bytes("some")), (same, failure) -> note(same, failure));
        assertThat(next()).isEqualTo("written");
        assertThat(text(peer.read(4))).isEqualTo("some");
        connection.reset();
        connection.reset();
        assertThat(connection.isClosed()).isTrue();
        assertThat(connection.send("x")).isEqualTo(SendResult.CLOSED);
        assertThat(next()).isEqualTo("disconnect");
        assertReset(peer);
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, srv-5, end-9: a callback that resets loses what waits, and is called no more but for that")
    void resetInACallback() throws Exception {
        ConnectionRig.Peer peer = rig().open(rig().server().bufferSize(1), new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                super.onData(connection, data);
                connection.send(ByteBuffer.allocate(LARGE), (same, failure) -> note(same, failure));
                connection.reset();
            }
        });
        assertThat(next()).isEqualTo("connect");
        peer.send(bytes("ab"));
        assertThat(next()).isEqualTo("data a");
        assertThat(next()).isEqualTo("lost");
        assertThat(next()).isEqualTo("disconnect");
        assertReset(peer);
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, end-9: a reset after the farewell of a close is one, too")
    void resetWhileClosing() throws Exception {
        ConnectionRig.Peer peer = openRecording();
        peer.send(bytes("a"));
        assertThat(next()).isEqualTo("data a");
        peer.connection().close(); // which waits for the end of a peer that was sending
        rig().settle();
        peer.connection().reset();
        assertThat(next()).isEqualTo("disconnect");
        assertNothingMore();
    }

    private void assertReset(ConnectionRig.Peer peer) throws Exception {
        if (!rig().showsLosses()) {
            peer.readToEnd(); // it ends, at least
            return;
        }
        assertThatThrownBy(peer::readToEnd).isInstanceOf(IOException.class);
    }

    @Test
    @DisplayName("srv-17, mill-9: a connection counts what it has read from the system, and what that has taken")
    void counts() throws Exception {
        ConnectionRig.Peer peer = openRecording();
        Connection connection = peer.connection();
        assertThat(connection.bytesReceived() + connection.bytesSent()).isZero();
        peer.send(bytes("abc"));
        assertThat(next()).isEqualTo("data abc");
        connection.send(ByteBuffer.allocate(10), (same, failure) -> note(same, failure));
        assertThat(next()).isEqualTo("written");
        assertThat(connection.bytesReceived()).isEqualTo(3);
        assertThat(connection.bytesSent()).isEqualTo(10);
        connection.send(ByteBuffer.allocate(LARGE));
        rig().await("the system has taken some", () -> connection.queuedBytes() < LARGE);
        connection.abort();
        assertThat(next()).isEqualTo("disconnect");
        assertThat(connection.bytesSent()).isBetween(10L, 9L + LARGE);
    }

    @Test
    @DisplayName("srv-17, srv-6: tasks run in order with callbacks, and one of a callback after it has returned")
    void tasks() throws Exception {
        ConnectionRig.Peer peer = open((connection, data) -> {
            connection.execute(() -> {
                log.add("first");
                connection.send("t");
            });
            connection.execute(() -> log.add("second"));
            log.add("returned");
        });
        peer.send((byte) 1);
        assertThat(List.of(next(), next(), next())).containsExactly("returned", "first", "second");
        assertThat(text(peer.read(1))).isEqualTo("t");
        peer.connection().execute(() -> log.add("from elsewhere"));
        assertThat(next()).isEqualTo("from elsewhere");
    }

    @Test
    @DisplayName("srv-17, srv-6: a connection that has ended takes no task")
    void tasksAfterTheEnd() throws Exception {
        ConnectionRig.Peer peer = openRecording();
        Connection connection = peer.connection();
        connection.abort();
        assertThat(next()).isEqualTo("disconnect");
        assertThatThrownBy(() -> connection.execute(() -> log.add("too late")))
                .isInstanceOf(RejectedExecutionException.class);
        assertNothingMore();
    }

    // ---- Ending ----

    @Test
    @DisplayName("srv-17, mill-11: after a half close the handler may still send")
    void halfClose() throws Exception {
        ConnectionRig.Peer peer = open(new Recording() {
            @Override
            public void onEndOfInput(Connection connection) {
                log.add("end");
                connection.send("still here");
            }
        });
        assertThat(next()).isEqualTo("connect");
        peer.endOutput();
        assertThat(next()).isEqualTo("end");
        assertThat(text(peer.read(10))).isEqualTo("still here");
        assertNothingMore();
        peer.connection().send("bye");
        peer.connection().close();
        assertThat(text(peer.readToEnd())).isEqualTo("bye");
        assertThat(next()).isEqualTo("disconnect");
    }

    @Test
    @DisplayName("srv-17, srv-3: after closeOutput nothing is sent, what comes is still received, and both ends end it")
    void closeOutput() throws Exception {
        ConnectionRig.Peer peer = open(new Recording() {
            @Override
            public void onEndOfInput(Connection connection) {
                log.add("end");
            }
        });
        assertThat(next()).isEqualTo("connect");
        Connection connection = peer.connection();
        connection.send("last words");
        connection.closeOutput();
        assertThat(connection.send("more")).isEqualTo(SendResult.CLOSED);
        assertThat(text(peer.readToEnd())).isEqualTo("last words");
        peer.send(bytes("a"));
        assertThat(next()).isEqualTo("data a");
        assertNothingMore();
        peer.endOutput();
        assertThat(next()).isEqualTo("end");
        assertThat(next()).isEqualTo("disconnect");
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, mill-8: close sends everything first, and takes nothing more")
    void closeFlushes() throws Exception {
        byte[] sent = random(LARGE);
        ConnectionRig.Peer peer = openRecording();
        Connection connection = peer.connection();
        connection.send(ByteBuffer.wrap(sent));
        connection.close();
        connection.close();
        assertThat(connection.isClosed()).isTrue();
        assertThat(connection.send("more")).isEqualTo(SendResult.CLOSED);
        rig().settle();
        assertThat(log).as("not while bytes wait").doesNotContain("disconnect");
        assertThat(peer.readToEnd()).isEqualTo(sent);
        peer.endOutput(); // which may be waited for
        assertThat(next()).isEqualTo("disconnect");
        assertNothingMore();
    }

    @Test
    @DisplayName(
            "srv-17, mill-8: a callback that closes sends what it has sent before, and is called no more but for the end")
    void closeInACallback() throws Exception {
        ConnectionRig.Peer peer = rig().open(rig().server().bufferSize(1), new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                super.onData(connection, data);
                connection.send("bye");
                connection.close();
            }
        });
        assertThat(next()).isEqualTo("connect");
        peer.send(bytes("a"));
        assertThat(next()).isEqualTo("data a");
        assertThat(text(peer.readToEnd())).isEqualTo("bye");
        peer.endOutput(); // it was sending a moment ago, so it is listened to until it ends
        assertThat(next()).isEqualTo("disconnect");
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, mill-11: a reset is told as an error, and then as the end")
    void reset() throws Exception {
        ConnectionRig.Peer peer = openRecording();
        peer.reset();
        assertThat(next()).startsWith("error ").endsWith("Exception");
        assertThat(next()).isEqualTo("disconnect");
        assertThat(peer.connection().send("x")).isEqualTo(SendResult.CLOSED);
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, mill-14: when onDisconnect runs, the server does not know the id any more")
    void idAtTheEnd() throws Exception {
        ConnectionRig.Peer peer = open(new Recording() {
            @Override
            public void onDisconnect(Connection connection) {
                log.add("known: " + (connection.server().connection(connection.id()) != null));
            }
        });
        assertThat(next()).isEqualTo("connect");
        Connection connection = peer.connection();
        assertThat(connection.server().connection(connection.id())).isSameAs(connection);
        assertThat(connection.server().send(connection.id(), ByteBuffer.wrap(bytes("a"))))
                .isEqualTo(SendResult.QUEUED);
        assertThat(text(peer.read(1))).isEqualTo("a");
        peer.connection().abort();
        assertThat(next()).isEqualTo("known: false");
        assertThat(connection.server().send(connection.id(), ByteBuffer.allocate(1)))
                .isEqualTo(SendResult.UNKNOWN);
    }

    // ---- Failures of callbacks ----

    @Test
    @DisplayName(
            "srv-17, mill-4: what onData throws is told to onError, and the connection goes on if that does not close it")
    void throwing() throws Exception {
        ConnectionRig.Peer peer = open(new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) {
                connection.send(data);
                throw new IllegalStateException("of the test");
            }
        });
        assertThat(next()).isEqualTo("connect");
        for (int i = 0; i < 2; i++) {
            peer.send((byte) 7);
            assertThat(next()).isEqualTo("error IllegalStateException");
            assertThat(peer.read(1)).containsExactly(7);
        }
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, srv-4, mill-7: what onDisconnect throws is not told, because no call follows it")
    void throwingDisconnect() throws Exception {
        ConnectionRig.Peer peer = open(new Recording() {
            @Override
            public void onDisconnect(Connection connection) throws Exception {
                log.add("disconnect");
                throw new IOException("of the test");
            }
        });
        assertThat(next()).isEqualTo("connect");
        peer.endOutput();
        assertThat(next()).isEqualTo("end");
        assertThat(next()).isEqualTo("disconnect");
        assertThat(peer.readToEnd()).isEmpty();
        assertNothingMore();
        rig().openAnother();
        assertThat(next()).isEqualTo("connect");
    }

    @Test
    @DisplayName("srv-17, srv-4: an onConnect that throws refuses the connection: only its end is told")
    void throwingConnect() throws Exception {
        ConnectionRig.Peer peer = open(new Recording() {
            @Override
            public void onConnect(Connection connection) throws Exception {
                throw new IOException("not you");
            }
        });
        assertThat(next()).isEqualTo("error IOException");
        assertThat(peer.readToEnd()).isEmpty();
        peer.endOutput();
        assertThat(next()).isEqualTo("disconnect");
        assertNothingMore();
    }

    // ---- Time ----

    @Test
    @DisplayName("srv-17, srv-12: each kind of silence is told when it is due, and again after as long")
    void idle() throws Exception {
        ConnectionRig.Peer peer = open(new Recording() {
            @Override
            public void onIdle(Connection connection, Idle kind) {
                log.add("idle " + kind);
            }
        });
        assertThat(next()).isEqualTo("connect");
        Connection connection = peer.connection();
        connection.setWriteIdleTimeout(Duration.ofSeconds(4));
        connection.setReadIdleTimeout(Duration.ofSeconds(7));
        connection.setIdleTimeout(Duration.ofSeconds(6));
        rig().advance(Duration.ofMillis(3999));
        assertNothingMore();
        rig().advance(Duration.ofMillis(1));
        assertThat(next()).isEqualTo("idle WRITE"); // 4
        rig().advance(Duration.ofSeconds(2));
        assertThat(next()).isEqualTo("idle BOTH"); // 6
        rig().advance(Duration.ofSeconds(1));
        assertThat(next()).isEqualTo("idle READ"); // 7
        rig().advance(Duration.ofSeconds(1));
        assertThat(next()).isEqualTo("idle WRITE"); // 8
        connection.setWriteIdleTimeout(Duration.ZERO);
        peer.send(bytes("a"));
        assertThat(next()).isEqualTo("data a");
        rig().advance(Duration.ofSeconds(5));
        assertNothingMore(); // 13
        rig().advance(Duration.ofSeconds(1));
        assertThat(next()).isEqualTo("idle BOTH"); // 14
    }

    @Test
    @DisplayName(
            "srv-17, mill-10: one that is paused while its peer has sent something is not idle until that was read")
    void pausedIsNotIdle() throws Exception {
        var settings = rig().server().idleTimeout(Duration.ofSeconds(5));
        ConnectionRig.Peer peer = rig().open(settings, new Recording());
        assertThat(next()).isEqualTo("connect");
        peer.connection().pauseReads();
        rig().settle();
        peer.send(bytes("a"));
        rig().settle();
        rig().advance(Duration.ofSeconds(12));
        assertNothingMore();
        peer.connection().resumeReads();
        assertThat(next()).isEqualTo("data a");
        rig().advance(Duration.ofMillis(4900));
        assertNothingMore();
        rig().advance(Duration.ofMillis(100));
        assertThat(next()).isEqualTo("error SocketTimeoutException");
        assertThat(next()).isEqualTo("disconnect");
    }

    @Test
    @DisplayName("srv-17, srv-12: one that is paused is idle all the same if nothing has come that it leaves unread")
    void pausedIsIdleIfNothingIsUnread() throws Exception {
        ConnectionRig.Peer peer = rig().open(rig().server().readIdleTimeout(Duration.ofSeconds(10)), new Recording() {
            @Override
            public void onConnect(Connection connection) throws Exception {
                connection.pauseReads();
                super.onConnect(connection);
            }
        });
        assertThat(next()).isEqualTo("connect");
        peer.connection();
        rig().advance(Duration.ofSeconds(9));
        assertNothingMore();
        rig().advance(Duration.ofSeconds(2));
        assertThat(next()).isEqualTo("error SocketTimeoutException");
        assertThat(next()).isEqualTo("disconnect");
    }

    @Test
    @DisplayName("srv-17, srv-12: of two calls that set a timeout, the last one counts, whichever threads made them")
    void lastTimeout() throws Exception {
        ConnectionRig.Peer peer = open(new Recording());
        assertThat(next()).isEqualTo("connect");
        Connection connection = peer.connection();
        connection.execute(() -> {
            try {
                Background.run(() -> connection.setIdleTimeout(Duration.ofSeconds(5)))
                        .result();
                connection.setIdleTimeout(Duration.ZERO);
                log.add("set");
            } catch (Exception e) {
                log.add(e.toString());
            }
        });
        assertThat(next()).isEqualTo("set");
        rig().advance(Duration.ofSeconds(10));
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, srv-12: by default silence ends the connection; what is sent does not count as received")
    void idleByDefault() throws Exception {
        ConnectionRig.Peer peer = rig().open(rig().server().readIdleTimeout(Duration.ofSeconds(10)), new Recording());
        assertThat(next()).isEqualTo("connect");
        rig().advance(Duration.ofSeconds(6));
        peer.connection().send("news");
        assertThat(text(peer.read(4))).isEqualTo("news");
        assertNothingMore();
        rig().advance(Duration.ofSeconds(4));
        assertThat(next()).isEqualTo("error SocketTimeoutException");
        assertThat(next()).isEqualTo("disconnect");
        assertThat(peer.readToEnd()).isEmpty();
    }

    @Test
    @DisplayName(
            "srv-17, mill-10: a peer that takes nothing is given up after the write timeout, counted from the last byte it took")
    void writeTimeout() throws Exception {
        ConnectionRig.Peer peer = rig().open(rig().server().writeTimeout(Duration.ofSeconds(10)), new Recording());
        assertThat(next()).isEqualTo("connect");
        Connection connection = peer.connection();
        connection.send(ByteBuffer.allocate(LARGE));
        rig().await("the system has taken some", () -> connection.queuedBytes() < LARGE);
        rig().advance(Duration.ofSeconds(9));
        long waiting = connection.queuedBytes();
        peer.read(LARGE / 4);
        rig().await("the system has taken more", () -> connection.queuedBytes() < waiting);
        rig().advance(Duration.ofSeconds(9));
        assertNothingMore();
        rig().advance(Duration.ofSeconds(1));
        for (int i = 0; i < 5 && log.isEmpty(); i++) {
            rig().advance(Duration.ofSeconds(10)); // the system may have taken some more, and later
        }
        assertThat(next()).isEqualTo("error SocketTimeoutException");
        assertThat(next()).isEqualTo("disconnect");
        assertReset(peer);
    }

    // ---- Framing, limits, several connections ----

    @Test
    @DisplayName(
            "srv-17, mill-8: a connection that is paused delivers no frame, nor the end behind them, until it is resumed")
    void framesOfAPausedConnection() throws Exception {
        ConnectionRig.Peer peer = open(Framing.lines(100).frames(new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                super.onData(connection, data);
                connection.pauseReads();
            }
        }));
        assertThat(next()).isEqualTo("connect");
        peer.send(bytes("a\nb\nc\nd"));
        assertThat(next()).isEqualTo("data a");
        assertNothingMore();
        peer.connection().resumeReads();
        assertThat(next()).isEqualTo("data b");
        peer.send(bytes("\n"));
        peer.endOutput();
        assertNothingMore();
        peer.connection().resumeReads();
        assertThat(next()).isEqualTo("data c");
        assertNothingMore();
        peer.connection().resumeReads();
        assertThat(next()).isEqualTo("data d");
        assertNothingMore();
        peer.connection().resumeReads();
        assertThat(next()).isEqualTo("end");
        assertThat(next()).isEqualTo("disconnect");
    }

    @Test
    @DisplayName("srv-17, srv-12, mill-8: a paused connection whose frames wait is not idle until they were delivered")
    void heldFramesAreNotSilence() throws Exception {
        ConnectionRig.Peer peer = rig().open(
                        rig().server().idleTimeout(Duration.ofSeconds(10)).readIdleTimeout(Duration.ofSeconds(10)),
                        Framing.lines(100).frames(new Recording() {
                            private boolean paused;

                            @Override
                            public void onData(Connection connection, ByteBuffer data) throws Exception {
                                super.onData(connection, data);
                                if (!paused) {
                                    paused = true;
                                    connection.pauseReads();
                                }
                            }
                        }));
        assertThat(next()).isEqualTo("connect");
        peer.send(bytes("a\nb\n"));
        assertThat(next()).isEqualTo("data a");
        for (int i = 0; i < 4; i++) {
            rig().advance(Duration.ofMillis(4900));
            assertNothingMore();
        }
        peer.connection().resumeReads();
        assertThat(next()).isEqualTo("data b");
        rig().advance(Duration.ofSeconds(9)); // it counts from when they were delivered
        assertNothingMore();
        rig().advance(Duration.ofSeconds(2));
        assertThat(next()).isEqualTo("error SocketTimeoutException");
        assertThat(next()).isEqualTo("disconnect");
    }

    @Test
    @DisplayName("srv-17, srv-12, mill-8: nor is one above its high-water mark whose frames wait")
    void heldFramesOfAFullConnectionAreNotSilence() throws Exception {
        ConnectionRig.Peer peer = rig().open(
                        rig().server()
                                .idleTimeout(Duration.ofSeconds(10))
                                .readIdleTimeout(Duration.ofSeconds(10))
                                .writeTimeout(Duration.ZERO),
                        Framing.lines(100).frames(new Recording() {
                            @Override
                            public void onData(Connection connection, ByteBuffer data) throws Exception {
                                super.onData(connection, data);
                                connection.send(ByteBuffer.allocate(LARGE));
                            }

                            @Override
                            public void onWritable(Connection connection) {}
                        }));
        assertThat(next()).isEqualTo("connect");
        peer.send(bytes("a\nb\n"));
        assertThat(next()).isEqualTo("data a");
        for (int i = 0; i < 4; i++) {
            rig().advance(Duration.ofMillis(9900));
            assertNothingMore();
        }
        peer.read(LARGE);
        assertThat(next()).isEqualTo("data b");
    }

    @Test
    @DisplayName(
            "srv-17, mill-8: to close a connection that has been paused for long resets no peer that has sent more since")
    void closedLongAfterAPause() throws Exception {
        ConnectionRig.Peer peer = open(new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                connection.pauseReads();
                super.onData(connection, data);
            }
        });
        assertThat(next()).isEqualTo("connect");
        peer.send(bytes("a"));
        assertThat(next()).isEqualTo("data a");
        rig().advance(Duration.ofSeconds(5)); // the peer is silent for so long that it would not be waited for
        peer.send(bytes("b"));
        Connection connection = peer.connection();
        connection.execute(() -> {
            connection.send("bye");
            connection.close();
        });
        assertThat(peer.readToEnd()).asString(US_ASCII).isEqualTo("bye");
        peer.endOutput();
        assertThat(next()).isEqualTo("disconnect");
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, mill-8, mr-9: a frame that was completed while the connection is paused is not late")
    void heldFramesAreNotLate() throws Exception {
        ConnectionRig.Peer peer =
                open(Framing.lines(100).within(Duration.ofSeconds(5)).frames(new Recording()));
        assertThat(next()).isEqualTo("connect");
        Connection connection = peer.connection();
        peer.send(bytes("a"));
        assertNothingMore();
        connection.execute(connection::pauseReads);
        peer.send(bytes("b\n"));
        rig().settle();
        if (!log.isEmpty()) {
            assertThat(next()).isEqualTo("data ab"); // it was faster
        } else {
            rig().advance(Duration.ofSeconds(6));
            rig().advance(Duration.ofSeconds(6));
            assertNothingMore();
            connection.resumeReads();
            assertThat(next()).isEqualTo("data ab");
        }
        connection.resumeReads();
        long before = connection.bytesReceived();
        peer.send(bytes("c"));
        rig().await("it has come", () -> connection.bytesReceived() > before); // the limit begins with it
        rig().settle();
        rig().advance(Duration.ofSeconds(5));
        rig().advance(Duration.ofMillis(2)); // it looks once more whether the rest has come
        assertThat(next()).isEqualTo("error SocketTimeoutException");
    }

    @Test
    @DisplayName("srv-17, mr-9: an input that ends in the middle of a frame is told as such, with how much came of it")
    void endInAFrame() throws Exception {
        ConnectionRig.Peer peer = open(Framing.lines(100).frames(new Recording() {
            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {
                log.add(failure.toString());
            }
        }));
        assertThat(next()).isEqualTo("connect");
        peer.send(bytes("a\nbcd"));
        peer.endOutput();
        assertThat(next()).isEqualTo("data a");
        assertThat(next())
                .isEqualTo("java.io.EOFException: the input ended in the middle of a frame, of which 3 bytes came");
        assertThat(next()).isEqualTo("end");
        assertThat(next()).isEqualTo("disconnect");
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, srv-11: of several framings that one callback sets, the last one counts")
    void lastFramingOfACallback() throws Exception {
        ConnectionRig.Peer peer = open(new Recording() {
            private boolean switched;

            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                if (switched) {
                    super.onData(connection, data);
                    return;
                }
                switched = true;
                super.onData(connection, data.duplicate());
                connection.setFraming(Framing.fixed(1));
                connection.setFraming(Framing.none()); // as before: what was given is given
            }
        });
        assertThat(next()).isEqualTo("connect");
        peer.send(bytes("abc"));
        assertThat(next()).isEqualTo("data abc");
        assertNothingMore();
        peer.connection().execute(() -> {
            peer.connection().setFraming(Framing.lines(10));
            peer.connection().setFraming(Framing.fixed(2));
        });
        peer.send(bytes("de"));
        peer.send(bytes("fg"));
        assertThat(next()).isIn("data de", "data defg"); // which may have come before the task
        rig().settle();
        log.clear();
        peer.send(bytes("hijk"));
        assertThat(next()).isEqualTo("data hi");
        assertThat(next()).isEqualTo("data jk");
    }

    @Test
    @DisplayName("srv-17, srv-11: of two calls that set a framing, the last one counts, whichever threads made them")
    void lastFraming() throws Exception {
        ConnectionRig.Peer peer = openRecording();
        Connection connection = peer.connection();
        connection.execute(() -> {
            try {
                Background.run(() -> connection.setFraming(Framing.fixed(1))).result();
                connection.setFraming(Framing.lines(10));
                log.add("set");
            } catch (Exception e) {
                log.add(e.toString());
            }
        });
        assertThat(next()).isEqualTo("set");
        rig().settle();
        peer.send(bytes("ab\ncd\n"));
        assertThat(next()).isEqualTo("data ab");
        assertThat(next()).isEqualTo("data cd");
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, mill-8: above the high-water mark no frame is delivered, though one read has brought many")
    void framesOfAFullConnection() throws Exception {
        ConnectionRig.Peer peer = open(Framing.lines(100).frames(new Recording() {
            @Override
            public void onData(Connection connection, ByteBuffer data) throws Exception {
                super.onData(connection, data);
                connection.send(ByteBuffer.allocate(LARGE));
            }

            @Override
            public void onWritable(Connection connection) {}
        }));
        assertThat(next()).isEqualTo("connect");
        peer.send(bytes("a\nb\nc\n"));
        for (String frame : List.of("a", "b", "c")) {
            assertThat(next()).isEqualTo("data " + frame);
            assertNothingMore();
            assertThat(peer.connection().queuedBytes()).isBetween((long) HIGH, (long) LARGE);
            peer.read(LARGE);
        }
        assertNothingMore();
    }

    @Test
    @DisplayName(
            "srv-17, mill-8: a peer that reads is served, however many frames one read brings and however large the answers are")
    void framesOfABusyConnection() throws Exception {
        int frames = 64;
        int answer = HIGH * 2;
        ConnectionRig.Peer peer = rig().open(
                        rig().server().waterMarks(HIGH / 2, HIGH, 2L * answer),
                        Framing.lines(100).frames(new Recording() {
                            @Override
                            public void onData(Connection connection, ByteBuffer data) {
                                connection.send(ByteBuffer.allocate(answer));
                            }

                            @Override
                            public void onWritable(Connection connection) {}
                        }));
        assertThat(next()).isEqualTo("connect");
        peer.send(bytes("x\n".repeat(frames)));
        assertThat(peer.read(frames * answer)).hasSize(frames * answer);
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, srv-9: with readWhileFull frames are delivered all the same")
    void framesWhileFull() throws Exception {
        ConnectionRig.Peer peer = rig().open(
                        rig().server().readWhileFull(true), Framing.lines(100).frames(new Recording() {
                            @Override
                            public void onData(Connection connection, ByteBuffer data) throws Exception {
                                super.onData(connection, data);
                                connection.send(ByteBuffer.allocate(LARGE));
                            }
                        }));
        assertThat(next()).isEqualTo("connect");
        peer.send(bytes("a\nb\n"));
        assertThat(next()).isEqualTo("data a");
        assertThat(next()).isEqualTo("data b");
    }

    @Test
    @DisplayName("srv-17, mill-11: lines arrive whole, wherever they are split")
    void lines() throws Exception {
        Framing lines = Framing.lines(10);
        ConnectionRig.Peer peer = open(lines.frames(new Recording()));
        assertThat(next()).isEqualTo("connect");
        byte[] sent = bytes("ab\n\ncde\n");
        for (int split = 1; split < sent.length; split++) {
            for (int i = 0; i < split; i++) {
                peer.send(sent[i]);
                rig().settle();
            }
            byte[] rest = new byte[sent.length - split];
            System.arraycopy(sent, split, rest, 0, rest.length);
            peer.send(rest);
            assertThat(List.of(next(), next(), next()))
                    .as("after byte " + split)
                    .containsExactly("data ab", "data ", "data cde");
        }
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, mill-11: a frame that is too long, or takes too long, ends the connection with an error")
    void badFrames() throws Exception {
        Framing lines = Framing.lines(3).within(Duration.ofSeconds(5));
        ConnectionRig.Peer peer = open(lines.frames(new Recording()));
        assertThat(next()).isEqualTo("connect");
        peer.send(bytes("abc\nabcd"));
        assertThat(next()).isEqualTo("data abc");
        assertThat(next()).isEqualTo("error ProtocolException");
        assertThat(peer.readToEnd()).isEmpty();
        peer.endOutput();
        assertThat(next()).isEqualTo("disconnect");
        ConnectionRig.Peer slow = rig().openAnother();
        assertThat(next()).isEqualTo("connect");
        slow.send(bytes("a\nb"));
        assertThat(next()).isEqualTo("data a");
        rig().advance(Duration.ofSeconds(4));
        assertNothingMore();
        rig().advance(Duration.ofSeconds(1));
        rig().advance(Duration.ofMillis(2)); // it looks once more whether the rest has come
        assertThat(next()).isEqualTo("error SocketTimeoutException");
        assertThat(slow.readToEnd()).isEmpty();
        slow.endOutput();
        assertThat(next()).isEqualTo("disconnect");
        assertNothingMore();
    }

    @Test
    @DisplayName("srv-17, srv-2: a connection above the limit is turned away, and the next one is not after an end")
    void maxConnections() throws Exception {
        ConnectionRig.Peer first = rig().open(rig().server().maxConnections(1), new Recording() {
            @Override
            public void onError(@Nullable Connection connection, Throwable failure) {
                log.add(connection + " " + failure.getMessage());
            }
        });
        assertThat(next()).isEqualTo("connect");
        ConnectionRig.Peer second = rig().openAnother();
        assertThat(next()).startsWith("null turned a connection away: 1 are open");
        assertThat(second.readToEnd()).isEmpty();
        first.endOutput();
        assertThat(List.of(next(), next())).containsExactly("end", "disconnect");
        assertThat(first.readToEnd()).isEmpty();
        rig().settle();
        ConnectionRig.Peer third = rig().openAnother();
        assertThat(next()).isEqualTo("connect");
        third.send(bytes("c"));
        assertThat(next()).isEqualTo("data c");
    }

    @Test
    @DisplayName("srv-17, srv-10: a connection leads to its server, which reaches them all")
    void broadcast() throws Exception {
        ConnectionRig.Peer one = open((connection, data) -> connection.server().broadcast(data));
        ConnectionRig.Peer other = rig().openAnother();
        assertThat(one.connection().server()).isSameAs(other.connection().server());
        assertThat(one.connection().id()).isNotEqualTo(other.connection().id());
        one.send(bytes("all"));
        assertThat(text(one.read(3))).isEqualTo("all");
        assertThat(text(other.read(3))).isEqualTo("all");
    }
}
