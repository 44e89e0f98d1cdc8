package io.millrace.net;

import static io.millrace.net.TcpStreamTest.ascii;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.poll.Interest;
import io.millrace.poll.Notifier;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.Posix;
import io.millrace.sys.posix.Fds;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of descriptors that another process passed; here, this process is the other one, too. */
@EnabledOnOs({OS.LINUX, OS.MAC, OS.FREEBSD})
class PassedDescriptorTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @TempDir
    Path directory;

    private final List<AutoCloseable> open = new ArrayList<>();
    private Net net;
    private UnixStream here;
    private UnixStream there;

    @BeforeEach
    void connect() throws Exception {
        net = Net.natively();
        UnixListener listener = keep(net.listen(UnixAddress.of(directory.resolve("s"))));
        here = keep(net.connect(listener.address()));
        there = keep(listener.accept());
    }

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    private <T extends AutoCloseable> T keep(T source) {
        open.add(source);
        return source;
    }

    private PassedDescriptor pass(io.millrace.poll.Source source) throws IOException {
        assertThat(here.tryWrite(ascii("x"), source)).isEqualTo(1);
        List<PassedDescriptor> passed = new ArrayList<>();
        assertThat(there.tryRead(ByteBuffer.allocate(10), passed)).isEqualTo(1);
        assertThat(passed).hasSize(1);
        return keep(passed.getFirst());
    }

    @Test
    @DisplayName("bp-6: what waits at a listener is not lost when the one who passed it closes it")
    void whatWaitsIsNotLost() throws Exception {
        TcpListener listener = keep(net.listen(ANY_PORT));
        PassedDescriptor passed = pass(listener);
        try (Socket waiting = new Socket(
                listener.localAddress().getAddress(), listener.localAddress().getPort())) {
            listener.close();

            assertThat(passed.kind()).isEqualTo(PassedDescriptor.Kind.TCP_LISTENER);
            assertThat(passed.address()).isEqualTo(listener.localAddress());
            TcpListener successor = keep(passed.tcpListener(ListenOptions.standard()));
            Notifier.waitFor(successor, Interest.READABLE, Duration.ofSeconds(30));
            TcpStream accepted = keep(successor.accept());
            assertThat(accepted.remoteAddress()).isEqualTo(waiting.getLocalSocketAddress());
        }
    }

    @Test
    @DisplayName(
            "bp-6: accepted connections have the options of their own process, and the other's listener has its own")
    void options() throws Exception {
        TcpListener listener = keep(net.listen(ANY_PORT));
        PassedDescriptor passed = pass(listener);

        TcpListener successor = keep(passed.tcpListener(ListenOptions.standard().withNoDelay(true)));

        for (TcpListener each : List.of(successor, listener)) {
            try (Socket peer = new Socket(
                    listener.localAddress().getAddress(),
                    listener.localAddress().getPort())) {
                Notifier.waitFor(each, Interest.READABLE, Duration.ofSeconds(30));
                TcpStream accepted = keep(each.accept());
                assertThat(accepted.noDelay()).as("%s of %s", each, peer).isEqualTo(each == successor);
            }
        }
    }

    @Test
    @DisplayName("bp-6: a Unix listener that was passed leaves its file, until it is told that the file is its own")
    void theFileStays() throws Exception {
        Path path = directory.resolve("socket");
        UnixListener listener = keep(net.listen(UnixAddress.of(path)));
        PassedDescriptor passed = pass(listener);
        assertThat(passed.kind()).isEqualTo(PassedDescriptor.Kind.UNIX_LISTENER);
        assertThat(passed.unixAddress()).isEqualTo(listener.address());
        UnixListener successor = passed.unixListener(listener.address());
        assertThat(successor.removesFileOnClose()).isFalse();

        successor.close();
        assertThat(path).exists();

        UnixListener another = pass(listener).unixListener(listener.address());
        listener.removeFileOnClose(false);
        listener.close();
        assertThat(path).exists();
        UnixStream client = keep(net.connect(another.address()));
        assertThat(keep(another.accept()).address()).isEqualTo(client.address());

        another.removeFileOnClose(true);
        another.close();
        assertThat(path).doesNotExist();
    }

    @Test
    @DisplayName("bp-6: a descriptor becomes a source once, and of its own kind; whatever it is, it can be closed")
    void onceAndOfItsKind() throws Exception {
        PassedDescriptor udp = pass(keep(net.udp(ANY_PORT)));
        assertThat(udp.kind()).isEqualTo(PassedDescriptor.Kind.UDP_SOCKET);
        assertThatThrownBy(() -> udp.tcpListener(ListenOptions.standard()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("cannot make a TCP listener of a UDP socket on ");
        UdpSocket socket = keep(udp.udpSocket());
        assertThat(socket.localAddress()).isEqualTo(udp.address());
        assertThatThrownBy(udp::udpSocket).isInstanceOf(IllegalStateException.class);
        udp.close();
        assertThat(socket.trySendTo(ascii("x"), socket.localAddress()))
                .as("still open")
                .isEqualTo(1);

        PassedDescriptor stream = pass(here);
        assertThat(stream.kind()).isEqualTo(PassedDescriptor.Kind.OTHER);
        assertThat(stream.address()).isNull();
        assertThat(stream.unixAddress()).isNull();
        try (FdSource source = stream.source()) {
            assertThat(source.tryWrite(ascii("hello"))).isEqualTo(5);
        }
        ByteBuffer into = ByteBuffer.allocate(10);
        assertThat(there.tryRead(into)).isEqualTo(5);

        PassedDescriptor unused = pass(here);
        int fd = Integer.parseInt(unused.toString().replaceAll(".*fd (\\d+).*", "$1"));
        unused.close();
        unused.close();
        assertThat(Posix.probe(fd)).isNegative();
        assertThatThrownBy(unused::source).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("bp-6: with NIO there are no descriptors to pass, and the exception says what to do")
    void notWithChannels() throws Exception {
        UnixListener listener = keep(Net.nio().listen(UnixAddress.of(directory.resolve("nio"))));
        UnixStream stream = keep(Net.nio().connect(listener.address()));

        assertThatThrownBy(() -> stream.tryWrite(ascii("x"), here))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("Net.natively()");
        assertThatThrownBy(() -> here.tryWrite(ascii("x"), listener)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> stream.tryRead(ByteBuffer.allocate(1), new ArrayList<>()))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(stream::peer).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> here.tryWrite(ByteBuffer.allocate(0), here))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @DisplayName("bp-6: this process is the same user")
    void peer() throws Exception {
        assertThat(there.peer().isSameUserOrRoot()).isTrue();
        assertThat(new UnixPeer(1, there.peer().uid() + 1, 1).isSameUserOrRoot())
                .isFalse();
        assertThat(new UnixPeer(1, 0, 1).isSameUserOrRoot()).isTrue();
    }

    // ---- By the service manager ----

    /** Returns another number for the same open file, as the service manager would have left it. */
    private static int numberOf(io.millrace.poll.Source source) throws IOException {
        return Fds.duplicate(((Descriptor) ((KernelHandle) source.handle()).system()).fd());
    }

    @Test
    @DisplayName("bp-6: the sockets of LISTEN_FDS are taken if LISTEN_PID is this process, with their names")
    void theSocketsOfTheServiceManager() throws Exception {
        TcpListener listener = keep(net.listen(ANY_PORT));
        int fd = numberOf(listener);

        List<PassedDescriptor> sockets =
                Systemd.sockets(Map.of("LISTEN_PID", "7", "LISTEN_FDS", "1", "LISTEN_FDNAMES", "web"), 7, fd);

        assertThat(sockets).hasSize(1);
        PassedDescriptor socket = keep(sockets.getFirst());
        assertThat(socket.name()).isEqualTo("web");
        assertThat(socket.kind()).isEqualTo(PassedDescriptor.Kind.TCP_LISTENER);
        assertThat(socket.toString()).contains("web").contains("fd " + fd);
    }

    @Test
    @DisplayName("bp-6: the sockets of another process are left alone")
    void theSocketsOfAnother() throws Exception {
        int fd = numberOf(keep(net.listen(ANY_PORT)));

        assertThat(Systemd.sockets(Map.of("LISTEN_PID", "8", "LISTEN_FDS", "1"), 7, fd))
                .isEmpty();
        assertThat(Systemd.sockets(Map.of("LISTEN_FDS", "1"), 7, fd)).isEmpty();
        assertThat(Systemd.sockets(Map.of(), 7, fd)).isEmpty();

        assertThat(Posix.probe(fd)).isNotNegative();
        keep(PassedDescriptor.owned(fd));
    }

    @Test
    @DisplayName("bp-6: variables that make no sense are told, with what to do")
    void nonsense() throws Exception {
        for (String count : List.of("many", "-1", "2147483647", "")) {
            assertThatThrownBy(() -> Systemd.sockets(Map.of("LISTEN_PID", "7", "LISTEN_FDS", count), 7, 3))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("LISTEN_FDS");
        }
        int last = numberOf(here); // the lowest free number, so that the next one is free
        Posix.close(last);
        assertThatThrownBy(() -> Systemd.sockets(Map.of("LISTEN_PID", "7", "LISTEN_FDS", "1"), 7, last))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("not an open file descriptor");
        assertThatThrownBy(() -> Systemd.notify("relative", "READY=1"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("NOTIFY_SOCKET is relative");
        assertThat(Systemd.notify(null, "READY=1")).isFalse();
    }
}
