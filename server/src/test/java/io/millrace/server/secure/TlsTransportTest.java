package io.millrace.server.secure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.net.FileSource;
import io.millrace.server.tls.TlsTruncatedException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@DisplayName("TLS between a connection and its transport, step by step")
class TlsTransportTest {
    private static final byte[] WORD = "word".getBytes();

    private static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    // ---- Receiving ----

    @ParameterizedTest
    @CsvSource({"true, TLSv1.3", "false, TLSv1.3", "true, TLSv1.2", "false, TLSv1.2"})
    @DisplayName("tls-4: bytes arrive in order, however their records are split")
    void splitEverywhere(boolean server, String version) throws Exception {
        TlsEnds ends = TlsEnds.of(server, version).shakeHands();
        byte[] data = random(300);
        byte[] records = ends.peer.encrypt(Arrays.copyOf(data, 100));
        byte[] more = ends.peer.encrypt(Arrays.copyOfRange(data, 100, 300));
        for (byte[] each : new byte[][] {records, more}) {
            for (byte one : each) {
                ends.raw.arrive(new byte[] {one});
            }
        }
        assertThat(ends.sink.received.toByteArray()).isEqualTo(data);
        assertThat(ends.tls.ownBytes()).as("an idle connection holds no buffer").isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("tls-3: a handshake succeeds, however it is split")
    void splitHandshake(boolean server) throws Exception {
        TlsEnds ends = TlsEnds.of(server, "TLSv1.3");
        ends.tls.onConnected();
        byte[] next = server ? ends.peer.begin() : ends.peer.take(ends.raw.takeSent());
        while (next.length > 0) {
            for (byte one : next) {
                ends.raw.arrive(new byte[] {one});
                ends.loop.run();
            }
            next = ends.peer.take(ends.raw.takeSent());
        }
        assertThat(ends.sink.connected).isEqualTo(1);
        assertThat(ends.loop.alarms()).as("its deadline is cancelled").isZero();
    }

    @Test
    @DisplayName("tls-4: what arrives while it is paused waits, whole, and follows in order; so does the end")
    void paused() throws Exception {
        RecordingSink sink = new RecordingSink();
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3", sink).shakeHands();
        byte[] data = random(100_000);
        ends.tls.pause();
        ends.raw.arrive(ends.peer.encrypt(data));
        ends.raw.arrive(ends.peer.close());
        ends.loop.run();
        assertThat(sink.received.size()).isZero();
        assertThat(sink.endings).isZero();
        ends.tls.resume();
        ends.loop.run();
        assertThat(sink.received.toByteArray()).isEqualTo(data);
        assertThat(sink.endings).isEqualTo(1);
        assertThat(ends.tls.ownBytes()).isZero();
    }

    @Test
    @DisplayName("tls-4: a connection that pauses in the middle of a delivery gets the rest when it resumes, once")
    void pausesInside() throws Exception {
        TlsEnds[] both = new TlsEnds[1];
        RecordingSink sink = new RecordingSink() {
            @Override
            public void onReceived(ByteBuffer data) {
                super.onReceived(data);
                both[0].tls.pause();
            }
        };
        both[0] = TlsEnds.of(true, "TLSv1.3", sink).shakeHands();
        byte[] data = random(100_000);
        both[0].raw.arrive(both[0].peer.encrypt(data));
        for (int calls = 0; sink.received.size() < data.length; calls++) {
            assertThat(calls).isLessThan(100);
            int before = sink.received.size();
            both[0].tls.resume();
            both[0].loop.run();
            assertThat(sink.received.size()).isBetween(before + 1, before + 16 * 1024);
        }
        assertThat(sink.received.toByteArray()).isEqualTo(data);
        both[0].tls.resume();
        both[0].loop.run();
        assertThat(both[0].tls.ownBytes()).isZero();
    }

    @Test
    @DisplayName("tls-4: an end that arrives with data is told after the data, even if the connection pauses between")
    void endBehindPausedData() throws Exception {
        TlsEnds[] both = new TlsEnds[1];
        RecordingSink sink = new RecordingSink() {
            @Override
            public void onReceived(ByteBuffer data) {
                super.onReceived(data);
                both[0].tls.pause();
            }
        };
        both[0] = TlsEnds.of(true, "TLSv1.3", sink).shakeHands();
        byte[] data = random(20_000); // more than a piece, and less than is decrypted at once
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(both[0].peer.encrypt(data));
        all.writeBytes(both[0].peer.close());
        both[0].raw.arrive(all.toByteArray());
        both[0].loop.run();
        assertThat(sink.received.size()).isEqualTo(16 * 1024);
        assertThat(sink.endings).isZero();
        both[0].tls.resume();
        both[0].loop.run();
        assertThat(sink.received.toByteArray()).isEqualTo(data);
        assertThat(sink.endings).as("it has paused again").isZero();
        both[0].tls.resume();
        both[0].loop.run();
        assertThat(sink.endings).isEqualTo(1);
    }

    @Test
    @DisplayName("tls-3: a handshake that begins with the first bytes, because the loop is busy, is not begun twice")
    void beginsLate() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.2");
        byte[] next = ends.peer.begin();
        while (next.length > 0) {
            ends.raw.arrive(next);
            ends.loop.run();
            next = ends.peer.take(ends.raw.takeSent());
        }
        assertThat(ends.sink.connected).isEqualTo(1);
        ends.tls.onConnected(); // the turn gets to it only now
        ends.loop.run();
        assertThat(ends.raw.takeSent()).as("no request for another handshake").isEmpty();
        assertThat(ends.loop.alarms()).isZero();
        ends.receive(WORD);
        assertThat(ends.sink.received.toByteArray()).isEqualTo(WORD);
    }

