package io.millrace.net;

import static io.millrace.net.TcpStreamTest.ascii;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

@ParameterizedClass
@EnumSource(Rig.Backend.class)
class UdpSocketTest {
    private static final InetSocketAddress SIX = new InetSocketAddress(InetAddress.ofLiteral("::1"), 0);
    private static final InetSocketAddress WILDCARD = new InetSocketAddress(0);

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
    void aDatagramArrivesWithItsSender() throws Exception {
        UdpSocket one = udp();
        UdpSocket other = udp();
        assertThat(other.lastSender()).isNull();
        ByteBuffer from = ascii("hello");

        assertThat(one.trySendTo(from, other.localAddress())).isEqualTo(5);

        assertThat(from.hasRemaining()).isFalse();
        ByteBuffer into = ByteBuffer.allocate(16);
        assertThat(receive(other, into)).isEqualTo(5);
        assertThat(into.flip()).isEqualTo(ascii("hello"));
        assertThat(other.lastSender()).isEqualTo(one.localAddress());
        assertThat(other.wasTruncated()).isFalse();
    }

    @Test
    void nothingToReceiveIsAValue() throws Exception {
        UdpSocket socket = udp();
        ByteBuffer into = ByteBuffer.allocate(4);

        assertThat(socket.tryReceive(into)).isEqualTo(UdpSocket.WOULD_BLOCK);
        assertThat(into.position()).isZero();
    }

    @Test
    void everyKindOfBufferMovesItsOwnBytes() throws Exception {
        UdpSocket one = udp();
        UdpSocket other = udp();
        try (Arena shared = Arena.ofShared()) {
            List<ByteBuffer> kinds = List.of(
                    ByteBuffer.allocate(32),
                    ByteBuffer.allocateDirect(32),
                    ByteBuffer.allocateDirect(64).slice(9, 32),
                    Arena.ofAuto().allocate(32).asByteBuffer(),
                    shared.allocate(32).asByteBuffer());
            int round = 0;
            for (ByteBuffer from : kinds) {
                for (ByteBuffer into : kinds) {
                    int at = ++round % 5;
                    int length = round % 7;
                    from.clear().position(at).limit(at + length);
                    byte[] expected = new byte[length];
                    for (int i = 0; i < length; i++) {
                        expected[i] = (byte) (round + i);
                        from.put(at + i, expected[i]);
                    }
                    assertThat(one.trySendTo(from, other.localAddress())).isEqualTo(length);

                    assertThat(receive(other, into.clear().position(3))).isEqualTo(length);

                    byte[] got = new byte[length];
                    into.get(3, got);
                    assertThat(got).as("%s to %s", from, into).isEqualTo(expected);
                    assertThat(into.position()).isEqualTo(3 + length);
                }
            }
        }
    }

    @Test
    void segmentsMoveTheirBytesToo() throws Exception {
        UdpSocket one = udp();
        UdpSocket other = udp();
        one.connect(other.localAddress());
        MemorySegment from = Arena.ofAuto().allocateFrom("abcd");
        MemorySegment into = MemorySegment.ofArray(new long[2]);

        assertThat(one.trySend(from)).isEqualTo(5);
        rig.await(other, Interest.READABLE);
        assertThat(other.tryReceive(into)).isEqualTo(5);
        assertThat(into.getString(0)).isEqualTo("abcd");

        assertThat(other.trySendTo(into.asSlice(0, 2), one.localAddress())).isEqualTo(2);
        rig.await(one, Interest.READABLE);
        MemorySegment short1 = Arena.ofAuto().allocate(1);
        assertThat(one.tryReceive(short1)).isEqualTo(1);
        assertThat(one.wasTruncated()).isTrue();
        assertThat(short1.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 'a');
        assertThatThrownBy(() -> one.tryReceive(short1.asReadOnly())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> one.trySend(MemorySegment.ofArray(new byte[100_000])))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("100000");
    }

