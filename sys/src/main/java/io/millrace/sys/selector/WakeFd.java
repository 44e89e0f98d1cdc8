package io.millrace.sys.selector;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The descriptor with which another thread ends a wait: an eventfd on Linux, a pipe elsewhere.
 *
 * <p>Waking holds a use of the descriptor, so a late wake after close cannot write to another file with the same
 * number.
 */
final class WakeFd {
    private static final int EFD_CLOEXEC = 0x80000;
    private static final int EFD_NONBLOCK = 0x800;
    private static final long ONE = one();

    private final Descriptor reader;
    private final Descriptor writer;
    private final long bytes;

    private WakeFd(Descriptor reader, Descriptor writer, long bytes) {
        this.reader = reader;
        this.writer = writer;
        this.bytes = bytes;
    }

    static WakeFd open() throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            if (Os.current() == Os.LINUX) {
                int fd = eventfd(state);
                if (fd < 0) {
                    throw new ErrnoException("eventfd", -1, -fd);
                }
                Descriptor descriptor = new Descriptor(fd, false);
                return new WakeFd(descriptor, descriptor, 8);
            }
            int[] ends = new int[2];
            int result = Posix.pipe(state, ends);
            if (result < 0) {
                throw new ErrnoException("pipe", -1, -result);
            }
            return new WakeFd(new Descriptor(ends[0], false), new Descriptor(ends[1], false), 1);
        }
    }

    /** Returns the descriptor to watch for input. */
    int fd() {
        return reader.fd();
    }

    /** A full pipe or counter means that a wake is already pending: nothing is lost. */
    void wake() {
        if (writer.acquire()) {
            try (CallState state = CallState.borrow()) {
                Posix.write(state, writer.fd(), ONE, bytes);
            } finally {
                writer.release();
            }
        }
    }

    /** Reads what was written, so that a level-triggered wait is quiet again. Not needed for an edge-triggered one. */
    void drain(CallState state, long scratch, int scratchBytes) {
        assert scratchBytes > 8 : "an eventfd is read in 8 bytes, and that must be a short read";
        while (Posix.read(state, reader.fd(), scratch, scratchBytes) == scratchBytes) {
            // A pipe may hold more than the scratch; an eventfd gives its 8 bytes once, in a short read.
            assert bytes == 1 : "an eventfd never fills the scratch";
        }
    }

    void close() {
        reader.close();
        writer.close();
    }

    private static int eventfd(CallState state) {
        try {
            return state.result(
                    (long) Linux.EVENTFD.invokeExact(state.segment, 0L, (long) (EFD_CLOEXEC | EFD_NONBLOCK)));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    private static long one() {
        long address = Native.allocateForever(8, 8);
        Native.MEMORY.set(ValueLayout.JAVA_LONG, address, 1L);
        return address;
    }

    private static final class Linux {
        static final MethodHandle EVENTFD = Native.link("eventfd", 2);
    }
}