    @Test
    @DisplayName("tls-4: a connection that is read while another one of its loop delivers does not spoil its data")
    void nestedDelivery() throws Exception {
        TlsEnds[] inner = new TlsEnds[1];
        byte[] data = random(1_000);
        RecordingSink sink = new RecordingSink() {
            @Override
            public void onReceived(ByteBuffer received) {
                try {
                    inner[0].raw.arrive(inner[0].peer.encrypt(new byte[1_000]));
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
                super.onReceived(received);
            }
        };
        OneThreadLoop loop = new OneThreadLoop();
        TlsSettings settings = TestKeys.SHARED.server("TLSv1.3");
        inner[0] = new TlsEnds(loop, true, "TLSv1.3", settings, new RecordingSink()).shakeHands();
        TlsEnds outer = new TlsEnds(loop, true, "TLSv1.3", settings, sink).shakeHands();
        outer.receive(data);
        outer.receive(data);
        assertThat(sink.received.toByteArray()).startsWith(data).endsWith(data).hasSize(2_000);
        assertThat(inner[0].sink.received.toByteArray()).isEqualTo(new byte[2_000]);
    }

    // ---- Sending ----

    @ParameterizedTest
    @ValueSource(ints = {1, 5, 22, 23, 100, 1000, 16_384, 20_000})
    @DisplayName("tls-4: a byte counts as sent when the system has taken its ciphertext; none is lost or sent twice")
    void sends(int step) throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3").shakeHands();
        byte[] data = random(step < 100 ? 2_000 : 150_000);
        ByteBuffer from = ByteBuffer.wrap(data);
        ends.raw.room = step;
        int taken = 0;
        boolean all = ends.tls.send(from);
        while (!all) {
            int sent = from.position();
            byte[] out = ends.raw.takeSent();
            taken += out.length;
            ends.peer.take(out);
            // Of the record that the peer has only a part of, no more counts than is there; the rest of it counts
            // first.
            assertThat(sent)
                    .as("never too early")
                    .isLessThanOrEqualTo(Math.min(taken, ends.peer.received.size() + 16_384));
            assertThat(sent).as("not late either").isGreaterThan(taken - 20 * 40);
            ends.raw.open(step);
            all = ends.tls.send(from);
            assertThat(from.position()).isGreaterThanOrEqualTo(sent);
        }
        ends.raw.open(Integer.MAX_VALUE);
        ends.peer.take(ends.raw.takeSent());
        assertThat(ends.peer.received.toByteArray()).isEqualTo(data);
        assertThat(ends.tls.ownBytes()).isZero();
    }

