package io.millrace.sys.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Downcall;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.Posix;
import io.millrace.sys.selector.SingleWait;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class FdsTest {
    private static final int O_RDWR_NOCTTY = 0x2 | 0x100;

    private final CallState state = CallState.borrow();
    private final List<Integer> opened = new ArrayList<>();

    @AfterEach
    void close() {
        opened.forEach(fd -> Posix.close(state, fd));
    }

    @Test
    void aDescriptorIsWhatItIs() throws Exception {
        Pipes.Ends pipe = Pipes.open();
        Descriptor socket = Sockets.listen(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1);
        keep(pipe.reader().fd());
        keep(pipe.writer().fd());
        keep(socket.fd());

        assertThat(Fds.kind(pipe.reader().fd())).isEqualTo(Fds.Kind.PIPE);
        assertThat(Fds.kind(socket.fd())).isEqualTo(Fds.Kind.SOCKET);
        assertThat(Fds.kind(open("/proc/self/status"))).isEqualTo(Fds.Kind.REGULAR);
        assertThat(Fds.kind(open("/tmp"))).isEqualTo(Fds.Kind.ALWAYS_READY);
        assertThat(Fds.kind(open("/dev/null"))).isEqualTo(Fds.Kind.OTHER);
        assertThatThrownBy(() -> Fds.kind(999_999))
                .isInstanceOfSatisfying(
                        ErrnoException.class, e -> assertThat(e.is(Errno.EBADF)).isTrue());
    }

    @Test
    void aTerminalIsOpenedAgainWithFlagsOfItsOwn() throws Exception {
        int master = keep(Downcall.run(state, Pty.OPENPT, O_RDWR_NOCTTY));
        assertThat(Downcall.run(state, Pty.GRANTPT, master)).isZero();
        assertThat(Downcall.run(state, Pty.UNLOCKPT, master)).isZero();
        String name;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(64);
            assertThat(Downcall.run(state, Pty.PTSNAME_R, master, buffer.address(), 64))
                    .isZero();
            name = buffer.getString(0);
        }
        int slave = open(name);
        assertThat(Fds.kind(master)).isEqualTo(Fds.Kind.TERMINAL_MASTER);
        assertThat(Fds.kind(slave)).isEqualTo(Fds.Kind.TERMINAL);

        int again = keep(Fds.reopen(slave));

        assertThat(Fds.isNonBlocking(again)).isTrue();
        assertThat(Fds.isNonBlocking(slave)).isFalse();
        assertThat(Posix.read(state, again, state.scratch(), 8)).isEqualTo(-Errno.EAGAIN.code());
        assertThat(Fds.readIfReady(state, slave, state.scratch() + 64, 8)).isEqualTo(-Errno.EAGAIN.code());
        Posix.putInt(state.scratch(), 0x0a6c6c69); // "ill\n", and the terminal hands out whole lines
        assertThat(Posix.write(state, master, state.scratch(), 4)).isEqualTo(4);
        assertThat(SingleWait.await(new Descriptor(again, true), Bits.READABLE, 20_000_000_000L))
                .isEqualTo(Bits.READABLE);
        assertThat(Fds.readIfReady(state, slave, state.scratch() + 64, 8)).isEqualTo(4);
    }

    @Test
    void onlyATerminalThatCanBeNamedIsOpenedAgain() {
        assertThat(Fds.deviceKind(136, 0)).isEqualTo(Fds.Kind.TERMINAL);
        assertThat(Fds.deviceKind(143, 255)).isEqualTo(Fds.Kind.TERMINAL);
        assertThat(Fds.deviceKind(4, 64)).isEqualTo(Fds.Kind.TERMINAL);
        assertThat(Fds.deviceKind(5, 2)).isEqualTo(Fds.Kind.TERMINAL_MASTER);
        assertThat(Fds.deviceKind(1, 3)).isEqualTo(Fds.Kind.OTHER);
        assertThat(Set.of(Fds.Kind.values()))
                .filteredOn(Fds.Kind::canBeReopened)
                .containsExactlyInAnyOrder(Fds.Kind.PIPE, Fds.Kind.TERMINAL);
    }

    @Test
    void aPipeThatIsOpenedAgainIsTheSamePipe() throws Exception {
        Pipes.Ends pipe = Pipes.open();
        keep(pipe.writer().fd());
        int again = keep(Fds.reopen(pipe.writer().fd()));
        assertThat(Posix.write(state, again, state.scratch(), 3)).isEqualTo(3);
        assertThat(Posix.read(state, pipe.reader().fd(), state.scratch(), 8)).isEqualTo(3);

        pipe.reader().close();

        assertThat(Posix.write(state, again, state.scratch(), 3)).isEqualTo(-Errno.EPIPE.code());
    }

    @Test
    void aDuplicateIsCloseOnExecAndNoStandardStream() throws Exception {
        int copy = keep(Fds.duplicate(0));

        assertThat(copy).isGreaterThan(2);
        assertThat(Posix.fcntl(state, copy, 1, 0)).as("FD_CLOEXEC").isEqualTo(1);
    }

    private int open(String path) {
        try (Arena arena = Arena.ofConfined()) {
            boolean plain = Path.of(path).startsWith("/proc") || path.equals("/tmp");
            return keep(Downcall.run(
                    state, Files.Opening.OPEN, arena.allocateFrom(path).address(), plain ? 0 : O_RDWR_NOCTTY, 0));
        }
    }

    private int keep(int fd) {
        assertThat(fd).as("the call failed").isNotNegative();
        opened.add(fd);
        return fd;
    }

    private static final class Pty {
        static final MethodHandle OPENPT = Native.link("posix_openpt", 1);
        static final MethodHandle GRANTPT = Native.link("grantpt", 1);
        static final MethodHandle UNLOCKPT = Native.link("unlockpt", 1);
        static final MethodHandle PTSNAME_R = Native.link("ptsname_r", 3);
    }
}
