package io.millrace.sys.posix;

import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Downcall;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Iovecs;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Descriptors that other code opened: what they are, and how to use them without blocking and without changing their
 * flags.
 *
 * <p>O_NONBLOCK belongs to the open file, not to the number: set on our stdin, it would also be set for the shell, and
 * for every program that shares the terminal. So calls on a socket use MSG_DONTWAIT; a pipe or a terminal is opened a
 * second time through {@code /proc/self/fd}, which creates an open file with separate flags; and for everything else,
 * poll(2) is called before each call.
 *
 * <p>On systems other than Linux only sockets are recognized, and everything else is checked with poll(2).
 */
public final class Fds {
    /** What a descriptor refers to, as far as it makes a difference here. */
    public enum Kind {
        /** A regular file: always ready, not watched by any backend. */
        REGULAR("a regular file"),
        /** A directory or a block device: as a regular file. */
        ALWAYS_READY("a directory or block device"),
        /** A pipe, named or not. */
        PIPE("a pipe"),
        /** A socket whose bytes have no boundaries, or that listens. */
        SOCKET("a socket"),
        /** A datagram socket, on which receiving no bytes does not mean the end. */
        DATAGRAM("a datagram socket"),
        /** A terminal that can be opened again: a pseudo-terminal's slave, a console, a serial line. */
        TERMINAL("a terminal"),
        /** The master of a pseudo-terminal: opening it again would create another terminal. */
        TERMINAL_MASTER("a terminal's master"),
        /** eventfd, inotify, pidfd, other devices. */
        OTHER("a descriptor of its own kind");

        private final String description;

        Kind(String description) {
            this.description = description;
        }

        /** Returns a description with its article. */
        public String description() {
            return description;
        }

        /** Returns whether no backend has to watch it. */
        public boolean isAlwaysReady() {
            return this == REGULAR || this == ALWAYS_READY;
        }

        /** Returns whether opening {@code /proc/self/fd/N} gives the same thing with separate flags. */
        public boolean canBeReopened() {
            return this == PIPE || this == TERMINAL;
        }
    }

    /** A part of {@code struct statx}, which is the same on every CPU. */
    record Status(int mode, long size, long modifiedSecond, int modifiedNanos, int deviceMajor, int deviceMinor) {}

    private static final int STATX_BYTES = 256;
    private static final int STATX_MODE = 28;
    private static final int STATX_SIZE = 40;
    private static final int STATX_MODIFIED_SECOND = 112;
    private static final int STATX_MODIFIED_NANOS = 120;
    private static final int STATX_RDEV_MAJOR = 128;
    private static final int STATX_RDEV_MINOR = 132;
    private static final int STATX_TYPE_TIME_AND_SIZE = 0x1 | 0x40 | 0x200;
    private static final int AT_EMPTY_PATH = 0x1000;

    private static final int S_IFMT = 0170000;
    private static final int S_IFIFO = 0010000;
    private static final int S_IFCHR = 0020000;
    private static final int S_IFDIR = 0040000;
    private static final int S_IFBLK = 0060000;
    private static final int S_IFREG = 0100000;
    private static final int S_IFSOCK = 0140000;

    private static final int TTY_MAJOR = 4;
    private static final int TTYAUX_MAJOR = 5;
    private static final int PTMX_MINOR = 2;
    private static final int UNIX98_SLAVE_MAJOR = 136;
    private static final int UNIX98_SLAVE_MAJORS = 8;

    private static final boolean BSD = Os.current().isBsd();
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int F_SETFD = 2;
    private static final int F_DUPFD_CLOEXEC = switch (Os.current()) {
        case MACOS -> 67;
        case FREEBSD -> 17;
        case LINUX, OTHER -> 1030;
    };
    private static final int FD_CLOEXEC = 1;
    private static final int O_ACCMODE = 3;
    private static final int O_NOCTTY = 0x100;
    static final int O_NONBLOCK = BSD ? 0x4 : 0x800;
    static final int O_CLOEXEC = 0x80000;
    private static final int SOL_SOCKET = BSD ? 0xffff : 1;
    private static final int SO_TYPE = BSD ? 0x1008 : 3;
    private static final int SOCK_DGRAM = 2;
    private static final long MSG_DONTWAIT = BSD ? 0x80 : 0x40;
    private static final long MSG_NOSIGNAL = Os.current() == Os.LINUX ? 0x4000 : 0;

    private Fds() {}

    /** Returns what the number refers to. */
    public static Kind kind(int fd) throws ErrnoException {
        if (Os.current() != Os.LINUX) {
            return unknownKind(fd);
        }
        Status status;
        try {
            status = status(fd);
        } catch (ErrnoException e) {
            if (e.is(Errno.ENOSYS) || e.is(Errno.EPERM)) {
                return unknownKind(fd); // an old kernel or a filter; poll(2) handles unknown kinds
            }
            throw e;
        }
        return switch (status.mode() & S_IFMT) {
            case S_IFREG -> Kind.REGULAR;
            case S_IFDIR, S_IFBLK -> Kind.ALWAYS_READY;
            case S_IFIFO -> Kind.PIPE;
            case S_IFSOCK -> socketKind(fd);
            case S_IFCHR -> deviceKind(status.deviceMajor(), status.deviceMinor());
            default -> Kind.OTHER;
        };
    }