    @Test
    @DisplayName("tls-4: several buffers that are partly taken are set back to the first byte that was not")
    void sendsSeveral() throws Exception {
        TlsEnds ends = TlsEnds.of(false, "TLSv1.2").shakeHands();
        byte[] data = random(9_000);
        ByteBuffer[] parts = {
            ByteBuffer.wrap(data, 0, 10),
            ByteBuffer.wrap(data, 10, 0),
            ByteBuffer.wrap(data, 10, 5_990),
            ByteBuffer.wrap(data, 6_000, 3_000)
        };
        ends.raw.room = 700;
        boolean all = ends.tls.send(parts, 0, 4);
        int position = Arrays.stream(parts).mapToInt(each -> each.remaining()).sum();
        assertThat(all).isFalse();
        assertThat(position).isBetween(9_000 - 700, 9_000 - 600);
        for (int turns = 0; !all; turns++) {
            assertThat(turns).isLessThan(100);
            ends.raw.open(700);
            all = ends.tls.send(parts, 0, 4);
        }
        ends.peer.take(ends.raw.takeSent());
        assertThat(ends.peer.received.toByteArray()).isEqualTo(data);
    }

    @Test
    @DisplayName("tls-4: a file is encrypted, up to its share of a turn, and goes on when there is room")
    void sendsFiles(@TempDir Path directory) throws Exception {
        byte[] data = random(3 << 20);
        Path file = Files.write(directory.resolve("file"), data);
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3").shakeHands();
        try (FileSource source = FileSource.open(file)) {
            long moved = ends.tls.sendFile(source, 0, data.length);
            assertThat(moved).as("the share of a turn").isEqualTo(1 << 20);
            ends.loop.run();
            assertThat(ends.sink.writable).isEqualTo(1);
            ends.raw.room = 300_000;
            for (int turns = 0; moved < data.length; turns++) {
                assertThat(turns).isLessThan(100);
                moved += ends.tls.sendFile(source, moved, data.length - moved);
                ends.peer.take(ends.raw.takeSent());
                assertThat((long) ends.peer.received.size()).isLessThanOrEqualTo(moved);
                ends.raw.open(300_000);
                ends.loop.run();
            }
            assertThat(ends.tls.sendFile(source, data.length, 1)).isEqualTo(-1);
        }
        ends.peer.take(ends.raw.takeSent());
        assertThat(ends.peer.received.toByteArray()).isEqualTo(data);
    }

    // ---- Floods ----

