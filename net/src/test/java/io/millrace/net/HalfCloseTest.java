package io.millrace.net;

import static io.millrace.net.TcpStreamTest.ascii;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** How a stream ends, of either kind; and that many bytes and few get through it. */
@ParameterizedClass
@MethodSource("io.millrace.net.Streams#onEveryBackend")
class HalfCloseTest {
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
    @DisplayName("mill-11: after a half close the other direction goes on, whichever end began")
    void bothEndsMayCloseTheirOutputOneAfterTheOther() throws Exception {
        rig.writeFully(client, ascii("request"));
        client.shutdownOutput();
        ByteBuffer request = ByteBuffer.allocate(7);
        rig.readFully(server, request);
        assertThat(rig.read(server, ByteBuffer.allocate(1))).isEqualTo(Io.EOF);

        rig.writeFully(server, ascii("answer"));
        server.shutdownOutput();
        ByteBuffer answer = ByteBuffer.allocate(6);
        rig.readFully(client, answer);

        assertThat(answer.flip()).isEqualTo(ascii("answer"));
        assertThat(rig.read(client, ByteBuffer.allocate(1))).isEqualTo(Io.EOF);
        assertThat(server.tryRead(ByteBuffer.allocate(1))).as("the end stays").isEqualTo(Io.EOF);
        assertThatThrownBy(() -> server.tryWrite(ascii("more")))
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(ClosedChannelException.class)
                .hasMessageContaining("shutdownOutput()");
    }

    @Test
    void aCloseIsTheEndForThePeer() throws Exception {
        rig.writeFully(client, ascii("x"));
        client.close();

        rig.readFully(server, ByteBuffer.allocate(1));
        assertThat(rig.read(server, ByteBuffer.allocate(1))).isEqualTo(Io.EOF);
    }

    @Test
    void toAPeerThatIsGoneAWriteFailsWithoutASignal() throws Exception {
        client.close();
        rig.await(server, Interest.READABLE);

        assertThatThrownBy(() -> {
                    for (int i = 0; i < 100; i++) {
                        server.tryWrite(ascii("x"));
                        rig.await(server, Interest.READABLE);
                    }
                })
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(ClosedChannelException.class);
    }

    @Test
    @DisplayName("mill-11: a half close of a connection that the peer has reset is no error")
    void halfCloseAfterAReset() throws Exception {
        rig.writeFully(client, ascii("never read"));
        rig.await(server, Interest.READABLE);
        server.close();
        rig.await(client, Interest.READABLE);

        client.shutdownOutput();
        client.shutdownInput();
    }

    @Test
    void theEndIsAnEdgeOnce() throws Exception {
        rig.poll.register(server, 7, Interest.READABLE, Trigger.EDGE);
        client.shutdownOutput();
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        assertThat(server.tryRead(ByteBuffer.allocate(8))).isEqualTo(Io.EOF);

        assertThat(rig.reports(Duration.ZERO)).isFalse();
    }

    @Test
    @DisplayName("mill-8: 64 MiB through 8 KiB buffers arrive whole and in order")
    void sixtyFourMebibytesThroughSmallBuffers() throws Exception {
        long total = 64L << 20;
        byte[] pattern = new byte[8192];
        new Random(4715).nextBytes(pattern);
        ByteBuffer from = ByteBuffer.allocateDirect(pattern.length);
        ByteBuffer into = ByteBuffer.allocate(pattern.length);
        ByteBuffer expected = ByteBuffer.wrap(pattern);
        long sent = 0;
        long got = 0;
        int refused = 0;
        while (got < total) {
            while (sent < total) {
                int at = (int) (sent % pattern.length);
                from.clear().put(0, pattern).position(at);
                int written = client.tryWrite(from);
                if (written == Io.WOULD_BLOCK) {
                    refused++;
                    break;
                }
                sent += written;
            }
            for (int read = rig.read(server, into.clear()); read > 0; read = server.tryRead(into.clear())) {
                int at = (int) (got % pattern.length);
                int untilWrap = Math.min(read, pattern.length - at);
                assertThat(into.slice(0, untilWrap)).isEqualTo(expected.slice(at, untilWrap));
                assertThat(into.slice(untilWrap, read - untilWrap)).isEqualTo(expected.slice(0, read - untilWrap));
                got += read;
            }
        }

        assertThat(refused).as("64 MiB do not fit at once").isPositive();
    }

    @Test
    void singleBytesArriveInOrder() throws Exception {
        ByteBuffer one = ByteBuffer.allocate(1);
        int sent = 0;
        for (int got = 0; got < 2000; got++) {
            // Until it would block: a Unix socket holds a few hundred writes, however small.
            while (sent < 2000 && client.tryWrite(one.clear().put(0, (byte) sent)) == 1) {
                sent++;
            }
            rig.readFully(server, one.clear());
            assertThat(one.get(0)).isEqualTo((byte) got);
        }
    }

    @Test
    void bufferSizesAreWhatTheKernelSays() throws Exception {
        client.setSendBuffer(50_000);
        client.setReceiveBuffer(60_000);

        assertThat(client.sendBuffer()).isBetween(50_000, 100_000);
        assertThat(client.receiveBuffer()).isBetween(60_000, 120_000);
        assertThatThrownBy(() -> client.setSendBuffer(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.setReceiveBuffer(-1)).isInstanceOf(IllegalArgumentException.class);
        client.close();
        assertThatThrownBy(() -> client.sendBuffer()).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> client.setSendBuffer(1)).isInstanceOf(ClosedChannelException.class);
    }
}