    /** For a number that refers to something unknown, perhaps a socket. */
    private static Kind unknownKind(int fd) throws ErrnoException {
        Downcall.check("fcntl(F_GETFD)", fd, Posix.probe(fd));
        return socketKind(fd);
    }

    static Kind deviceKind(int major, int minor) {
        if (major == TTYAUX_MAJOR && minor == PTMX_MINOR) {
            return Kind.TERMINAL_MASTER;
        }
        boolean slave = major >= UNIX98_SLAVE_MAJOR && major < UNIX98_SLAVE_MAJOR + UNIX98_SLAVE_MAJORS;
        return slave || major == TTY_MAJOR ? Kind.TERMINAL : Kind.OTHER;
    }

    private static Kind socketKind(int fd) {
        try (CallState state = CallState.borrow()) {
            long value = state.scratch();
            Posix.putInt(value, 0);
            Posix.putInt(value + 4, 4);
            int result = Downcall.run(state, SocketCalls.GETSOCKOPT, fd, SOL_SOCKET, SO_TYPE, value, value + 4);
            if (result < 0) {
                return Kind.OTHER;
            }
            return Posix.getInt(value) == SOCK_DGRAM ? Kind.DATAGRAM : Kind.SOCKET;
        }
    }

    static Status status(int fd) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            long buffer = state.scratch();
            long emptyPath = buffer + STATX_BYTES;
            Posix.putInt(emptyPath, 0);
            int result =
                    Downcall.run(state, Linux.STATX, fd, emptyPath, AT_EMPTY_PATH, STATX_TYPE_TIME_AND_SIZE, buffer);
            Downcall.check("statx", fd, result);
            return new Status(
                    Short.toUnsignedInt(Posix.getShort(buffer + STATX_MODE)),
                    Posix.getLong(buffer + STATX_SIZE),
                    Posix.getLong(buffer + STATX_MODIFIED_SECOND),
                    Posix.getInt(buffer + STATX_MODIFIED_NANOS),
                    Posix.getInt(buffer + STATX_RDEV_MAJOR),
                    Posix.getInt(buffer + STATX_RDEV_MINOR));
        }
    }

    /** Returns whether calls on the open file do not block at this moment; others that share it may change that. */
    public static boolean isNonBlocking(int fd) throws ErrnoException {
        int flags = Posix.fcntl(fd, F_GETFL, 0);
        return (Downcall.check("fcntl(F_GETFL)", fd, flags) & O_NONBLOCK) != 0;
    }

    /** Returns another number for the same open file, close-on-exec and not one of the first three. */
    public static int duplicate(int fd) throws ErrnoException {
        return Downcall.check("fcntl(F_DUPFD_CLOEXEC)", fd, Posix.fcntl(fd, F_DUPFD_CLOEXEC, 3));
    }

    /** Makes calls on the open file not block: for one that is ours alone, or that nobody else reads and writes. */
    public static void setNonBlocking(int fd) throws ErrnoException {
        int flags = Downcall.check("fcntl(F_GETFL)", fd, Posix.fcntl(fd, F_GETFL, 0));
        if ((flags & O_NONBLOCK) == 0) {
            Downcall.check("fcntl(F_SETFL)", fd, Posix.fcntl(fd, F_SETFL, flags | O_NONBLOCK));
        }
    }

    /** Makes the number close-on-exec, because it is ours. This does not affect the open file. */
    public static void setCloseOnExec(int fd) throws ErrnoException {
        Downcall.check("fcntl(F_SETFD)", fd, Posix.fcntl(fd, F_SETFD, FD_CLOEXEC));
    }

    /**
     * Opens again what the number refers to, with the same access, close-on-exec and non-blocking.
     *
     * @return the new number; or {@code -errno}: there is no {@code /proc}, it belongs to another user, or a named pipe
     *     has no reader
     */
    public static int reopen(int fd) {
        try (CallState state = CallState.borrow()) {
            if (Os.current() != Os.LINUX) {
                return -Errno.ENOSYS.code();
            }
            int flags = Posix.fcntl(state, fd, F_GETFL, 0);
            if (flags < 0) {
                return flags;
            }
            try (Arena arena = Arena.ofConfined()) {
                long path = arena.allocateFrom("/proc/self/fd/" + fd).address();
                int mine = (flags & O_ACCMODE) | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
                int result;
                do {
                    result = Downcall.run(state, Files.Opening.OPEN, path, mine, 0);
                } while (Errno.isInterrupted(result));
                return result;
            }
        }
    }

    /** Makes {@code fd} refer to what {@code reopened} refers to, close-on-exec; {@code reopened} is closed. */
    public static void replace(int fd, int reopened) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            int result;
            do {
                result = Downcall.run(state, Linux.DUP3, reopened, fd, O_CLOEXEC);
            } while (Errno.isInterrupted(result));
            Posix.close(state, reopened);
            Downcall.check("dup3", fd, result);
        }
    }

    /** Receives without blocking, regardless of the socket's flags. Returns the same as {@link Sockets#receive}. */
    public static long receiveNow(CallState state, int fd, long address, long bytes) {
        try {
            return state.longResult(
                    (long) SocketCalls.RECV.invokeExact(state.segment, (long) fd, address, bytes, MSG_DONTWAIT));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    /**
     * Sends without blocking and without SIGPIPE, regardless of the socket's flags. Returns the same as {@link
     * Sockets#send}.
     */
    public static long sendNow(CallState state, int fd, long address, long bytes) {
        try {
            return state.longResult((long) SocketCalls.SEND.invokeExact(
                    state.segment, (long) fd, address, bytes, MSG_DONTWAIT | MSG_NOSIGNAL));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    /**
     * Like {@link #receiveNow(CallState, int, long, long)}, into a user's native segment, which cannot be freed during
     * the call.
     */
    public static long receiveNow(CallState state, int fd, MemorySegment into, long bytes) {
        return Sockets.receive(state, fd, into, bytes, MSG_DONTWAIT);
    }

    /**
     * Like {@link #sendNow(CallState, int, long, long)}, from a user's native segment, which cannot be freed during the
     * call.
     */
    public static long sendNow(CallState state, int fd, MemorySegment from, long bytes) {
        return Sockets.send(state, fd, from, bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    }

    /** Like {@link #receiveNow(CallState, int, long, long)}, into several buffers. */
    public static long receiveNow(CallState state, int fd, Iovecs into) {
        return Sockets.receiveMessage(state, fd, into.header(), MSG_DONTWAIT);
    }

    /** Like {@link #sendNow(CallState, int, long, long)}, from several buffers. */
    public static long sendNow(CallState state, int fd, Iovecs from) {
        return Sockets.sendMessage(state, fd, from.header(), MSG_DONTWAIT | MSG_NOSIGNAL);
    }

    /** Reads if poll(2) says that a read will not block. Returns the count, 0 at the end, or {@code -errno}. */
    public static long readIfReady(CallState state, int fd, long address, long bytes) {
        int ready = isReady(state, fd, Posix.POLLIN);
        return ready < 0 ? ready : Posix.read(state, fd, address, bytes);
    }

    /** Writes if poll(2) says that a write of that size will not block. Returns the count, or {@code -errno}. */
    public static long writeIfReady(CallState state, int fd, long address, long bytes) {
        int ready = isReady(state, fd, Posix.POLLOUT);
        return ready < 0 ? ready : Posix.write(state, fd, address, bytes);
    }

    /**
     * Like {@link #readIfReady(CallState, int, long, long)}, into a user's native segment, which cannot be freed during
     * the call.
     */
    public static long readIfReady(CallState state, int fd, MemorySegment into, long bytes) {
        int ready = isReady(state, fd, Posix.POLLIN);
        return ready < 0 ? ready : Posix.read(state, fd, into, bytes);
    }

    /**
     * Like {@link #writeIfReady(CallState, int, long, long)}, from a user's native segment, which cannot be freed
     * during the call.
     */
    public static long writeIfReady(CallState state, int fd, MemorySegment from, long bytes) {
        int ready = isReady(state, fd, Posix.POLLOUT);
        return ready < 0 ? ready : Posix.write(state, fd, from, bytes);
    }

    /** Like {@link #readIfReady(CallState, int, long, long)}, into several buffers. */
    public static long readIfReady(CallState state, int fd, Iovecs into) {
        int ready = isReady(state, fd, Posix.POLLIN);
        return ready < 0 ? ready : Posix.read(state, fd, into);
    }

    /** Like {@link #writeIfReady(CallState, int, long, long)}, from several buffers. */
    public static long writeIfReady(CallState state, int fd, Iovecs from) {
        int ready = isReady(state, fd, Posix.POLLOUT);
        return ready < 0 ? ready : Posix.write(state, fd, from);
    }

    /**
     * Returns a positive number, {@code -EAGAIN}, or another {@code -errno}. A hang-up or an error counts as ready: the
     * call will report it.
     */
    private static int isReady(CallState state, int fd, short direction) {
        long pollfd = state.scratch();
        Posix.putInt(pollfd, fd);
        Posix.putShort(pollfd + 4, direction);
        Posix.putShort(pollfd + 6, (short) 0);
        int found = Posix.poll(state, pollfd, 1, 0);
        if (found == 0) {
            return -Errno.EAGAIN.code();
        }
        boolean bad = found > 0 && (Posix.getShort(pollfd + 6) & Posix.POLLNVAL) != 0;
        return bad ? -Errno.EBADF.code() : found;
    }

    private static final class Linux {
        static final MethodHandle STATX = Native.link("statx", 5);
        static final MethodHandle DUP3 = Native.link("dup3", 3);
    }

    private static final class SocketCalls {
        static final MethodHandle GETSOCKOPT = Native.link("getsockopt", 5);
        static final MethodHandle RECV = Native.link("recv", 4);
        static final MethodHandle SEND = Native.link("send", 4);
    }
}
