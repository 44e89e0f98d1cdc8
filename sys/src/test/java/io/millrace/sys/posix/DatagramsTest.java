package io.millrace.sys.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Posix;
import io.millrace.sys.call.SocketAddressCodec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The system calls against a {@code java.net.DatagramSocket} as their peer. */
@EnabledOnOs({OS.LINUX, OS.MAC, OS.FREEBSD})
class DatagramsTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0);

    private final CallState state = CallState.borrow();
    private final MemorySegment memory = Arena.ofAuto().allocate(16);

    @Test
    void aDatagramGoesOutAndOneComesBackWithItsSender() throws Exception {
        Datagrams.Opened opened = Datagrams.open(ANY_PORT, false, 0);
        int fd = opened.descriptor().fd();
        PeerAddress sender = opened.peer();
        PeerAddress target = opened.peer();
        try (DatagramSocket peer = new DatagramSocket(ANY_PORT)) {
            InetSocketAddress theirs = (InetSocketAddress) peer.getLocalSocketAddress();
            assertThat(Datagrams.receive(state, fd, memory.address(), 16, sender))
                    .isEqualTo(-Errno.EAGAIN.code());
            assertThat(sender.address()).isNull();

            memory.setString(0, "hello");
            assertThat(Datagrams.send(state, fd, memory.address(), 5, target, theirs))
                    .isEqualTo(5);
            DatagramPacket packet = new DatagramPacket(new byte[16], 16);
            peer.receive(packet);
            assertThat(new String(packet.getData(), 0, packet.getLength(), StandardCharsets.US_ASCII))
                    .isEqualTo("hello");
            assertThat(packet.getSocketAddress()).isEqualTo(Sockets.localAddress(fd));

            peer.send(packet);
            await(opened.descriptor());
            assertThat(Datagrams.receive(state, fd, memory.address(), 3, sender))
                    .isEqualTo(3 | Datagrams.TRUNCATED);
            assertThat(sender.address()).isEqualTo(theirs).isSameAs(sender.address());
            assertThat(sender).hasToString(theirs.toString());
        }
        opened.descriptor().close();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aSocketIsNonBlockingAndCloseOnExec() throws Exception {
        Descriptor descriptor = Datagrams.open(ANY_PORT, true, 50_000).descriptor();

        // O_CLOEXEC and O_NONBLOCK, in octal as the kernel prints them, beside O_RDWR.
        assertThat(Files.readString(Path.of("/proc/self/fdinfo/" + descriptor.fd())))
                .containsPattern("flags:\t02004002");
        assertThat(SocketSetting.REUSE_PORT.get(descriptor.fd())).isEqualTo(1);
        assertThat(SocketSetting.RECEIVE_BUFFER.get(descriptor.fd())).isEqualTo(50_000);
        descriptor.close();
    }

    @Test
    void aSocketOfIpv4RefusesAnAddressOfIpv6() throws Exception {
        Datagrams.Opened opened = Datagrams.open(ANY_PORT, false, 0);
        InetSocketAddress six = new InetSocketAddress(InetAddress.ofLiteral("::1"), 9);

        long result = Datagrams.send(state, opened.descriptor().fd(), memory.address(), 1, opened.peer(), six);

        assertThat(result).isEqualTo(-Errno.EAFNOSUPPORT.code());
        opened.descriptor().close();
    }

    @Test
    void aConnectThrowsAwayWhatWaitedAndNoMoreThanCanHaveWaited() throws Exception {
        Datagrams.Opened opened = Datagrams.open(ANY_PORT, false, 0);
        int fd = opened.descriptor().fd();
        try (DatagramSocket peer = new DatagramSocket(ANY_PORT)) {
            InetSocketAddress mine = Sockets.localAddress(fd);
            for (int i = 0; i < 5; i++) {
                peer.send(new DatagramPacket(new byte[] {(byte) i}, 1, mine));
            }
            await(opened.descriptor());

            Datagrams.throwAway(fd, 3);

            assertThat(Datagrams.receive(state, fd, memory.address(), 16, opened.peer()))
                    .isEqualTo(1);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 0)).as("the fourth").isEqualTo((byte) 3);
            // Empty ones take the least room. Those that the buffer cannot hold are lost.
            for (int i = 0; i < 10_000; i++) {
                peer.send(new DatagramPacket(new byte[0], 0, mine));
            }
            int held = 0;
            while (Datagrams.receive(state, fd, memory.address(), 16, opened.peer()) >= 0) {
                held++;
            }
            assertThat(held).isBetween(10, Datagrams.mostWaiting(fd));

            peer.send(new DatagramPacket(new byte[1], 1, mine));
            await(opened.descriptor());
            Datagrams.connect(fd, (InetSocketAddress) peer.getLocalSocketAddress(), opened.family());
            assertThat(Datagrams.receive(state, fd, memory.address(), 16, opened.peer()))
                    .isEqualTo(-Errno.EAGAIN.code());
        }
        opened.descriptor().close();
    }

    @Test
    void twoAddressesInTurnAreBothWrittenRight() {
        InetSocketAddress one = new InetSocketAddress(InetAddress.ofLiteral("10.0.0.1"), 1);
        InetSocketAddress two = new InetSocketAddress(InetAddress.ofLiteral("2001:db8::2"), 2);
        PeerAddress peer = new PeerAddress(SocketAddressCodec.current().inet6());
        MemorySegment at = Arena.ofAuto().allocate(32);
        for (InetSocketAddress address : new InetSocketAddress[] {one, one, two, two, one}) {
            at.fill((byte) 0x55);
            int length = peer.put(address, at.address());

            assertThat(length).isEqualTo(28);
            assertThat(SocketAddressCodec.current().decode(at, 0)).isEqualTo(address);
            assertThat(at.get(ValueLayout.JAVA_BYTE, 28))
                    .as("nothing behind it")
                    .isEqualTo((byte) 0x55);
            assertThat(peer.address()).isSameAs(address);
        }
    }

    @Test
    void settingsAreReadBack() throws Exception {
        Descriptor listener = Sockets.listen(ANY_PORT, 16);
        int fd = listener.fd();
        assertThat(SocketSetting.LINGER.get(fd)).isEqualTo(-1);
        SocketSetting.LINGER.set(fd, 7);
        assertThat(SocketSetting.LINGER.get(fd)).isEqualTo(7);
        SocketSetting.LINGER.set(fd, -1);
        assertThat(SocketSetting.LINGER.get(fd)).isEqualTo(-1);
        SocketSetting.KEEP_IDLE.set(fd, 61);
        SocketSetting.KEEP_INTERVAL.set(fd, 11);
        SocketSetting.KEEP_COUNT.set(fd, 5);
        assertThat(SocketSetting.KEEP_IDLE.get(fd)).isEqualTo(61);
        assertThat(SocketSetting.KEEP_INTERVAL.get(fd)).isEqualTo(11);
        assertThat(SocketSetting.KEEP_COUNT.get(fd)).isEqualTo(5);
        listener.close();
        Descriptor udp = Datagrams.open(ANY_PORT, false, 0).descriptor();
        assertThatThrownBy(() -> SocketSetting.KEEP_COUNT.set(udp.fd(), 5))
                .isInstanceOf(ErrnoException.class)
                .hasMessageContaining("setsockopt(KEEP_COUNT) on fd " + udp.fd());
        udp.close();
    }

    private void await(Descriptor descriptor) {
        MemorySegment pollfd = Arena.ofAuto().allocate(8, 4);
        pollfd.set(ValueLayout.JAVA_INT, 0, descriptor.fd());
        pollfd.set(ValueLayout.JAVA_SHORT, 4, Posix.POLLIN);
        assertThat(Posix.poll(state, pollfd.address(), 1, 10_000)).isEqualTo(1);
    }
}
