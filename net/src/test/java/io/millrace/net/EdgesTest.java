package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;

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
    void close() throws Exception {
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

    @Test
    void aFull64KibOfALargerHeapBufferIsNotDrained() throws Exception {
        rig.writeFully(client, ByteBuffer.allocate(100_000));
        // All of it has arrived as soon as a large direct read would get it; peek at nothing, only wait.
        ByteBuffer first = ByteBuffer.allocateDirect(20_000);
        rig.readFully(server, first);
        watchReads();
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();

        int read = server.tryRead(ByteBuffer.allocate(1 << 20));

        if (read == 64 << 10) {
            assertThat(rig.reports(NOW)).isFalse();
        }
        rig.poll.deregister(server);
        rig.readFully(server, ByteBuffer.allocate(80_000 - read));
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