    @Test
    void aSegmentThatMayNotBeUsedIsRefusedAndNoDatagramIsLost() throws Exception {
        UdpSocket one = rig.keep(rig.net.udp(Rig.ANY_PORT));
        UdpSocket two = rig.keep(rig.net.udp(Rig.ANY_PORT));
        two.trySendTo(ascii("safe"), one.localAddress());
        rig.await(one, Interest.READABLE);
        Arena arena = Arena.ofShared();
        MemorySegment freed = arena.allocate(4);
        ByteBuffer freedBuffer = arena.allocate(4).asByteBuffer();
        arena.close();
        AtomicReference<MemorySegment> confined = new AtomicReference<>();
        Thread.ofPlatform()
                .start(() -> confined.set(Arena.ofConfined().allocate(4)))
                .join();

        assertThatThrownBy(() -> one.tryReceive(freed)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> one.tryReceive(freedBuffer)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> one.tryReceive(confined.get())).isInstanceOf(WrongThreadException.class);
        assertThatThrownBy(() -> one.trySendTo(freed, two.localAddress())).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> one.trySendTo(confined.get(), two.localAddress()))
                .isInstanceOf(WrongThreadException.class);
        assertThatThrownBy(() -> one.tryReceive(Arena.ofAuto().allocate(4).asReadOnly()))
                .isInstanceOf(IllegalArgumentException.class);

