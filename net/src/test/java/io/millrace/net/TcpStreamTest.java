package io.millrace.net;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Rig.Backend.class)
class TcpStreamTest {
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
    void whatIsSentComesBack() throws Exception {
        Rig.Ends ends = rig.connection();
        rig.writeFully(ends.client(), ascii("ping"));
        ByteBuffer request = ByteBuffer.allocate(4);
        rig.readFully(ends.server(), request);

        rig.writeFully(ends.server(), request.flip());
        ByteBuffer response = ByteBuffer.allocateDirect(4);
        rig.readFully(ends.client(), response);

        assertThat(response.flip()).isEqualTo(ascii("ping"));
    }

    @Test
    void aThousandWritesOfOneByteArriveInOrder() throws Exception {
        Rig.Ends ends = rig.connection();
        ends.client().setNoDelay(true);
        ByteBuffer one = ByteBuffer.allocateDirect(1);
        for (int i = 0; i < 1000; i++) {
            one.clear().put(0, (byte) i);
            rig.writeFully(ends.client(), one);
        }

        ByteBuffer all = ByteBuffer.allocate(1000);
        rig.readFully(ends.server(), all);

        for (int i = 0; i < 1000; i++) {
            assertThat(all.get(i)).isEqualTo((byte) i);
        }
    }

    @Test
    void aHugeWriteIsTakenInPartsUntilItWouldBlock() throws Exception {
        Rig.Ends ends = rig.connection();
        byte[] content = new byte[48 << 20];
        new Random(4711).nextBytes(content);
        ByteBuffer from = ByteBuffer.allocateDirect(content.length).put(content).flip();
        ByteBuffer into = ByteBuffer.allocate(content.length);

        int refused = 0;
        while (into.hasRemaining()) {
            while (from.hasRemaining()) {
                int before = from.position();
                int written = ends.client().tryWrite(from);
                if (written == Io.WOULD_BLOCK) {
                    assertThat(from.position()).isEqualTo(before);
                    refused++;
                    break;
                }
                assertThat(from.position()).isEqualTo(before + written);
            }
            assertThat(rig.read(ends.server(), into)).isPositive();
        }

        assertThat(refused).as("48 MiB do not fit at once").isPositive();
        assertThat(into.array()).isEqualTo(content);
    }

    @Test
    void aHeapBufferOfAnySizeIsMovedInPieces() throws Exception {
        Rig.Ends ends = rig.connection();
        byte[] content = new byte[300_000];
        new Random(4712).nextBytes(content);
        ByteBuffer from = ByteBuffer.wrap(content);
        ByteBuffer into = ByteBuffer.allocate(content.length);

        while (into.hasRemaining()) {
            if (from.hasRemaining()) {
                assertThat(ends.client().tryWrite(from)).isLessThanOrEqualTo(64 << 10);
                assertThat(from.limit()).isEqualTo(content.length);
            }
            assertThat(rig.read(ends.server(), into)).isBetween(1, 64 << 10);
        }

        assertThat(into.array()).isEqualTo(content);
    }

    @Test
    void nothingToReadIsAValue() throws Exception {
        Rig.Ends ends = rig.connection();
        ByteBuffer into = ByteBuffer.allocate(8);

        assertThat(ends.server().tryRead(into)).isEqualTo(TcpStream.WOULD_BLOCK);
        assertThat(into.position()).isZero();
    }

    @Test
    void inputIsSeenWithoutReadingIt() throws Exception {
        Rig.Ends ends = rig.connection();
        assertThat(ends.server().mayHaveInput()).isFalse();

        ends.client().tryWrite(ByteBuffer.wrap(new byte[] {1, 2}));
        rig.await(ends.server(), Interest.READABLE);
        assertThat(ends.server().mayHaveInput()).isTrue();
        assertThat(ends.server().mayHaveInput()).isTrue();
        assertThat(rig.read(ends.server(), ByteBuffer.allocate(8))).isEqualTo(2);
        assertThat(ends.server().mayHaveInput()).isFalse();

        ends.client().shutdownOutput();
        rig.await(ends.server(), Interest.READABLE);
        assertThat(ends.server().mayHaveInput()).as("the end is no input").isFalse();
        ends.server().close();
        assertThatThrownBy(() -> ends.server().mayHaveInput()).isInstanceOf(ClosedChannelException.class);
    }

    @Test
    void anEmptyBufferMovesNothing() throws Exception {
        Rig.Ends ends = rig.connection();
        for (ByteBuffer empty : new ByteBuffer[] {
            ByteBuffer.allocate(0), ByteBuffer.allocateDirect(8).limit(0)
        }) {
            assertThat(ends.server().tryRead(empty)).isZero();
            assertThat(ends.server().tryWrite(empty)).isZero();
        }
        ends.client().shutdownOutput();
        rig.await(ends.server(), Interest.READABLE);

        assertThat(ends.server().tryRead(ByteBuffer.allocate(0)))
                .as("not even the end is seen")
                .isZero();
    }

