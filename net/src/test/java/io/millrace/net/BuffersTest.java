package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Every kind of buffer, mixed on one stream: the remembered address of one must never serve another. */
@ParameterizedClass
@EnumSource(Rig.Backend.class)
class BuffersTest {
    @Parameter
    Rig.Backend backend;

    private Rig rig;
    private final Arena shared = Arena.ofShared();

    @BeforeEach
    void open() {
        rig = backend.rig();
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
        shared.close();
    }

    @Test
    void everyKindOfBufferMovesItsOwnBytes() throws Exception {
        Rig.Ends ends = rig.connection();
        List<ByteBuffer> sending = kinds();
        List<ByteBuffer> receiving = kinds();
        int round = 0;
        for (ByteBuffer from : sending) {
            for (ByteBuffer into : receiving) {
                round++;
                int position = round % 5;
                int length = 1 + round % 7;
                from.clear().position(position).limit(position + length);
                for (int i = 0; i < length; i++) {
                    from.put(position + i, (byte) (round + i));
                }
                rig.writeFully(ends.client(), from);
                assertThat(from.position()).isEqualTo(position + length);

                into.clear();
                for (int i = 0; i < into.capacity(); i++) {
                    into.put(i, (byte) -1);
                }
                into.position(position).limit(position + length);
                rig.readFully(ends.server(), into);

                for (int i = 0; i < into.capacity(); i++) {
                    byte expected = i < position || i >= position + length ? -1 : (byte) (round + i - position);
                    assertThat(into.get(into.clear().position() + i))
                            .as("%s to %s, index %d", from, into, i)
                            .isEqualTo(expected);
                }
            }
        }
    }

    @Test
    void aReadOnlyBufferCanBeWrittenFromButNotReadInto() throws Exception {
        Rig.Ends ends = rig.connection();
        for (ByteBuffer each : kinds()) {
            each.clear().limit(4);
            assertThat(ends.client().tryWrite(each.asReadOnlyBuffer())).isEqualTo(4);
            assertThatThrownBy(() -> ends.server().tryRead(each.asReadOnlyBuffer()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("read-only");
        }
    }

    @Test
    void aBufferWhoseMemoryIsFreedIsRefusedAndNoByteIsLost() throws Exception {
        Rig.Ends ends = rig.connection();
        Arena arena = Arena.ofShared();
        ByteBuffer gone = arena.allocate(16).asByteBuffer();
        rig.writeFully(ends.client(), TcpStreamTest.ascii("safe"));
        gone.limit(1);
        rig.readFully(ends.server(), gone);
        arena.close();
        gone.clear();

        assertThatThrownBy(() -> ends.server().tryRead(gone)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> ends.client().tryWrite(gone)).isInstanceOf(IllegalStateException.class);

        ByteBuffer rest = ByteBuffer.allocate(3);
        rig.readFully(ends.server(), rest);
        assertThat(rest.flip()).isEqualTo(TcpStreamTest.ascii("afe"));
    }

    private List<ByteBuffer> kinds() {
        List<ByteBuffer> kinds = new ArrayList<>();
        kinds.add(ByteBuffer.allocate(32));
        kinds.add(ByteBuffer.allocate(64).slice(7, 32));
        kinds.add(ByteBuffer.allocateDirect(32));
        ByteBuffer parent = ByteBuffer.allocateDirect(128);
        kinds.add(parent.slice(3, 32));
        kinds.add(parent.slice(50, 32));
        kinds.add(parent.duplicate().slice(90, 32));
        kinds.add(Arena.ofAuto().allocate(32).asByteBuffer());
        kinds.add(shared.allocate(32).asByteBuffer());
        return kinds;
    }
}
