package io.millrace.net;

import static io.millrace.net.TcpStreamTest.ascii;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Several buffers in one call, on both kinds of stream. */
@ParameterizedClass
@MethodSource("io.millrace.net.Streams#onEveryBackend")
class VectoredTest {
    @Parameter(0)
    Rig.Backend backend;

    @Parameter(1)
    Streams kind;

    private final Arena shared = Arena.ofShared();
    private Rig rig;
    private ByteStream client;
    private ByteStream server;

    @BeforeEach
    void open() throws Exception {
        rig = backend.rig();
        Streams.Ends ends = kind.open(rig);
        client = ends.client();
        server = ends.server();
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
        shared.close();
    }

    @Test
    void buffersGoOutInTheirOrderAndFillUpInTheirOrder() throws Exception {
        ByteBuffer[] from = {ascii("one"), direct("two"), ascii(""), arena("three"), direct(""), ascii("four")};
        assertThat(client.tryWrite(from, 0, from.length)).isEqualTo(15);
        assertThat(from).allSatisfy(each -> assertThat(each.hasRemaining()).isFalse());
        rig.await(server, Interest.READABLE);
        ByteBuffer[] into = {
            ByteBuffer.allocateDirect(2),
            ByteBuffer.allocate(0),
            ByteBuffer.allocate(5),
            Arena.ofAuto().allocate(4).asByteBuffer(),
            ByteBuffer.allocate(20)
        };

        assertThat(server.tryRead(into, 0, into.length)).isEqualTo(15);

        assertThat(text(into)).isEqualTo("on||etwot|hree|four");
    }

    @Test
    void onlyTheRangeIsTouched() throws Exception {
        ByteBuffer[] from = {ascii("no"), ascii("yes"), ascii("sir"), ascii("no")};

        assertThat(client.tryWrite(from, 1, 2)).isEqualTo(6);

        assertThat(from[0].position()).isZero();
        assertThat(from[3].position()).isZero();
        rig.await(server, Interest.READABLE);
        ByteBuffer[] into = {ByteBuffer.allocate(9), ByteBuffer.allocate(4), ByteBuffer.allocate(9)};
        assertThat(server.tryRead(into, 1, 1)).isEqualTo(4);
        assertThat(text(into)).isEqualTo("|yess|");
    }

    @Test
    void positionsAndLimitsOfEachBufferAreRespected() throws Exception {
        ByteBuffer first = ascii("xxABxx").position(2).limit(4);
        ByteBuffer second = direct("yyyCDy").position(3).limit(5);
        client.tryWrite(new ByteBuffer[] {first, second}, 0, 2);
        rig.await(server, Interest.READABLE);
        ByteBuffer[] into = {
            ByteBuffer.allocateDirect(6).position(1).limit(2),
            ByteBuffer.allocate(6).position(2).limit(5)
        };

        assertThat(server.tryRead(into, 0, 2)).isEqualTo(4);

        assertThat(into[0].clear().get(1)).isEqualTo((byte) 'A');
        assertThat(into[0].get(2)).isZero();
        assertThat(into[1].array()).containsExactly(0, 0, 'B', 'C', 'D', 0);
        assertThat(first.limit()).isEqualTo(4);
    }

    @Test
    void ofMoreThan64BuffersTheFirst64Count() throws Exception {
        ByteBuffer[] from = new ByteBuffer[100];
        for (int i = 0; i < from.length; i++) {
            from[i] = (i % 2 == 0 ? ByteBuffer.allocate(1) : ByteBuffer.allocateDirect(1)).put(0, (byte) i);
        }

        assertThat(client.tryWrite(from, 0, 100)).isEqualTo(64);
        assertThat(client.tryWrite(from, 64, 36)).isEqualTo(36);

        rig.await(server, Interest.READABLE);
        ByteBuffer[] into = new ByteBuffer[100];
        Arrays.setAll(into, i -> i % 3 == 0 ? ByteBuffer.allocate(1) : ByteBuffer.allocateDirect(1));
        int read = 0;
        while (read < 100) {
            int n = server.tryRead(into, read, 100 - read);
            assertThat(n).isLessThanOrEqualTo(64);
            if (n == Io.WOULD_BLOCK) {
                rig.await(server, Interest.READABLE);
            } else {
                read += n;
            }
        }
        for (int i = 0; i < 100; i++) {
            assertThat(into[i].get(0)).isEqualTo((byte) i);
        }
    }

