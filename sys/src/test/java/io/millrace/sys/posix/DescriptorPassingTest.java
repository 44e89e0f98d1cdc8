package io.millrace.sys.posix;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Downcall;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.Posix;
import io.millrace.sys.call.SocketAddressCodec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Descriptors over a Unix socket, and what the kernel says of them. */
@EnabledOnOs({OS.LINUX, OS.MAC, OS.FREEBSD})
class DescriptorPassingTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @TempDir
    Path directory;

    private final List<Descriptor> open = new ArrayList<>();
    private Descriptor here;
    private Descriptor there;

    @BeforeEach
    void connect() throws Exception {
        byte[] name = UnixNames.ofPath(directory.resolve("s"));
        Descriptor listener = keep(Sockets.listen(name, 1));
        here = keep(Sockets.connect(name));
        there = keep(Sockets.acceptUnix(listener.fd()));
    }

    @AfterEach
    void close() {
        open.forEach(Descriptor::close);
    }

    private Descriptor keep(Descriptor descriptor) {
        open.add(descriptor);
        return descriptor;
    }

    private DescriptorPassing.Received receive(int bytes) throws Exception {
        DescriptorPassing.Received received = DescriptorPassing.receive(there.fd(), ByteBuffer.allocate(bytes));
        received.passed().forEach(fd -> keep(new Descriptor(fd, false)));
        return received;
    }

    private static ByteBuffer text(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    @DisplayName("bp-6: a listener that was passed accepts, also when the one who passed it has closed it")
    void aListenerIsPassed() throws Exception {
        Descriptor listener = keep(Sockets.listen(ANY_PORT, 16));
        InetSocketAddress at = Sockets.localAddress(listener.fd());

        assertThat(DescriptorPassing.send(here.fd(), text("take this"), listener.fd()))
                .isEqualTo(9);
        ByteBuffer into = ByteBuffer.allocate(20);
        DescriptorPassing.Received received = DescriptorPassing.receive(there.fd(), into);
        listener.close();

        assertThat(received.bytes()).isEqualTo(9);
        assertThat(into.limit(9)).isEqualTo(text("take this"));
        assertThat(received.lost()).isFalse();
        int fd = received.passed().getFirst();
        keep(new Descriptor(fd, true));
        assertThat(received.passed()).hasSize(1).doesNotContain(listener.fd());
        try (Socket peer = new Socket(at.getAddress(), at.getPort())) {
            Sockets.Accepted accepted = Sockets.accept(fd);
            assertThat(accepted.remote()).isEqualTo(peer.getLocalSocketAddress());
            accepted.descriptor().close();
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    @DisplayName("bp-6: a received descriptor is close-on-exec")
    void closeOnExec() throws Exception {
        DescriptorPassing.send(here.fd(), text("x"), here.fd());

        int fd = receive(1).passed().getFirst();

        assertThat(Files.readString(Path.of("/proc/self/fdinfo/" + fd))).containsPattern("flags:\t02004002");
    }

    @Test
    @DisplayName("bp-6: as many as a message can carry arrive, and none without being listed")
    void many() throws Exception {
        int[] all = new int[DescriptorPassing.MOST];
        Arrays.fill(all, here.fd());

        assertThat(DescriptorPassing.send(here.fd(), text("x"), all)).isEqualTo(1);

        DescriptorPassing.Received received = receive(1);
        assertThat(received.passed()).hasSize(DescriptorPassing.MOST).doesNotHaveDuplicates();
        assertThat(received.lost()).isFalse();
    }

    @Test
    @DisplayName("bp-6: a call ends behind the bytes of a message with descriptors")
    void messagesStayApart() throws Exception {
        DescriptorPassing.send(here.fd(), text("one"), there.fd());
        DescriptorPassing.send(here.fd(), text("two"), there.fd(), there.fd());

        DescriptorPassing.Received first = receive(100);
        DescriptorPassing.Received second = receive(100);

        assertThat(first.bytes()).isEqualTo(3);
        assertThat(first.passed()).hasSize(1);
        assertThat(second.bytes()).isEqualTo(3);
        assertThat(second.passed()).hasSize(2);
        assertThat(receive(100).bytes()).isEqualTo(-Errno.EAGAIN.code());
        here.close();
        assertThat(receive(100)).isEqualTo(new DescriptorPassing.Received(0, List.of(), false));
    }

    @Test
    @DisplayName("bp-6: who is at the other end is what the kernel says")
    void peer() throws Exception {
        PeerIdentity identity = PeerIdentity.of(there.fd());

        assertThat(identity.uid()).isEqualTo(PeerIdentity.ownUser());
        assertThat((long) identity.pid())
                .isIn(OS.FREEBSD.isCurrentOs() ? -1L : ProcessHandle.current().pid());
        Object owner = Files.getAttribute(directory, "unix:uid");
        assertThat(identity.uid()).isEqualTo(owner);
    }

    @Test
    @DisplayName("bp-6: a socket that other code opened is known by what the kernel says of it")
    void facts() throws Exception {
        Descriptor tcp = keep(Sockets.listen(ANY_PORT, 16));
        assertThat(SocketFacts.of(tcp.fd())).satisfies(facts -> {
            assertThat(facts.isTcpListener()).isTrue();
            assertThat(facts.isUnixListener() || facts.isUdp()).isFalse();
            assertThat(facts.internet()).isEqualTo(Sockets.localAddress(tcp.fd()));
        });
        Path path = directory.resolve("ä b");
        assertThat(SocketFacts.of(
                        keep(Sockets.listen(UnixNames.ofPath(path), 1)).fd()))
                .satisfies(facts -> {
                    assertThat(facts.isUnixListener()).isTrue();
                    assertThat(facts.isTcpListener() || facts.isUdp()).isFalse();
                    assertThat(facts.path()).isEqualTo(path);
                });
        Datagrams.Opened udp = Datagrams.open(ANY_PORT, false, 0);
        keep(udp.descriptor());
        assertThat(SocketFacts.of(udp.descriptor().fd())).satisfies(facts -> {
            assertThat(facts.isUdp()).isTrue();
            assertThat(facts.isTcpListener() || facts.isUnixListener()).isFalse();
            assertThat(facts.family()).isEqualTo(udp.family());
        });
        assertThat(SocketFacts.of(here.fd())).satisfies(facts -> {
            assertThat(facts.isTcpListener() || facts.isUnixListener() || facts.isUdp())
                    .isFalse();
            assertThat(facts.path()).isNull();
        });
        Pipes.Ends pipe = Pipes.open();
        keep(pipe.reader());
        keep(pipe.writer());
        assertThat(SocketFacts.of(pipe.reader().fd())).as("no socket").isNull();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void anAbstractNameIsKnown() throws Exception {
        String name = "millrace-passing-" + ProcessHandle.current().pid();
        Descriptor listener = keep(Sockets.listen(UnixNames.ofAbstract(name), 1));

        assertThat(SocketFacts.of(listener.fd()).abstractName()).isEqualTo(name);
        assertThat(SocketFacts.of(listener.fd()).path()).isNull();
    }

    @Test
    @DisplayName("bp-6: a datagram reaches a Unix socket, as a service manager's is")
    void aDatagram() throws Exception {
        byte[] name = UnixNames.ofPath(directory.resolve("notify"));
        try (CallState state = CallState.borrow();
                Arena arena = Arena.ofConfined()) {
            Descriptor manager =
                    keep(new Descriptor(Sockets.open(state, SocketAddressCodec.UNIX, Sockets.SOCK_DGRAM), true));
            int length = SocketAddressCodec.current().encodeUnix(name, Native.MEMORY, state.scratch());
            Downcall.check("bind", manager.fd(), Sockets.bind(state, manager.fd(), length));

            UnixDatagrams.send(name, "READY=1".getBytes(StandardCharsets.US_ASCII));

            MemorySegment into = arena.allocate(100);
            assertThat(Sockets.receive(state, manager.fd(), into.address(), 100))
                    .isEqualTo(7);
            assertThat(into.getString(0)).isEqualTo("READY=1");
        }
        assertThat(Posix.probe(here.fd())).isNotNegative();
    }
}
