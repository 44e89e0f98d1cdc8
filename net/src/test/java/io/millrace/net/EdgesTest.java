package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What the sources tell a poll that emulates edges; epoll, which has them, is the model. */
@ParameterizedClass
@EnumSource(Rig.Backend.class)
class EdgesTest {
    private static final Duration NOW = Duration.ZERO;

    @Parameter
    Rig.Backend backend;

    private Rig rig;
    private TcpStream client;
    private TcpStream server;

    @BeforeEach
    void open() throws Exception {
        rig = backend.rig();
        Rig.Ends ends = rig.connection();
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
    void whatIsNotDrainedIsNotReportedAgain() throws Exception {
        watchReads();
        client.tryWrite(TcpStreamTest.ascii("abcdef"));
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();

        assertThat(server.tryRead(ByteBuffer.allocate(3))).as("a full buffer").isEqualTo(3);

        assertThat(rig.reports(NOW)).isFalse();
    }

    @Test
    void afterWouldBlockNewBytesAreAnEdge() throws Exception {
        watchReads();
        client.tryWrite(TcpStreamTest.ascii("abc"));
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        assertThat(server.tryRead(ByteBuffer.allocate(3))).isEqualTo(3);
        assertThat(server.tryRead(ByteBuffer.allocate(3))).isEqualTo(TcpStream.WOULD_BLOCK);
        assertThat(rig.reports(NOW)).isFalse();

        client.tryWrite(TcpStreamTest.ascii("d"));

        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
    }

    @Test
    void afterAShortReadNewBytesAreAnEdge() throws Exception {
        watchReads();
        client.tryWrite(TcpStreamTest.ascii("abc"));
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        assertThat(server.tryRead(ByteBuffer.allocate(8))).isEqualTo(3);
        assertThat(rig.reports(NOW)).isFalse();

        client.tryWrite(TcpStreamTest.ascii("d"));

        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
    }

    /**
     * One call moves at most 64 KiB of a heap buffer, so such a result says nothing of what is left. A pipe holds just that much, so that
     * nothing else can come meanwhile.
     */
    @Test
    void aFull64KibOfALargerHeapBufferIsNotShort() throws Exception {
        Pipe pipe = rig.pipe();
        ByteBuffer chunk = ByteBuffer.allocateDirect(4096);
        while (pipe.sink().tryWrite(chunk.clear()) > 0) {
            assertThat(chunk.hasRemaining()).isFalse();
        }
        rig.poll.register(pipe.source(), 7, Interest.READABLE, Trigger.EDGE);
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        int read = pipe.source().tryRead(ByteBuffer.allocate(1 << 20));
        assumeTrue(read == 64 << 10, () -> "pipes hold " + read + " bytes here");

        pipe.sink().tryWrite(TcpStreamTest.ascii("x"));
        boolean newBytesAreAnEdge = backend == Rig.Backend.EPOLL;
        assertThat(rig.reports(NOW)).isEqualTo(newBytesAreAnEdge);
        assertThat(pipe.source().tryRead(ByteBuffer.allocate(1 << 20)))
                .as("short")
                .isEqualTo(1);

        pipe.sink().tryWrite(TcpStreamTest.ascii("y"));
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
    }

    @Test
    void atTheEndOfTheStreamAnEdgeIsReportedOnce() throws Exception {
        watchReads();
        client.shutdownOutput();
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();

        assertThat(server.tryRead(ByteBuffer.allocate(8))).isEqualTo(TcpStream.EOF);

        assertThat(rig.reports(NOW)).isFalse();
        assertThat(rig.reports(NOW)).isFalse();
    }

    @Test
    void bytesAndTheEndAtOnceAreBothSeenByWhoReadsOn() throws Exception {
        watchReads();
        client.tryWrite(TcpStreamTest.ascii("abc"));
        client.shutdownOutput();
        ByteBuffer into = ByteBuffer.allocate(8);
        int read = 0;
        while (read != TcpStream.EOF) {
            if (read == TcpStream.WOULD_BLOCK) {
                assertThat(rig.reports(Rig.DEADLINE)).isTrue();
            }
            read = server.tryRead(into);
        }

        assertThat(into.flip()).isEqualTo(TcpStreamTest.ascii("abc"));
    }

    @Test
    void afterAWriteWouldBlockRoomIsAnEdge() throws Exception {
        rig.poll.register(client, 7, Interest.WRITABLE, Trigger.EDGE);
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        ByteBuffer chunk = ByteBuffer.allocateDirect(1 << 20);
        long sent = 0;
        for (int n = client.tryWrite(chunk.clear()); n != TcpStream.WOULD_BLOCK; n = client.tryWrite(chunk.clear())) {
            sent += n;
        }

        long read = 0;
        ByteBuffer sink = ByteBuffer.allocateDirect(1 << 20);
        while (read < sent) {
            int n = server.tryRead(sink.clear());
            if (n > 0) {
                read += n;
            } else {
                Thread.onSpinWait();
            }
        }

        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        assertThat(client.tryWrite(chunk.clear())).isPositive();
    }

    private void watchReads() {
        rig.poll.register(server, 7, Interest.READABLE, Trigger.EDGE);
    }
}