    @Test
    void afterAHalfCloseTheOtherDirectionGoesOn() throws Exception {
        Rig.Ends ends = rig.connection();
        rig.writeFully(ends.client(), ascii("last words"));
        ends.client().shutdownOutput();
        ends.client().shutdownOutput();
        ByteBuffer into = ByteBuffer.allocate(10);
        rig.readFully(ends.server(), into);

        assertThat(rig.read(ends.server(), ByteBuffer.allocate(1))).isEqualTo(TcpStream.EOF);
        assertThat(ends.server().tryRead(ByteBuffer.allocate(1)))
                .as("the end stays")
                .isEqualTo(TcpStream.EOF);
        rig.writeFully(ends.server(), ascii("answer"));
        ByteBuffer answer = ByteBuffer.allocate(6);
        rig.readFully(ends.client(), answer);

        assertThat(answer.flip()).isEqualTo(ascii("answer"));
        assertThatThrownBy(() -> ends.client().tryWrite(ascii("x")))
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(ClosedChannelException.class)
                .hasMessageContaining("shutdownOutput()");
    }

    @Test
    void afterShutdownOfTheInputEveryReadIsAtTheEnd() throws Exception {
        Rig.Ends ends = rig.connection();
        rig.writeFully(ends.client(), ascii("unheard"));
        rig.await(ends.server(), Interest.READABLE);

        ends.server().shutdownInput();

        assertThat(ends.server().tryRead(ByteBuffer.allocate(8))).isEqualTo(TcpStream.EOF);
        rig.writeFully(ends.server(), ascii("but heard"));
        rig.readFully(ends.client(), ByteBuffer.allocate(9));
    }

    @Test
    void aResetIsAnErrorOfReadAndWrite() throws Exception {
        TcpListener listener = rig.listener();
        InetSocketAddress local = listener.localAddress();
        Socket peer = new Socket(local.getAddress(), local.getPort());
        TcpStream server = rig.accept(listener);
        peer.setSoLinger(true, 0);
        peer.close();
        rig.await(server, Interest.READABLE);

        assertThatThrownBy(() -> server.tryRead(ByteBuffer.allocate(8)))
                .isInstanceOf(IOException.class)
                .hasMessageMatching(
                        backend == Rig.Backend.NIO
                                ? "(?i).*reset.*"
                                : "recv on fd \\d+ failed: ECONNRESET \\(connection reset by peer\\)");
        assertThatThrownBy(() -> {
                    server.tryWrite(ascii("x"));
                    server.tryWrite(ascii("x"));
                })
                .isInstanceOf(IOException.class)
                .isNotInstanceOf(ClosedChannelException.class);
    }

    @Test
    void anInterruptedThreadMayReadAndWrite() throws Exception {
        Rig.Ends ends = rig.connection();
        Thread.currentThread().interrupt();
        try {
            assertThat(ends.client().tryWrite(ascii("abc"))).isEqualTo(3);
            assertThat(ends.client().tryRead(ByteBuffer.allocate(1))).isEqualTo(TcpStream.WOULD_BLOCK);
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        rig.readFully(ends.server(), ByteBuffer.allocate(3));
    }

    @Test
    void bothEndsAgreeOnTheirAddresses() throws Exception {
        Rig.Ends ends = rig.connection();

        assertThat(ends.client().localAddress()).isEqualTo(ends.server().remoteAddress());
        assertThat(ends.client().remoteAddress()).isEqualTo(ends.server().localAddress());
        ends.client().close();
        assertThat(ends.client().remoteAddress()).isEqualTo(ends.server().localAddress());
        assertThat(ends.client().localAddress()).isEqualTo(ends.server().remoteAddress());
    }

    @Test
    void overIpv6Too() throws Exception {
        InetAddress six = InetAddress.ofLiteral("::1");
        TcpListener listener;
        try {
            listener = rig.keep(rig.net.listen(new InetSocketAddress(six, 0)));
        } catch (IOException e) {
            Assumptions.abort("no IPv6 here: " + e.getMessage());
            return;
        }
        TcpStream client = rig.keep(rig.net.connect(listener.localAddress()));
        TcpStream server = rig.accept(listener);
        rig.finishConnect(client);
        rig.writeFully(client, ascii("six"));
        ByteBuffer into = ByteBuffer.allocate(3);
        rig.readFully(server, into);

        assertThat(into.flip()).isEqualTo(ascii("six"));
        assertThat(server.remoteAddress().getAddress())
                .isInstanceOf(Inet6Address.class)
                .isEqualTo(six);
        assertThat(server.remoteAddress()).isEqualTo(client.localAddress());
    }

    @Test
    void itsDescriptionNamesThePeer() throws Exception {
        Rig.Ends ends = rig.connection();

        assertThat(ends.client())
                .hasToString(ends.client().toString())
                .asString()
                .contains("TcpStream to " + ends.server().localAddress());
        ends.client().close();
        assertThat(ends.client().toString()).contains("closed");
    }

    static ByteBuffer ascii(String text) {
        return ByteBuffer.wrap(text.getBytes(US_ASCII));
    }
}
