package io.millrace.sys.posix;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Iovecs;
import io.millrace.sys.call.Posix;
import java.lang.foreign.MemorySegment;

/** Pipes: opening them, and reads and writes. The calls that move bytes return the count or {@code -errno}. */
public final class Pipes {
    /**
     * The two ends of a new pipe, which the caller must close.
     *
     * @param reader the end from which bytes are read
     * @param writer the end to which bytes are written
     */
    public record Ends(Descriptor reader, Descriptor writer) {}

    private Pipes() {}

    /** Opens a pipe whose ends are non-blocking and close-on-exec. */
    public static Ends open() throws ErrnoException {
        int[] ends = new int[2];
        int result;
        try (CallState state = CallState.borrow()) {
            result = Posix.pipe(state, ends);
        }
        if (result < 0) {
            throw new ErrnoException("pipe", -1, -result);
        }
        return new Ends(new Descriptor(ends[0], true), new Descriptor(ends[1], true));
    }

    /** Reads into library or pinned memory. Returns the count, 0 at the end, or {@code -errno}. */
    public static long read(CallState state, int fd, long address, long bytes) {
        return Posix.read(state, fd, address, bytes);
    }

    /**
     * Writes from memory of the library, or pinned memory. Returns the count, or {@code -errno}. A pipe has no
     * MSG_NOSIGNAL; the JVM itself catches SIGPIPE and continues, so a pipe without a reader returns {@code EPIPE}
     * here.
     */
    public static long write(CallState state, int fd, long address, long bytes) {
        return Posix.write(state, fd, address, bytes);
    }

    /**
     * Like {@link #read(CallState, int, long, long)}, into a user's native segment, which cannot be freed during the
     * call.
     */
    public static long read(CallState state, int fd, MemorySegment into, long bytes) {
        return Posix.read(state, fd, into, bytes);
    }

    /**
     * Like {@link #write(CallState, int, long, long)}, from a user's native segment, which cannot be freed during the
     * call.
     */
    public static long write(CallState state, int fd, MemorySegment from, long bytes) {
        return Posix.write(state, fd, from, bytes);
    }

    /** Reads into several buffers. Returns the count, 0 at the end, or {@code -errno}. */
    public static long read(CallState state, int fd, Iovecs into) {
        return Posix.read(state, fd, into);
    }

    /** Writes from several buffers. Returns the count, or {@code -errno}. */
    public static long write(CallState state, int fd, Iovecs from) {
        return Posix.write(state, fd, from);
    }
}
