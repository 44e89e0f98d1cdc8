package io.millrace.sys.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class BufferAddressTest {
    private final ByteBuffer direct = ByteBuffer.allocateDirect(64);

    @Test
    void theSameBufferIsRememberedWhateverItsPosition() {
        BufferAddress first = BufferAddress.of(null, direct);
        direct.position(17).limit(40);

        assertThat(BufferAddress.of(first, direct)).isSameAs(first);
        assertThat(BufferAddress.of(first, ByteBuffer.allocateDirect(64))).isNotSameAs(first);
    }

    @Test
    void theAddressIsThatOfTheIndex() {
        direct.put(5, (byte) 99);
        direct.position(3);

        BufferAddress address = BufferAddress.of(null, direct);

        assertThat(address.isLasting()).isTrue();
        assertThat(byteAt(address.at(5))).isEqualTo((byte) 99);
    }

    @Test
    void aSliceHasAnAddressOfItsOwn() {
        BufferAddress whole = BufferAddress.of(null, direct);
        BufferAddress slice = BufferAddress.of(whole, direct.slice(8, 16));
        BufferAddress readOnly = BufferAddress.of(whole, direct.asReadOnlyBuffer());

        assertThat(slice.at(0)).isEqualTo(whole.at(8));
        assertThat(readOnly.at(0)).isEqualTo(whole.at(0));
    }

    @Test
    void memoryThatCannotBeFreedIsLasting() {
        assertThat(lasting(Arena.ofAuto().allocate(8).asByteBuffer())).isTrue();
        assertThat(lasting(Arena.global().allocate(8).asByteBuffer())).isTrue();
    }

    @Test
    void memoryThatSomebodyMayFreeIsNot() {
        try (Arena shared = Arena.ofShared();
                Arena confined = Arena.ofConfined()) {
            assertThat(lasting(shared.allocate(8).asByteBuffer())).isFalse();
            assertThat(lasting(shared.allocate(8).asByteBuffer().slice(1, 2))).isFalse();
            assertThat(lasting(confined.allocate(8).asByteBuffer())).isFalse();
        }
        assertThat(lasting(ByteBuffer.allocate(8))).isFalse();
    }

    private static boolean lasting(ByteBuffer buffer) {
        return BufferAddress.of(null, buffer).isLasting();
    }

    private static byte byteAt(long address) {
        return Native.MEMORY.get(ValueLayout.JAVA_BYTE, address);
    }
}
