package io.millrace.sys.call;

import static io.millrace.sys.call.Native.MEMORY;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The calls on descriptors that every Unix has. They return the call's result, or {@code -errno}; nothing here throws
 * for a failed call, because would-block is a value.
 */
public final class Posix {
    public static final short POLLIN = 0x0001;
    public static final short POLLPRI = 0x0002;
    public static final short POLLOUT = 0x0004;
    public static final short POLLERR = 0x0008;
    public static final short POLLHUP = 0x0010;
    public static final short POLLNVAL = 0x0020;
    /** Linux only. */
    public static final short POLLRDHUP = 0x2000;

    private static final MethodHandle CLOSE = Native.link("close", 1);

    private static final int F_GETFD = 1;
    private static final int F_SETFD = 2;
    private static final int F_GETFL = 3;
    private static final int F_SETFL = 4;
    private static final int FD_CLOEXEC = 1;
    private static final int O_NONBLOCK = Os.current().isBsd() ? 0x4 : 0x800;
    private static final int O_CLOEXEC_LINUX = 0x80000;

    private Posix() {}

    public static long read(CallState state, int fd, long address, long bytes) {
        return Data.read(state, fd, address, bytes);
    }

    public static long write(CallState state, int fd, long address, long bytes) {
        return Data.write(state, fd, address, bytes);
    }

    /**
     * Like {@link #read(CallState, int, long, long)}, into a user's native segment, which cannot be freed during the
     * call.
     */
    public static long read(CallState state, int fd, MemorySegment into, long bytes) {
        try {
            return state.longResult((long) Segments.READ.invokeExact(state.segment, (long) fd, into, bytes));
        } catch (Throwable thrown) {
            throw Native.refusedSegment(thrown);
        }
    }

    /**
     * Like {@link #write(CallState, int, long, long)}, from a user's native segment, which cannot be freed during the
     * call.
     */
    public static long write(CallState state, int fd, MemorySegment from, long bytes) {
        try {
            return state.longResult((long) Segments.WRITE.invokeExact(state.segment, (long) fd, from, bytes));
        } catch (Throwable thrown) {
            throw Native.refusedSegment(thrown);
        }
    }

    public static long read(CallState state, int fd, Iovecs into) {
        return Vectors.read(state, fd, into.array(), into.count());
    }

    public static long write(CallState state, int fd, Iovecs from) {
        return Vectors.write(state, fd, from.array(), from.count());
    }

    /** Never retried: after EINTR, the number may already have been reused. */
    public static int close(CallState state, int fd) {
        try {
            return state.result((long) CLOSE.invokeExact(state.segment, (long) fd));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    public static int close(int fd) {
        try (CallState state = CallState.borrow()) {
            return close(state, fd);
        }
    }

    public static int poll(CallState state, long pollfds, int count, int timeoutMillis) {
        return Data.poll(state, pollfds, count, timeoutMillis);
    }

    /** Checks whether the number refers to an open file. Returns 0, or {@code -EBADF}. */
    public static int probe(int fd) {
        return fcntl(fd, F_GETFD, 0);
    }

    /** Opens a pipe whose ends are close-on-exec and non-blocking; {@code ends[0]} reads, {@code ends[1]} writes. */
    public static int pipe(CallState state, int[] ends) {
        boolean linux = Os.current() == Os.LINUX;
        int result;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pair = arena.allocate(ValueLayout.JAVA_INT, 2);
            result = linux
                    ? state.result((long) Linux.PIPE2.invokeExact(
                            state.segment, pair.address(), (long) (O_NONBLOCK | O_CLOEXEC_LINUX)))
                    : state.result((long) Bsd.PIPE.invokeExact(state.segment, pair.address()));
            if (result < 0) {
                return result;
            }
            ends[0] = pair.getAtIndex(ValueLayout.JAVA_INT, 0);
            ends[1] = pair.getAtIndex(ValueLayout.JAVA_INT, 1);
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
        if (!linux) {
            for (int end : ends) {
                setNonBlockingAndCloseOnExec(state, end);
            }
        }
        return 0;
    }

    /**
     * For descriptors that we created ourselves with a call that cannot set the flags at once. Never for an adopted
     * one.
     */
    public static void setNonBlockingAndCloseOnExec(CallState state, int fd) {
        fcntl(state, fd, F_SETFD, FD_CLOEXEC);
        fcntl(state, fd, F_SETFL, fcntl(state, fd, F_GETFL, 0) | O_NONBLOCK);
    }

    public static int fcntl(int fd, int command, int argument) {
        try (CallState state = CallState.borrow()) {
            return fcntl(state, fd, command, argument);
        }
    }

    public static int fcntl(CallState state, int fd, int command, int argument) {
        try {
            return state.result(
                    (long) Fcntl.FCNTL.invokeExact(state.segment, (long) fd, (long) command, (long) argument));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    public static int getInt(long address) {
        return MEMORY.get(ValueLayout.JAVA_INT_UNALIGNED, address);
    }

    public static void putInt(long address, int value) {
        MEMORY.set(ValueLayout.JAVA_INT_UNALIGNED, address, value);
    }

    public static short getShort(long address) {
        return MEMORY.get(ValueLayout.JAVA_SHORT_UNALIGNED, address);
    }

    public static void putShort(long address, short value) {
        MEMORY.set(ValueLayout.JAVA_SHORT_UNALIGNED, address, value);
    }

    public static long getLong(long address) {
        return MEMORY.get(ValueLayout.JAVA_LONG_UNALIGNED, address);
    }

    public static void putLong(long address, long value) {
        MEMORY.set(ValueLayout.JAVA_LONG_UNALIGNED, address, value);
    }

    private static final class Segments {
        static final MethodHandle READ = Native.linkWithSegment("read", 3, 1);
        static final MethodHandle WRITE = Native.linkWithSegment("write", 3, 1);
    }

    @SuppressWarnings("serial")
    private static final class Data extends NotInlined {
        static final MethodHandle READ = Native.link("read", 3);
        static final MethodHandle WRITE = Native.link("write", 3);
        static final MethodHandle POLL = Native.link("poll", 3);

        static long read(CallState state, int fd, long address, long bytes) {
            try {
                return state.longResult((long) READ.invokeExact(state.segment, (long) fd, address, bytes));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }

        static long write(CallState state, int fd, long address, long bytes) {
            try {
                return state.longResult((long) WRITE.invokeExact(state.segment, (long) fd, address, bytes));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }

        static int poll(CallState state, long pollfds, int count, int timeoutMillis) {
            try {
                return state.result(
                        (long) POLL.invokeExact(state.segment, pollfds, (long) count, (long) timeoutMillis));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }
    }

    @SuppressWarnings("serial")
    private static final class Vectors extends NotInlined {
        static final MethodHandle READV = Native.link("readv", 3);
        static final MethodHandle WRITEV = Native.link("writev", 3);

        static long read(CallState state, int fd, long iovecs, long count) {
            try {
                return state.longResult((long) READV.invokeExact(state.segment, (long) fd, iovecs, count));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }

        static long write(CallState state, int fd, long iovecs, long count) {
            try {
                return state.longResult((long) WRITEV.invokeExact(state.segment, (long) fd, iovecs, count));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }
    }

    private static final class Fcntl {
        static final MethodHandle FCNTL = Native.linkVariadic("fcntl", 3, 2);
    }

    private static final class Linux {
        static final MethodHandle PIPE2 = Native.link("pipe2", 2);
    }

    private static final class Bsd {
        static final MethodHandle PIPE = Native.link("pipe", 1);
    }
}