    @Test
    @DisplayName("tls-3: a peer that sends many records without data in a second is cut off, whatever it sends between")
    void silentRecords() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3").shakeHands();
        for (int i = 0; i < 5; i++) {
            updateKeys(ends, TlsTransport.MOST_SILENT);
            ends.loop.nanos += 1_100_000_000L;
        }
        for (int i = 0; i < TlsTransport.MOST_SILENT; i++) {
            updateKeys(ends, 1);
            ends.receive(WORD);
        }
        assertThat(ends.sink.failure).as("they took their time").isNull();
        updateKeys(ends, 1);
        assertThat(ends.sink.failure).isInstanceOf(SSLException.class).hasMessageContaining("records without data");
        assertThat(ends.raw.closed).isTrue();
        ends.peer.take(ends.raw.takeSent());
        assertThat(ends.peer.ended).as("no regular end is announced").isFalse();
    }

    private static void updateKeys(TlsEnds ends, int times) throws IOException {
        for (int i = 0; i < times; i++) {
            ends.raw.arrive(ends.peer.updateKeys());
            ends.loop.run();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName(
            "tls-3: a peer that updates its keys without end is cut off, and what it does not read does not pile up")
    void keyUpdates(boolean server) throws Exception {
        TlsEnds ends = TlsEnds.of(server, "TLSv1.3").shakeHands();
        ends.raw.room = 0;
        int count = 0;
        while (ends.sink.failure == null && count < 1000) {
            ends.raw.arrive(ends.peer.updateKeys());
            ends.loop.run();
            count++;
            assertThat(ends.tls.ownBytes()).isLessThan(TlsTransport.MOST_OVERHEAD);
        }
        assertThat(count)
                .as("tickets count, too")
                .isBetween(TlsTransport.MOST_SILENT - 2, TlsTransport.MOST_SILENT + 1);
    }

    @Test
    @DisplayName("tls-4: records that waited because the peer did not take our answers are decrypted when it does")
    void answersTaken() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3").shakeHands();
        ends.raw.room = 0;
        // Not too many in a second, so that the answers pile up to their limit.
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        int words = 0;
        while (!ends.raw.paused && words < 100_000) {
            ends.raw.arrive(ends.peer.updateKeys());
            ends.raw.arrive(ends.peer.encrypt(WORD));
            words++;
            ends.loop.nanos += 20_000_000L;
        }
        assertThat(ends.raw.paused).isTrue();
        while (!ends.raw.arriving.isEmpty()) {
            all.writeBytes(ends.raw.arriving.poll());
        }
        for (int i = 0; i < 10; i++) {
            all.writeBytes(ends.peer.updateKeys());
            all.writeBytes(ends.peer.encrypt(WORD));
            words++;
        }
        ends.tls.onReceived(ByteBuffer.wrap(all.toByteArray())); // as from a loop that had read it before
        ends.raw.open(Integer.MAX_VALUE);
        ends.loop.run();
        assertThat(ends.sink.received.size()).isEqualTo(words * WORD.length);
    }

    @Test
    @DisplayName("tls-3: a handshake of which no message ends is ended")
    void longHandshake() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3");
        ends.tls.onConnected();
        ends.raw.arrive(ends.peer.begin());
        ends.loop.run();
        byte[] change = {20, 3, 3, 0, 1, 1};
        int sent = 0;
        while (ends.sink.failure == null && sent < 2 * TlsTransport.LONGEST_HANDSHAKE) {
            ends.raw.arrive(change);
            ends.loop.run();
            sent += change.length;
        }
        assertThat(ends.sink.failure).isInstanceOf(SSLException.class);
        assertThat(sent).isLessThanOrEqualTo(TlsTransport.LONGEST_HANDSHAKE + change.length);
        assertThat(ends.tls.isClosed()).isTrue();
    }

    @Test
    @DisplayName("tls-3: a handshake in tiny records, which cost the engine far more than they cost the peer, is ended")
    void tinyRecords() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3");
        ends.tls.onConnected();
        byte[] header = {1, 0, 0x70, 0}; // a ClientHello, as long as the engine takes
        int records = 0;
        while (ends.sink.failure == null && records < 0x7000) {
            ends.raw.arrive(new byte[] {22, 3, 3, 0, 1, records < header.length ? header[records] : 0});
            records++;
        }
        assertThat(ends.sink.failure).isInstanceOf(SSLException.class).hasMessageContaining("handshake is longer");
        assertThat(records).isEqualTo(TlsTransport.LONGEST_HANDSHAKE / TlsTransport.LEAST_RECORD + 1);
        assertThat(ends.tls.isClosed()).isTrue();
    }

    @Test
    @DisplayName("tls-3: a handshake that stands still is ended by its deadline, and gives its buffers back")
    void deadline() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3");
        ends.tls.onConnected();
        byte[] hello = ends.peer.begin();
        ends.raw.arrive(Arrays.copyOf(hello, hello.length - 1));
        ends.loop.run();
        assertThat(ends.sink.failure).isNull();
        assertThat(ends.tls.ownBytes()).isPositive();
        ends.loop.fire();
        assertThat(ends.sink.failure).isInstanceOf(SocketTimeoutException.class);
        assertThat(ends.tls.ownBytes()).isZero();
        assertThat(ends.raw.closed).isTrue();
    }

    // ---- Ends ----

    @Test
    @DisplayName("tls-4: after we have ended our output, a peer with TLS 1.3 can still update its keys and send")
    void keyUpdateAfterOurEnd() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3").shakeHands();
        ends.tls.closeOutput();
        assertThat(ends.raw.outputClosed).isTrue();
        ends.receive(WORD);
        ends.raw.arrive(ends.peer.updateKeys()); // before it has read of our end
        ends.loop.run();
        ends.receive(WORD);
        ends.raw.arrive(ends.peer.close());
        ends.loop.run();
        ends.peer.take(ends.raw.takeSent());
        assertThat(ends.peer.ended).isTrue();
        assertThat(ends.sink.failure).isNull();
        assertThat(ends.sink.received.toString()).isEqualTo("wordword");
        assertThat(ends.sink.endings).isEqualTo(1);
    }

    @Test
    @DisplayName("tls-5: an end that is announced behind waiting bytes comes after them")
    void endBehindHeldBytes() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3").shakeHands();
        ends.raw.room = 0;
        ByteBuffer word = ByteBuffer.wrap(WORD);
        assertThat(ends.tls.send(word)).isFalse();
        ends.tls.closeOutput();
        assertThat(ends.raw.outputClosed).isFalse();
        ends.raw.open(10);
        assertThat(ends.raw.outputClosed).isFalse();
        ends.raw.open(Integer.MAX_VALUE);
        assertThat(ends.raw.outputClosed).isTrue();
        ends.peer.take(ends.raw.takeSent());
        assertThat(ends.peer.received.toByteArray()).isEqualTo(WORD);
        assertThat(ends.peer.ended).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"true, TLSv1.3", "false, TLSv1.3", "true, TLSv1.2", "false, TLSv1.2"})
    @DisplayName("tls-5: after close the peer has been told of the end; after abort it has not")
    void closeAndAbort(boolean server, String version) throws Exception {
        for (boolean aborts : new boolean[] {false, true}) {
            TlsEnds ends = TlsEnds.of(server, version).shakeHands();
            if (aborts) {
                ends.tls.abort();
            } else {
                ends.tls.close();
            }
            ends.peer.take(ends.raw.takeSent());
            assertThat(ends.peer.ended).isEqualTo(!aborts);
            assertThat(ends.raw.closed).isTrue();
            assertThat(ends.sink.isOver()).as("a close is not told").isFalse();
        }
    }

    @ParameterizedTest
    @CsvSource({"TLSv1.3, false", "TLSv1.2, false", "TLSv1.3, true", "TLSv1.2, true"})
    @DisplayName("tls-5: an end that the system does not take at once is announced when it does, and then it is closed")
    void closesLater(String version, boolean endedBefore) throws Exception {
        TlsEnds ends = TlsEnds.of(true, version).shakeHands();
        ends.raw.room = 0;
        if (endedBefore) {
            ends.tls.closeOutput();
        }
        ends.tls.close();
        assertThat(ends.tls.isClosed()).isTrue();
        assertThat(ends.raw.closed).as("it has something to say").isFalse();
        ends.raw.arrive(ends.peer.encrypt(WORD));
        ends.raw.open(5);
        assertThat(ends.raw.closed).isFalse();
        ends.raw.open(Integer.MAX_VALUE);
        assertThat(ends.raw.closed).isTrue();
        assertThat(ends.loop.alarms()).isZero();
        ends.peer.take(ends.raw.takeSent());
        assertThat(ends.peer.ended).isTrue();
        assertThat(ends.sink.received.size()).as("it is closed").isZero();
        assertThat(ends.sink.isOver()).isFalse();
    }

    @Test
    @DisplayName("tls-5: a peer that does not take the announcement of the end does not keep a closed connection open")
    void closesInTime() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3").shakeHands();
        ends.raw.room = 0;
        ends.tls.close();
        ends.loop.fire();
        assertThat(ends.raw.closed).isTrue();
        assertThat(ends.tls.ownBytes()).isZero();
        TlsEnds broken = TlsEnds.of(true, "TLSv1.3").shakeHands();
        broken.raw.room = 0;
        broken.tls.close();
        broken.tls.onFailed(new IOException("reset by the peer"));
        assertThat(broken.raw.closed).isTrue();
        assertThat(broken.loop.alarms()).isZero();
        assertThat(broken.sink.failure).as("it was closed before").isNull();
    }

    @Test
    @DisplayName("tls-5: an end is not announced without the bytes before it")
    void closesWithBytesLost() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3").shakeHands();
        ends.raw.room = 10;
        assertThat(ends.send(WORD)).isFalse();
        ends.tls.closeOutput();
        ends.tls.close();
        assertThat(ends.raw.closed).isTrue();
        assertThat(ends.loop.alarms()).isZero();
    }

    @Test
    @DisplayName("tls-3: an alert that the system does not take at once is sent when it does")
    void alertsLater() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3").shakeHands();
        byte[] record = ends.peer.encrypt(WORD);
        record[record.length - 1] ^= 1;
        ends.raw.room = 0;
        ends.raw.arrive(record);
        assertThat(ends.sink.failure).isInstanceOf(SSLException.class);
        assertThat(ends.raw.closed).isFalse();
        ends.raw.open(Integer.MAX_VALUE);
        assertThat(ends.raw.closed).isTrue();
        assertThatThrownBy(() -> ends.peer.take(ends.raw.takeSent()))
                .isInstanceOf(SSLException.class)
                .hasMessageContaining("bad_record_mac");
    }

    @Test
    @DisplayName("tls-5: a broken record is answered by an alert, and the end of the transport by none")
    void broken() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3").shakeHands();
        byte[] record = ends.peer.encrypt(WORD);
        record[record.length - 1] ^= 1;
        ends.raw.arrive(record);
        assertThat(ends.sink.failure).isInstanceOf(SSLException.class);
        assertThatThrownBy(() -> ends.peer.take(ends.raw.takeSent()))
                .isInstanceOf(SSLException.class)
                .hasMessageContaining("bad_record_mac");
        TlsEnds other = TlsEnds.of(true, "TLSv1.3").shakeHands();
        other.raw.end();
        assertThat(other.sink.failure).isInstanceOf(TlsTruncatedException.class);
        assertThat(other.raw.takeSent()).isEmpty();
    }

    @Test
    @DisplayName("tls-4: nothing can be sent after the peer has ended TLS 1.2, and that is said")
    void sendAfterTheEndOf12() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.2").shakeHands();
        ends.raw.arrive(ends.peer.close());
        ends.loop.run();
        assertThat(ends.sink.endings).isEqualTo(1);
        assertThatThrownBy(() -> ends.send(WORD))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("TLS 1.2 ends both directions");
    }

    @Test
    @DisplayName("tls-3: a close while a handshake is computed ends it, and what is computed changes nothing")
    void closedWhileComputing() throws Exception {
        TlsEnds ends = TlsEnds.of(true, "TLSv1.3");
        ends.tls.onConnected();
        ends.raw.arrive(ends.peer.begin());
        assertThat(ends.loop.hasTasks()).as("it computes").isTrue();
        assertThat(ends.raw.paused).isTrue();
        ends.tls.close();
        ends.loop.run();
        assertThat(ends.raw.takeSent()).isEmpty();
        assertThat(ends.sink.connected).isZero();
        assertThat(ends.sink.failure).isNull();
        assertThat(ends.loop.alarms()).isZero();
    }
}
