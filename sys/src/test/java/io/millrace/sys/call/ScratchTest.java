package io.millrace.sys.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class ScratchTest {
    @Test
    void bytesGoThroughItAndPositionsStay() {
        ByteBuffer from = ByteBuffer.wrap(new byte[] {1, 2, 3, 4, 5}).asReadOnlyBuffer();
        ByteBuffer to = ByteBuffer.allocate(8);
        Scratch scratch = Scratch.borrow(5);

        scratch.take(from, 1, 3);
        scratch.give(to, 4, 3);

        assertThat(Native.MEMORY.get(ValueLayout.JAVA_BYTE, scratch.address())).isEqualTo((byte) 2);
        assertThat(to.array()).containsExactly(0, 0, 0, 0, 2, 3, 4, 0);
        assertThat(from.position()).isZero();
        assertThat(to.position()).isZero();
    }

    @Test
    void itGrowsAndNeverShrinksAndHasABound() {
        Scratch large = Scratch.borrow(Integer.MAX_VALUE);

        large.take(ByteBuffer.allocate(Scratch.MAX_BYTES), 0, Scratch.MAX_BYTES);

        assertThat(Scratch.borrow(1)).isSameAs(large);
        assertThatThrownBy(() -> large.take(ByteBuffer.allocate(100_000), 0, Scratch.MAX_BYTES + 1))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void eachThreadHasItsOwn() throws Exception {
        Scratch mine = Scratch.borrow(1);
        Scratch[] others = new Scratch[1];
        Thread other = Thread.ofPlatform().start(() -> others[0] = Scratch.borrow(1));
        other.join();

        assertThat(others[0].address()).isNotEqualTo(mine.address());
    }

    @Test
    void memoryThatIsFreedIsNotTouched() {
        Arena arena = Arena.ofShared();
        ByteBuffer gone = arena.allocate(8).asByteBuffer();
        arena.close();

        assertThatThrownBy(() -> Scratch.borrow(8).take(gone, 0, 8)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aVirtualThreadBorrowsAndGivesBack() throws Exception {
        Scratch[] seen = new Scratch[2];
        Thread.ofVirtual()
                .start(() -> {
                    try (Scratch one = Scratch.borrow(10_000);
                            Scratch other = Scratch.borrow(10_000)) {
                        assertThat(other.address()).isNotEqualTo(one.address());
                        seen[0] = one;
                        seen[1] = other;
                    }
                })
                .join();
        Scratch[] later = new Scratch[1];
        Thread.ofVirtual()
                .start(() -> {
                    try (Scratch one = Scratch.borrow(10_000)) {
                        later[0] = one;
                    }
                })
                .join();

        assertThat(later[0]).isIn((Object[]) seen);
    }
}
