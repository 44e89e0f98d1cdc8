package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Rig.Backend.class)
class PipeTest {
    @Parameter
    Rig.Backend backend;

    private Rig rig;

    @BeforeEach
    void open() {
        rig = backend.rig();
    }

    @AfterEach
    void close() {
        if (rig != null) {
            rig.close();
        }
    }

    @Test
    void whatGoesInComesOut() throws Exception {
        Pipe pipe = rig.pipe();
        assertThat(pipe.source().tryRead(ByteBuffer.allocate(1))).isEqualTo(Io.WOULD_BLOCK);
        assertThat(pipe.sink().tryWrite(TcpStreamTest.ascii("water"))).isEqualTo(5);
        rig.await(pipe.source(), Interest.READABLE);
        ByteBuffer into = ByteBuffer.allocateDirect(16);

        assertThat(pipe.source().tryRead(into)).isEqualTo(5);

        assertThat(into.flip()).isEqualTo(TcpStreamTest.ascii("water"));
    }

    @Test
    void aFullOneWouldBlockUntilItIsRead() throws Exception {
        Pipe pipe = rig.pipe();
        ByteBuffer chunk = ByteBuffer.allocateDirect(4096);
        long held = 0;
        for (int written = pipe.sink().tryWrite(chunk.clear());
                written > 0;
                written = pipe.sink().tryWrite(chunk.clear())) {
            held += written;
        }
        assertThat(pipe.sink().tryWrite(chunk.clear())).isEqualTo(Io.WOULD_BLOCK);

        ByteBuffer sink = ByteBuffer.allocate(1 << 20);
        long read = 0;
        while (read < held) {
            rig.await(pipe.source(), Interest.READABLE);
            read += pipe.source().tryRead(sink.clear());
        }

        rig.await(pipe.sink(), Interest.WRITABLE);
        assertThat(pipe.sink().tryWrite(chunk.clear())).isPositive();
    }

    @Test
    void whenTheWriterIsClosedTheReaderComesToTheEnd() throws Exception {
        Pipe pipe = rig.pipe();
        pipe.sink().tryWrite(TcpStreamTest.ascii("x"));
        pipe.sink().close();
        rig.await(pipe.source(), Interest.READABLE);

        assertThat(pipe.source().tryRead(ByteBuffer.allocate(8))).isEqualTo(1);
        assertThat(pipe.source().tryRead(ByteBuffer.allocate(8))).isEqualTo(Io.EOF);
        assertThat(pipe.source().tryRead(ByteBuffer.allocate(0))).isZero();
    }

    @Test
    void whenTheReaderIsClosedAWriteFails() throws Exception {
        Pipe pipe = rig.pipe();
        pipe.source().close();

        assertThatThrownBy(() -> pipe.sink().tryWrite(TcpStreamTest.ascii("x")))
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(ClosedChannelException.class)
                .hasMessageMatching(
                        backend == Rig.Backend.NIO
                                ? "(?i)broken pipe"
                                : "write on fd \\d+ failed: EPIPE \\(the other end is closed\\)");
    }

    @Test
    void aClosedEndSaysSo() throws Exception {
        Pipe pipe = rig.pipe();
        assertThat(pipe.toString()).contains("Pipe.Writer", "Pipe.Reader");
        pipe.close();
        pipe.close();

        assertThatThrownBy(() -> pipe.source().tryRead(ByteBuffer.allocate(1)))
                .isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> pipe.sink().tryWrite(ByteBuffer.allocate(1)))
                .isInstanceOf(ClosedChannelException.class);
    }
}
