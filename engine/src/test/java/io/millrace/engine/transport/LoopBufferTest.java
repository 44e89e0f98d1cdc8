package io.millrace.engine.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LoopBufferTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 8_192, 262_144})
    @DisplayName("the buffer begins at a page, and has the room that was asked for and no more")
    void beginsAtAPage(int size) {
        LoopBuffer loop = new LoopBuffer();
        ByteBuffer buffer = loop.cleared(size);
        assertThat(buffer.capacity()).isEqualTo(size);
        assertThat(buffer.remaining()).isEqualTo(size);
        assertThat(MemorySegment.ofBuffer(buffer).address() % 4096).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 100})
    @DisplayName("a smaller size is a part of the same buffer")
    void onlyGrows(int smaller) {
        LoopBuffer loop = new LoopBuffer();
        ByteBuffer buffer = loop.cleared(101);
        assertThat(loop.cleared(smaller)).isSameAs(buffer);
        assertThat(buffer.remaining()).isEqualTo(smaller);
    }
}
