package io.millrace.sys.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The system calls against a {@code java.net.Socket} as their peer. */
@EnabledOnOs({OS.LINUX, OS.MAC, OS.FREEBSD})
class SocketsTest {
    private static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

    @Test
    void aConnectionIsAcceptedAndBytesGoBothWays() throws Exception {
        Descriptor listener = Sockets.listen(ANY_PORT, 16);
        InetSocketAddress local = Sockets.localAddress(listener.fd());
        assertThat(Sockets.accept(listener.fd())).isNull();
        CallState state = CallState.borrow();
        MemorySegment memory = Arena.global().allocate(16);
        try (Socket peer = new Socket(local.getAddress(), local.getPort())) {
            Sockets.Accepted accepted = awaitConnection(listener);
            int fd = accepted.descriptor().fd();
            assertThat(accepted.remote()).isEqualTo(peer.getLocalSocketAddress());
            assertThat(Sockets.receive(state, fd, memory.address(), 16)).isEqualTo(-Errno.EAGAIN.code());

            memory.setString(0, "hello");
            assertThat(Sockets.send(state, fd, memory.address(), 5)).isEqualTo(5);
            assertThat(peer.getInputStream().readNBytes(5)).containsExactly('h', 'e', 'l', 'l', 'o');

            SocketSetting.NO_DELAY.set(fd, 1);
            assertThat(SocketSetting.NO_DELAY.get(fd)).isEqualTo(1);
            Sockets.shutdownOutput(fd);
            assertThat(peer.getInputStream().read()).isEqualTo(-1);
            accepted.descriptor().close();
        }
        listener.close();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void everySocketIsNonBlockingAndCloseOnExec() throws Exception {
        Descriptor listener = Sockets.listen(ANY_PORT, 16);
        Sockets.Connecting client = Sockets.connect(Sockets.localAddress(listener.fd()));
        Sockets.Accepted accepted = awaitConnection(listener);
        byte[] name = UnixNames.ofAbstract("millrace-" + ProcessHandle.current().pid());
        Descriptor unix = Sockets.listen(name, 16);
        Descriptor unixClient = Sockets.connect(name);
        Descriptor unixServer = Sockets.acceptUnix(unix.fd());
        assertThat(Sockets.acceptUnix(unix.fd())).isNull();
        for (Descriptor each :
                new Descriptor[] {listener, client.descriptor(), accepted.descriptor(), unix, unixClient, unixServer}) {
            String info = Files.readString(Path.of("/proc/self/fdinfo/" + each.fd()));
            // O_CLOEXEC and O_NONBLOCK, in octal as the kernel prints them, beside O_RDWR.
            assertThat(info).containsPattern("flags:\t02004002");
            each.close();
        }
    }

    @Test
    void aFailureNamesCallDescriptorAndReason() throws Exception {
        Descriptor listener = Sockets.listen(ANY_PORT, 16);

        assertThatThrownBy(() -> Sockets.listen(Sockets.localAddress(listener.fd()), 16))
                .isInstanceOf(ErrnoException.class)
                .hasMessageMatching("bind on fd \\d+ failed: EADDRINUSE \\(address already in use\\)");
        listener.close();
        Pipes.Ends pipe = Pipes.open();
        assertThatThrownBy(() -> Sockets.localAddress(pipe.reader().fd()))
                .hasMessageContaining("getsockname on fd " + pipe.reader().fd() + " failed: ENOTSOCK");
        pipe.reader().close();
        pipe.writer().close();
    }

    @Test
    void aRefusedConnectTellsSoOnceItHasEnded() throws Exception {
        try (SocketChannel bound = SocketChannel.open().bind(ANY_PORT)) { // but it does not listen
            InetSocketAddress nobody = (InetSocketAddress) bound.getLocalAddress();
            assertThatThrownBy(() -> {
                        Sockets.Connecting connecting = Sockets.connect(nobody);
                        try {
                            awaitWritable(connecting.descriptor());
                            Sockets.finishConnect(connecting.descriptor().fd());
                        } finally {
                            connecting.descriptor().close();
                        }
                    })
                    .isInstanceOfSatisfying(
                            ErrnoException.class,
                            e -> assertThat(e.is(Errno.ECONNREFUSED)).isTrue());
        }
    }

    private static Sockets.Accepted awaitConnection(Descriptor listener) throws Exception {
        await(listener, Posix.POLLIN);
        Sockets.Accepted accepted = Sockets.accept(listener.fd());
        assertThat(accepted).isNotNull();
        return accepted;
    }

    private static void awaitWritable(Descriptor descriptor) {
        await(descriptor, Posix.POLLOUT);
    }

    private static void await(Descriptor descriptor, short event) {
        MemorySegment pollfd = Arena.global().allocate(8, 4);
        pollfd.set(ValueLayout.JAVA_INT, 0, descriptor.fd());
        pollfd.set(ValueLayout.JAVA_SHORT, 4, event);
        assertThat(Posix.poll(CallState.borrow(), pollfd.address(), 1, 10_000)).isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Errno.class,
            names = {
                "ECONNABORTED",
                "EPROTO",
                "ENETDOWN",
                "ENOPROTOOPT",
                "EHOSTDOWN",
                "ENONET",
                "EHOSTUNREACH",
                "EOPNOTSUPP",
                "ENETUNREACH",
                "EPERM"
            })
    @DisplayName("mill-11: a connection that failed while it waited is passed over by accept")
    void aLostConnectionIsPassedOver(Errno lost) throws Exception {
        Iterator<Integer> results =
                List.of(-lost.code(), -Errno.EINTR.code(), -lost.code(), 42).iterator();
        assertThat(Sockets.passOverTheLost(3, results::next)).isEqualTo(42);
        assertThat(results.hasNext()).isFalse();

        Iterator<Integer> none = List.of(-lost.code(), -Errno.EAGAIN.code()).iterator();
        assertThat(Sockets.passOverTheLost(3, none::next)).isEqualTo(-Errno.EAGAIN.code());

        assertThatThrownBy(() -> Sockets.passOverTheLost(3, () -> -lost.code()))
                .as("one that does not end is the listener's")
                .isInstanceOf(ErrnoException.class)
                .hasMessageContaining(lost.name());
    }

    @ParameterizedTest
    @EnumSource(
            value = Errno.class,
            names = {"EMFILE", "ENFILE", "ENOBUFS", "ENOMEM", "EINVAL", "EBADF", "ENOTSOCK"})
    @DisplayName("mill-11: what is wrong with the listener, or with the process, is told")
    void whatIsWrongWithTheListenerIsTold(Errno error) {
        Iterator<Integer> results = List.of(-error.code(), 42).iterator();
        assertThatThrownBy(() -> Sockets.passOverTheLost(3, results::next))
                .isInstanceOf(ErrnoException.class)
                .hasMessageContaining(error.name());
    }
}