        ByteBuffer into = ByteBuffer.allocate(8);
        assertThat(one.tryReceive(into)).isEqualTo(4);
        assertThat(into.flip()).isEqualTo(ascii("safe"));
    }

    @Test
    void whatDoesNotFitIsLostAndSaidSo() throws Exception {
        UdpSocket one = udp();
        UdpSocket other = udp();
        for (ByteBuffer into : List.of(ByteBuffer.allocate(3), ByteBuffer.allocateDirect(3))) {
            one.trySendTo(ascii("too long"), other.localAddress());
            one.trySendTo(ascii("fit"), other.localAddress());

            assertThat(receive(other, into)).isEqualTo(3);
            assertThat(other.wasTruncated()).isTrue();
            assertThat(into.flip()).isEqualTo(ascii("too"));

            assertThat(receive(other, into.clear())).isEqualTo(3);
            assertThat(other.wasTruncated()).as("exactly full").isFalse();
            assertThat(into.flip()).isEqualTo(ascii("fit"));
        }
    }

    @Test
    void aBufferWithoutRoomTakesTheDatagramAllTheSame() throws Exception {
        UdpSocket one = udp();
        UdpSocket other = udp();
        for (ByteBuffer none :
                List.of(ByteBuffer.allocate(0), ByteBuffer.allocateDirect(4).limit(0))) {
            one.trySendTo(ascii("x"), other.localAddress());

            assertThat(receive(other, none)).isZero();

            assertThat(other.wasTruncated()).isTrue();
            assertThat(other.tryReceive(none)).isEqualTo(UdpSocket.WOULD_BLOCK);
        }
    }

    @Test
    void anEmptyDatagramIsOne() throws Exception {
        UdpSocket one = udp();
        UdpSocket other = udp();

        assertThat(one.trySendTo(ByteBuffer.allocate(0), other.localAddress())).isZero();
        assertThat(one.trySendTo(ByteBuffer.allocateDirect(0), other.localAddress()))
                .isZero();

        assertThat(receive(other, ByteBuffer.allocate(8))).isZero();
        assertThat(other.lastSender()).isEqualTo(one.localAddress());
        assertThat(other.wasTruncated()).isFalse();
        assertThat(receive(other, ByteBuffer.allocateDirect(8))).isZero();
        assertThat(other.tryReceive(ByteBuffer.allocate(8))).isEqualTo(UdpSocket.WOULD_BLOCK);
    }

    @Test
    void anEmptyDatagramFromAConnectedSocketIsSentExceptByNio() throws Exception {
        UdpSocket one = udp();
        UdpSocket other = udp();
        one.connect(other.localAddress());
        if (backend == Rig.Backend.NIO) {
            assertThatThrownBy(() -> one.trySend(ByteBuffer.allocate(0)))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("java.nio")
                    .hasMessageContaining("trySendTo");
            return;
        }

        assertThat(one.trySend(ByteBuffer.allocate(0))).isZero();

        assertThat(receive(other, ByteBuffer.allocate(8))).isZero();
    }

    @Test
    void aConnectedSocketHearsOnlyItsPeer() throws Exception {
        UdpSocket one = udp();
        UdpSocket peer = udp();
        UdpSocket stranger = udp();
        stranger.trySendTo(ascii("early"), one.localAddress());
        rig.await(one, Interest.READABLE);

        one.connect(peer.localAddress());

        stranger.trySendTo(ascii("late"), one.localAddress());
        peer.trySendTo(ascii("peer"), one.localAddress());
        ByteBuffer into = ByteBuffer.allocate(16);
        receive(one, into);
        assertThat(into.flip()).isEqualTo(ascii("peer"));
        assertThat(one.lastSender()).isEqualTo(peer.localAddress());
        assertThat(one.tryReceive(into.clear())).isEqualTo(UdpSocket.WOULD_BLOCK);
        assertThat(one.trySend(ascii("back"))).isEqualTo(4);
        assertThat(receive(peer, into.clear())).isEqualTo(4);
        assertThat(one.remoteAddress()).isEqualTo(peer.localAddress());
        assertThat(peer.remoteAddress()).isNull();
    }

    @Test
    void whichSendGoesWithWhichSocketIsSaid() throws Exception {
        UdpSocket one = udp();
        UdpSocket peer = udp();
        assertThatThrownBy(() -> one.trySend(ascii("x")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("not connected")
                .hasMessageContaining("trySendTo");

        one.connect(peer.localAddress());

        assertThatThrownBy(() -> one.trySendTo(ascii("x"), peer.localAddress()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("it is connected");
        assertThatThrownBy(() -> one.connect(peer.localAddress())).isInstanceOf(IllegalStateException.class);
        assertThat(one.toString()).contains("UdpSocket on " + one.localAddress() + " to " + peer.localAddress());
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC, OS.FREEBSD})
    void aPortWithoutAListenerIsToldAndTheSocketGoesOn() throws Exception {
        UdpSocket one = udp();
        UdpSocket gone = udp();
        InetSocketAddress address = gone.localAddress();
        gone.close();
        one.connect(address);
        rig.poll.register(one, 7, Interest.READABLE, Trigger.EDGE);
        assertThat(one.tryReceive(ByteBuffer.allocate(1))).isEqualTo(UdpSocket.WOULD_BLOCK);
        for (int round = 0; round < 2; round++) {
            one.trySend(ascii("anybody?"));
            assertThat(rig.reports(Rig.DEADLINE)).as("an error is an event").isTrue();

            assertThatThrownBy(() -> one.tryReceive(ByteBuffer.allocate(8)))
                    .isInstanceOf(PortUnreachableException.class)
                    .hasMessageContaining("nobody listens at " + address);
            assertThat(one.tryReceive(ByteBuffer.allocate(8))).isEqualTo(UdpSocket.WOULD_BLOCK);
        }

        UdpSocket back = rig.keep(rig.net.udp(address));
        assertThat(one.trySend(ascii("now"))).isEqualTo(3);
        assertThat(receive(back, ByteBuffer.allocate(8))).isEqualTo(3);
        back.trySendTo(ascii("yes"), one.localAddress());
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        assertThat(one.tryReceive(ByteBuffer.allocate(8))).isEqualTo(3);
    }

    @Test
    void onlyWouldBlockDrains() throws Exception {
        UdpSocket one = udp();
        UdpSocket other = udp();
        rig.poll.register(other, 7, Interest.READABLE, Trigger.EDGE);
        one.trySendTo(ascii("a"), other.localAddress());
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();

        assertThat(other.tryReceive(ByteBuffer.allocate(100)))
                .as("less than the room")
                .isEqualTo(1);
        one.trySendTo(ascii("b"), other.localAddress());
        boolean newDatagramsAreEdges = backend == Rig.Backend.EPOLL;
        assertThat(rig.reports(newDatagramsAreEdges ? Rig.DEADLINE : Duration.ZERO))
                .isEqualTo(newDatagramsAreEdges);

        assertThat(other.tryReceive(ByteBuffer.allocate(100))).isEqualTo(1);
        assertThat(other.tryReceive(ByteBuffer.allocate(100))).isEqualTo(UdpSocket.WOULD_BLOCK);
        one.trySendTo(ascii("c"), other.localAddress());
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
    }

    @Test
    void itIsWritableAtOnce() throws Exception {
        UdpSocket socket = udp();
        rig.poll.register(socket, 7, Interest.WRITABLE, Trigger.LEVEL);

        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
    }

    @Test
    void theLargestDatagramPassesAndALargerOneIsRefused() throws Exception {
        UdpSocket one = udp();
        UdpSocket other = udp();
        ByteBuffer largest = ByteBuffer.allocate(65_507);
        assertThat(one.trySendTo(largest, other.localAddress())).isEqualTo(65_507);
        assertThat(receive(other, ByteBuffer.allocateDirect(70_000))).isEqualTo(65_507);
        assertThat(other.wasTruncated()).isFalse();

        for (ByteBuffer larger :
                List.of(ByteBuffer.allocate(65_508), ByteBuffer.allocateDirect(65_508), ByteBuffer.allocate(1 << 20))) {
            assertThatThrownBy(() -> one.trySendTo(larger, other.localAddress()))
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(ClosedChannelException.class)
                    .hasMessageContaining("cannot send a datagram of " + larger.remaining() + " bytes")
                    .hasMessageContaining("send several");
            assertThat(larger.position()).isZero();
        }
        assertThat(one.trySendTo(ascii("still"), other.localAddress())).isEqualTo(5);
    }

    @Test
    @DisplayName("nobody can be sent to at port 0, and the message says what to take")
    void nobodyIsAtPortZero() throws Exception {
        UdpSocket one = udp();
        InetSocketAddress nobody = new InetSocketAddress(one.localAddress().getAddress(), 0);
        assertThatThrownBy(() -> one.trySendTo(ascii("x"), nobody))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("port 0")
                .hasMessageContaining("bound to");
    }

    @Test
    void theSameSenderIsTheSameObject() throws Exception {
        UdpSocket one = udp();
        UdpSocket two = udp();
        UdpSocket other = udp();
        one.trySendTo(ascii("x"), other.localAddress());
        one.trySendTo(ascii("y"), other.localAddress());
        two.trySendTo(ascii("z"), other.localAddress());
        receive(other, ByteBuffer.allocate(1));
        InetSocketAddress first = other.lastSender();
        receive(other, ByteBuffer.allocate(1));
        assertThat(other.lastSender()).isSameAs(first);

        receive(other, ByteBuffer.allocate(1));

        assertThat(other.lastSender()).isEqualTo(two.localAddress());
        assertThat(other.trySendTo(ascii("back"), other.lastSender())).isEqualTo(4);
        assertThat(receive(two, ByteBuffer.allocate(8))).isEqualTo(4);
        assertThat(other.trySendTo(ascii("and"), first)).isEqualTo(3);
        assertThat(receive(one, ByteBuffer.allocate(8))).isEqualTo(3);
    }

    @Test
    void overIpv6Too() throws Exception {
        UdpSocket one = six();
        UdpSocket other = six();

        one.trySendTo(ascii("six"), other.localAddress());

        assertThat(receive(other, ByteBuffer.allocate(8))).isEqualTo(3);
        assertThat(other.lastSender()).isEqualTo(one.localAddress());
        one.connect(other.localAddress());
        assertThat(one.trySend(ascii("seven"))).isEqualTo(5);
        assertThat(receive(other, ByteBuffer.allocate(8))).isEqualTo(5);
    }

    @Test
    void theWildcardSpeaksBothFamilies() throws Exception {
        UdpSocket both = rig.keep(rig.net.udp(WILDCARD));
        UdpSocket four = udp();
        UdpSocket six = six();
        int port = both.localAddress().getPort();
        assertThat(both.localAddress().getAddress().isAnyLocalAddress()).isTrue();

        four.trySendTo(ascii("4"), new InetSocketAddress(four.localAddress().getAddress(), port));
        receive(both, ByteBuffer.allocate(1));
        assertThat(both.lastSender().getAddress()).isInstanceOf(Inet4Address.class);
        assertThat(both.lastSender()).isEqualTo(four.localAddress());
        assertThat(both.trySendTo(ascii("4"), both.lastSender())).isEqualTo(1);
        receive(four, ByteBuffer.allocate(1));

        six.trySendTo(ascii("6"), new InetSocketAddress(SIX.getAddress(), port));
        receive(both, ByteBuffer.allocate(1));
        assertThat(both.lastSender()).isEqualTo(six.localAddress());
        assertThat(both.trySendTo(ascii("6"), six.localAddress())).isEqualTo(1);
        receive(six, ByteBuffer.allocate(1));
        both.connect(four.localAddress());
        assertThat(both.trySend(ascii("x"))).isEqualTo(1);
        receive(four, ByteBuffer.allocate(1));
    }

    @Test
    void theOtherFamilyIsRefusedWithTheRemedy() throws Exception {
        UdpSocket four = udp();
        InetSocketAddress six = new InetSocketAddress(SIX.getAddress(), 9);

        assertThatThrownBy(() -> four.trySendTo(ascii("x"), six))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cannot send to /[0:0:0:0:0:0:0:1]:9")
                .hasMessageContaining("wildcard");
        assertThatThrownBy(() -> four.connect(six)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> four.trySendTo(ascii("x"), InetSocketAddress.createUnresolved("example.org", 9)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not resolved");
        assertThatThrownBy(() -> rig.net.udp(InetSocketAddress.createUnresolved("example.org", 9)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anAddressInUseSaysSoWithTheRemedy() throws Exception {
        UdpSocket socket = udp();

        assertThatThrownBy(() -> rig.net.udp(socket.localAddress()))
                .isInstanceOf(BindException.class)
                .hasMessageContaining("cannot bind a UDP socket to " + socket.localAddress())
                .hasMessageMatching("(?is).*in use.*");
    }

    @Test
    @EnabledOnOs({OS.LINUX, OS.MAC, OS.FREEBSD})
    void severalSocketsShareAPortIfAllOfThemSaySo() throws Exception {
        UdpOptions sharing = UdpOptions.standard().withReusePort(true).withReceiveBuffer(50_000);
        UdpSocket first = rig.keep(rig.net.udp(Rig.ANY_PORT, sharing));

        UdpSocket second = rig.keep(rig.net.udp(first.localAddress(), sharing));

        assertThat(second.localAddress()).isEqualTo(first.localAddress());
        assertThat(second.receiveBuffer()).isBetween(50_000, 100_000);
        assertThatThrownBy(() -> rig.net.udp(first.localAddress())).isInstanceOf(BindException.class);
        assertThatThrownBy(() -> sharing.withReceiveBuffer(-1)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void whatIsSetIsWhatTheKernelSays() throws Exception {
        UdpSocket socket = udp();
        assertThat(socket.broadcast()).isFalse();

        socket.setBroadcast(true);
        socket.setSendBuffer(50_000);
        socket.setReceiveBuffer(60_000);

        assertThat(socket.broadcast()).isTrue();
        assertThat(socket.sendBuffer()).isBetween(50_000, 100_000);
        assertThat(socket.receiveBuffer()).isBetween(60_000, 120_000);
        assertThatThrownBy(() -> socket.setSendBuffer(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> socket.setReceiveBuffer(0)).isInstanceOf(IllegalArgumentException.class);
    }

    /** The broadcast address of the loopback network, which Linux has. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void aBroadcastMustBeAllowedFirst() throws Exception {
        UdpSocket receiver = rig.keep(rig.net.udp(WILDCARD));
        UdpSocket sender = udp();
        InetSocketAddress everybody = new InetSocketAddress(
                InetAddress.ofLiteral("127.255.255.255"),
                receiver.localAddress().getPort());
        sender.setBroadcast(false);
        assertThatThrownBy(() -> sender.trySendTo(ascii("x"), everybody)).isInstanceOf(IOException.class);

        sender.setBroadcast(true);

        assertThat(sender.trySendTo(ascii("to all"), everybody)).isEqualTo(6);
        assertThat(receive(receiver, ByteBuffer.allocate(8))).isEqualTo(6);
    }

    @Test
    void everyCallOnAClosedSocketSaysSo() throws Exception {
        UdpSocket socket = udp();
        InetSocketAddress address = socket.localAddress();
        rig.poll.register(socket, 7, Interest.READ_WRITE, Trigger.LEVEL);
        socket.close();
        socket.close();

        assertThat(rig.poll.size()).isZero();
        assertThat(socket.toString()).contains("closed");
        assertThatThrownBy(() -> socket.tryReceive(ByteBuffer.allocate(1))).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> socket.tryReceive(Arena.ofAuto().allocate(1)))
                .isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> socket.trySendTo(ascii("x"), address)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> socket.connect(address)).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(socket::broadcast).isInstanceOf(ClosedChannelException.class);
        assertThatThrownBy(() -> socket.setBroadcast(true)).isInstanceOf(ClosedChannelException.class);
        assertThat(socket.localAddress()).isEqualTo(address);
        assertThatThrownBy(() -> rig.poll.register(socket, 7, Interest.READABLE, Trigger.LEVEL))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aReadOnlyBufferIsRefused() throws Exception {
        UdpSocket socket = udp();

        assertThatThrownBy(() -> socket.tryReceive(ByteBuffer.allocate(1).asReadOnlyBuffer()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("read-only");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void everyDescriptorIsGivenBack() throws Exception {
        openAndClose();
        long base = openFiles();

        for (int i = 0; i < 200; i++) {
            openAndClose();
        }

        assertThat(openFiles()).isEqualTo(base);
    }

    private void openAndClose() throws IOException {
        UdpSocket socket = rig.net.udp(Rig.ANY_PORT);
        rig.poll.register(socket, 1, Interest.READABLE, Trigger.EDGE);
        socket.trySendTo(ascii("me"), socket.localAddress());
        assertThat(rig.reports(Rig.DEADLINE)).isTrue();
        assertThatThrownBy(() -> rig.net.udp(socket.localAddress())).isInstanceOf(BindException.class);
        socket.close();
    }

    static long openFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.count();
        }
    }

    private UdpSocket udp() throws IOException {
        return rig.keep(rig.net.udp(Rig.ANY_PORT));
    }

    private UdpSocket six() throws IOException {
        try {
            return rig.keep(rig.net.udp(SIX));
        } catch (IOException e) {
            return Assumptions.abort("no IPv6 here: " + e.getMessage());
        }
    }

    private int receive(UdpSocket socket, ByteBuffer into) throws IOException {
        for (; ; ) {
            int received = socket.tryReceive(into);
            if (received != UdpSocket.WOULD_BLOCK) {
                return received;
            }
            rig.await(socket, Interest.READABLE);
        }
    }
}