    @Test
    void manyBytesOfHeapBuffersGoInSeveralCalls() throws Exception {
        byte[] content = new byte[300_000];
        new Random(4713).nextBytes(content);
        ByteBuffer[] from = {
            ByteBuffer.wrap(content, 0, 10),
            ByteBuffer.wrap(content, 10, 100_000),
            ByteBuffer.allocateDirect(100_000).put(0, content, 100_010, 100_000),
            ByteBuffer.wrap(content, 200_010, 99_990)
        };
        ByteBuffer[] into = {ByteBuffer.allocate(99_999), ByteBuffer.allocateDirect(1), ByteBuffer.allocate(200_000)};

        while (into[2].hasRemaining()) {
            int written = client.tryWrite(from, 0, from.length);
            assertThat(written).isLessThanOrEqualTo(200_000);
            assertThat(server.tryRead(into, 0, into.length)).isNotEqualTo(Io.EOF);
        }

        assertThat(from).allSatisfy(each -> assertThat(each.limit()).isEqualTo(each.position()));
        byte[] received = new byte[content.length];
        into[0].flip().get(received, 0, 99_999);
        received[99_999] = into[1].get(0);
        into[2].flip().get(received, 100_000, 200_000);
        assertThat(received).isEqualTo(content);
    }

    @Test
    void nothingToMoveIsAValueToo() throws Exception {
        ByteBuffer[] buffers = {
            ByteBuffer.allocate(0), ByteBuffer.allocateDirect(4).limit(0)
        };
        assertThat(client.tryRead(buffers, 0, 2)).isZero();
        assertThat(client.tryWrite(buffers, 0, 2)).isZero();
        assertThat(client.tryRead(buffers, 1, 0)).isZero();

        ByteBuffer[] room = {ByteBuffer.allocate(1), ByteBuffer.allocateDirect(1)};
        assertThat(client.tryRead(room, 0, 2)).isEqualTo(Io.WOULD_BLOCK);
        server.shutdownOutput();
        rig.await(client, Interest.READABLE);
        assertThat(client.tryRead(room, 0, 2)).isEqualTo(Io.EOF);
        assertThat(client.tryRead(buffers, 0, 2)).as("not even the end is seen").isZero();
    }

    @Test
    void afterAShutdownBothDirectionsSaySo() throws Exception {
        client.shutdownInput();
        client.shutdownOutput();
        ByteBuffer[] some = {ByteBuffer.allocate(1)};

        assertThat(client.tryRead(some, 0, 1)).isEqualTo(Io.EOF);
        assertThatThrownBy(() -> client.tryWrite(some, 0, 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("shutdownOutput()");
        client.close();
        assertThatThrownBy(() -> client.tryRead(some, 0, 1)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> client.tryWrite(some, 0, 1)).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void aBadArgumentIsRefusedBeforeAByteMoves() throws Exception {
        client.tryWrite(ascii("safe"));
        rig.await(server, Interest.READABLE);
        ByteBuffer[] into = {ByteBuffer.allocate(2), ByteBuffer.allocate(2).asReadOnlyBuffer()};
        Arena arena = Arena.ofShared();
        ByteBuffer[] freed = {ByteBuffer.allocate(2), arena.allocate(2).asByteBuffer()};
        arena.close();

        assertThatThrownBy(() -> server.tryRead(into, 0, 2)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> server.tryRead(into, 1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> server.tryWrite(into, -1, 1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> server.tryRead(freed, 0, 2)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> server.tryWrite(freed, 0, 2)).isInstanceOf(IllegalStateException.class);

        ByteBuffer all = ByteBuffer.allocate(4);
        rig.readFully(server, all);
        assertThat(all.flip()).isEqualTo(ascii("safe"));
    }

    @Test
    @DisplayName("mill-8: a short vectored read drains, a full one does not")
    void aShortReadIsDrainedAndAFullOneIsNot() throws Exception {
        rig.poll.register(server, 7, Interest.READABLE, Trigger.EDGE);
        client.tryWrite(ascii("abcdef"));
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        assertThat(server.tryRead(room(2, 1), 0, 2)).as("full").isEqualTo(3);
        assertThat(rig.reports(Duration.ZERO)).isFalse();

        assertThat(server.tryRead(room(2, 8), 0, 2)).as("short").isEqualTo(3);
        client.tryWrite(ascii("g"));

        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
    }

    private static ByteBuffer[] room(int first, int second) {
        return new ByteBuffer[] {ByteBuffer.allocate(first), ByteBuffer.allocateDirect(second)};
    }

    private static ByteBuffer direct(String text) {
        return ByteBuffer.allocateDirect(text.length()).put(ascii(text)).flip();
    }

    private ByteBuffer arena(String text) {
        return shared.allocate(text.length()).asByteBuffer().put(ascii(text)).flip();
    }

    /** What was read into each, between bars. */
    private static String text(ByteBuffer[] buffers) {
        StringBuilder all = new StringBuilder();
        for (int b = 0; b < buffers.length; b++) {
            all.append(b == 0 ? "" : "|");
            for (int i = 0; i < buffers[b].position(); i++) {
                all.append((char) buffers[b].get(i));
            }
        }
        return all.toString();
    }
}
