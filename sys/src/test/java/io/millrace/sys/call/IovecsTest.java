package io.millrace.sys.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** How buffers become an array of addresses and lengths. What a call makes of it is played by hand. */
@EnabledOnOs({OS.LINUX, OS.MAC, OS.FREEBSD})
class IovecsTest {
    private final Iovecs iovecs = Iovecs.borrow();

    @Test
    void aDirectBufferIsPassedAsItIs() {
        ByteBuffer direct = ByteBuffer.allocateDirect(64).position(7).limit(20);

        assertThat(iovecs.forWriting(new ByteBuffer[] {direct}, 0, 1)).isEqualTo(13);

        assertThat(iovecs.count()).isEqualTo(1);
        assertThat(address(0)).isEqualTo(BufferAddress.of(null, direct).at(7));
        assertThat(bytes(0)).isEqualTo(13);
    }

    @Test
    void bytesWithoutALastingAddressLieSideBySideInTheScratch() {
        try (Arena arena = Arena.ofConfined()) {
            ByteBuffer heap = ByteBuffer.wrap(new byte[] {1, 2, 3});
            ByteBuffer freeable =
                    arena.allocate(2).asByteBuffer().put(0, (byte) 4).put(1, (byte) 5);
            ByteBuffer[] buffers = {heap, ByteBuffer.allocateDirect(10), freeable};

            assertThat(iovecs.forWriting(buffers, 0, 3)).isEqualTo(15);

            long scratch = Scratch.borrow(1).address();
            assertThat(address(0)).isEqualTo(scratch);
            assertThat(address(2)).isEqualTo(scratch + 3);
            assertThat(Posix.getInt(scratch + 1) & 0xffffff).isEqualTo(littleEndian(2, 3, 4));
        }
    }

    @Test
    void whatWasReadIsGivenToTheBuffersInTheirOrder() {
        ByteBuffer[] buffers = {ByteBuffer.allocate(2), ByteBuffer.allocate(0), ByteBuffer.allocate(3)};
        assertThat(iovecs.forReading(buffers, 0, 3)).isEqualTo(5);
        assertThat(iovecs.count()).as("empty ones take no place").isEqualTo(2);
        for (int i = 0; i < 5; i++) {
            Native.MEMORY.set(java.lang.foreign.ValueLayout.JAVA_BYTE, address(0) + i, (byte) (10 + i));
        }

        iovecs.settleRead(4);

        assertThat(buffers[0].array()).containsExactly(10, 11);
        assertThat(buffers[2].array()).containsExactly(12, 13, 0);
        assertThat(buffers[0].position()).isEqualTo(2);
        assertThat(buffers[2].position()).isEqualTo(2);
    }

    @Test
    void aShortWriteMovesThePositionsThatItReached() {
        ByteBuffer[] buffers = {ByteBuffer.allocateDirect(4), ByteBuffer.allocate(4), ByteBuffer.allocateDirect(4)};
        iovecs.forWriting(buffers, 0, 3);

        iovecs.settleWrite(5);

        assertThat(buffers).extracting(ByteBuffer::position).containsExactly(4, 1, 0);
    }

    @Test
    void theScratchBoundsWhatIsCopiedAndNothingOvertakes() {
        ByteBuffer[] buffers = {ByteBuffer.allocate(60_000), ByteBuffer.allocate(60_000), ByteBuffer.allocateDirect(10)
        };

        assertThat(iovecs.forWriting(buffers, 0, 3)).isEqualTo(Scratch.MAX_BYTES);

        assertThat(iovecs.count()).as("the direct one must wait").isEqualTo(2);
    }

    @Test
    void theFirst64Count() {
        ByteBuffer[] buffers = new ByteBuffer[70];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = ByteBuffer.allocateDirect(1 + i);
        }

        iovecs.forReading(buffers, 3, 67);

        assertThat(iovecs.count()).isEqualTo(64);
        assertThat(bytes(0)).isEqualTo(4);
        assertThat(bytes(63)).isEqualTo(67);
    }

    @Test
    void aRememberedAddressIsThatOfItsBuffer() {
        ByteBuffer[] buffers = new ByteBuffer[100];
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = ByteBuffer.allocateDirect(8);
        }
        // More buffers than are remembered, in windows that move by different steps.
        for (int step = 1; step < 8; step++) {
            for (int from = 0; from + 9 < buffers.length; from += step) {
                iovecs.forWriting(buffers, from, 9);
                for (int i = 0; i < 9; i++) {
                    assertThat(address(i))
                            .isEqualTo(BufferAddress.of(null, buffers[from + i]).at(0));
                }
            }
        }
    }

    @Test
    void theBuffersOfACallAreHeldUntilItIsOver() {
        ByteBuffer[] buffers = {ByteBuffer.allocate(2), ByteBuffer.allocate(2)};
        ByteBuffer first = buffers[0];
        iovecs.forReading(buffers, 0, 2);
        buffers[0] = ByteBuffer.allocate(1); // by another thread, though it must not

        iovecs.settleRead(3);
        iovecs.close();

        assertThat(first.position()).isEqualTo(2);
        assertThat(buffers[0].position()).isZero();
        assertThat(buffers[1].position()).isEqualTo(1);
        assertThat(iovecs.count()).isZero();
    }

    @Test
    void whateverAnotherThreadDoesToABufferNoByteOutsideOfItIsNamed() throws Exception {
        ByteBuffer moving = ByteBuffer.allocateDirect(64);
        long base = BufferAddress.of(null, moving).at(0);
        AtomicBoolean over = new AtomicBoolean();
        Thread mover = Thread.ofPlatform().start(() -> {
            for (int i = 0; !over.get(); i++) {
                moving.clear().position(i % 60).limit(60 + i % 4);
            }
        });
        ByteBuffer[] buffers = {moving};
        for (int i = 0; i < 200_000; i++) {
            if (iovecs.forWriting(buffers, 0, 1) > 0) {
                assertThat(address(0)).isBetween(base, base + 63);
                assertThat(address(0) + bytes(0)).isBetween(base + 1, base + 64);
            }
            iovecs.close();
        }
        over.set(true);
        mover.join();
    }

    private long address(int entry) {
        return Posix.getLong(iovecs.array() + (long) entry * Msghdr.IOVEC_BYTES);
    }

    private long bytes(int entry) {
        return Posix.getLong(iovecs.array() + (long) entry * Msghdr.IOVEC_BYTES + 8);
    }

    private static int littleEndian(int first, int second, int third) {
        return first | second << 8 | third << 16;
    }
}
