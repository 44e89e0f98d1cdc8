package io.millrace.net;

import static io.millrace.net.TcpStreamTest.ascii;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Memory segments of every kind, on both kinds of stream. */
@ParameterizedClass
@MethodSource("io.millrace.net.Streams#onEveryBackend")
class SegmentsTest {
    @Parameter(0)
    Rig.Backend backend;

    @Parameter(1)
    Streams kind;

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
    }

    @Test
    void everyKindOfSegmentMovesItsOwnBytes() throws Exception {
        try (Arena shared = Arena.ofShared();
                Arena confined = Arena.ofConfined()) {
            MemorySegment[] kinds = {
                MemorySegment.ofArray(new byte[16]),
                MemorySegment.ofArray(new long[2]),
                MemorySegment.ofArray(new byte[40]).asSlice(7, 16),
                MemorySegment.ofBuffer(ByteBuffer.allocate(16)),
                Arena.global().allocate(16),
                Arena.ofAuto().allocate(64).asSlice(3, 16),
                shared.allocate(16),
                confined.allocate(16)
            };
            int round = 0;
            for (MemorySegment from : kinds) {
                for (int target = 0; target < kinds.length; target++) {
                    MemorySegment into = kinds[(target + round) % kinds.length];
                    int length = 1 + round++ % 16;
                    for (int i = 0; i < length; i++) {
                        from.set(ValueLayout.JAVA_BYTE, i, (byte) (round + i));
                    }
                    assertThat(client.tryWrite(from.asSlice(0, length))).isEqualTo(length);
                    rig.await(server, Interest.READABLE);
                    into.fill((byte) -1);

                    assertThat(server.tryRead(into)).isEqualTo(length);

                    for (int i = 0; i < 16; i++) {
                        assertThat(into.get(ValueLayout.JAVA_BYTE, i))
                                .as("%s to %s, index %d", from, into, i)
                                .isEqualTo(i < length ? (byte) (round + i) : -1);
                    }
                }
            }
        }
    }

    @Test
    void aLargeOneOfTheHeapGoesInPieces() throws Exception {
        byte[] content = new byte[200_000];
        new Random(4714).nextBytes(content);
        byte[] received = new byte[content.length];
        int sent = 0;
        int got = 0;
        while (got < content.length) {
            if (sent < content.length) {
                int written = client.tryWrite(MemorySegment.ofArray(content).asSlice(sent));
                assertThat(written).isLessThanOrEqualTo(64 << 10);
                sent += Math.max(written, 0);
            }
            int read = server.tryRead(MemorySegment.ofArray(received).asSlice(got));
            got += Math.max(read, 0);
        }

        assertThat(received).isEqualTo(content);
    }

    @Test
    void nothingToMoveIsAValue() throws Exception {
        MemorySegment room = Arena.ofAuto().allocate(4);
        assertThat(client.tryRead(room)).isEqualTo(Io.WOULD_BLOCK);
        assertThat(client.tryRead(MemorySegment.NULL)).isZero();
        assertThat(client.tryWrite(MemorySegment.ofArray(new byte[0]))).isZero();
        server.shutdownOutput();
        rig.await(client, Interest.READABLE);

        assertThat(client.tryRead(room)).isEqualTo(Io.EOF);
        assertThat(client.tryRead(MemorySegment.ofArray(new byte[4]))).isEqualTo(Io.EOF);
        client.close();
        assertThatThrownBy(() -> client.tryRead(room)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> client.tryWrite(room)).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void aSegmentThatMayNotBeUsedIsRefusedAndNoByteIsLost() throws Exception {
        client.tryWrite(ascii("safe"));
        rig.await(server, Interest.READABLE);
        Arena arena = Arena.ofShared();
        MemorySegment freed = arena.allocate(4);
        arena.close();
        AtomicReference<MemorySegment> confined = new AtomicReference<>();
        Thread other =
                Thread.ofPlatform().start(() -> confined.set(Arena.ofConfined().allocate(4)));
        other.join();

        assertThatThrownBy(() -> server.tryRead(freed)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> server.tryWrite(freed)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> server.tryRead(confined.get())).isInstanceOf(WrongThreadException.class);
        assertThatThrownBy(() -> server.tryWrite(confined.get())).isInstanceOf(WrongThreadException.class);
        assertThatThrownBy(() -> server.tryRead(Arena.ofAuto().allocate(4).asReadOnly()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("read-only");

        ByteBuffer all = ByteBuffer.allocate(4);
        rig.readFully(server, all);
        assertThat(all.flip()).isEqualTo(ascii("safe"));
        MemorySegment readOnly =
                MemorySegment.ofArray("text".getBytes(US_ASCII)).asReadOnly();
        assertThat(client.tryWrite(readOnly)).isEqualTo(4);
    }

    /** Whoever closes the arena either waits for the call, by being refused, or the call is; freed memory is never touched. */
    @Test
    void anArenaCannotBeClosedUnderACall() throws Exception {
        for (int round = 0; round < 200; round++) {
            Arena arena = Arena.ofShared();
            MemorySegment segment = arena.allocate(4096);
            AtomicReference<Throwable> failure = new AtomicReference<>();
            Thread reader = Thread.ofPlatform().start(() -> {
                try {
                    while (server.tryRead(segment) == Io.WOULD_BLOCK) {
                        Thread.onSpinWait();
                    }
                    failure.set(new AssertionError("nobody sent anything"));
                } catch (IllegalStateException expected) {
                    assertThat(arena.scope().isAlive()).isFalse();
                } catch (IOException | RuntimeException e) {
                    failure.set(e);
                }
            });
            boolean closed = false;
            while (!closed) {
                try {
                    arena.close();
                    closed = true;
                } catch (IllegalStateException underACall) {
                    Thread.onSpinWait();
                }
            }
            reader.join();
            assertThat(failure.get()).isNull();
        }
    }
}
