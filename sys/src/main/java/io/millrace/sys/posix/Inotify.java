package io.millrace.sys.posix;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Downcall;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.NativePaths;
import io.millrace.sys.call.Posix;
import io.millrace.sys.call.Scratch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * inotify(7): the kernel's queue of file changes, with an iteration over its records.
 *
 * <p>A record is {@code {int wd; uint32 mask; uint32 cookie; uint32 len; char name[len]}}; the name is padded with
 * zeros. One read returns as many whole records as fit, so the buffer has room for at least one with the longest name.
 * Used by one thread at a time, except {@link #watch} and {@link #unwatch}.
 */
public final class Inotify {
    public static final int ATTRIB = 0x4;
    public static final int MODIFY = 0x2;
    public static final int MOVED_FROM = 0x40;
    public static final int MOVED_TO = 0x80;
    public static final int CREATE = 0x100;
    public static final int DELETE = 0x200;
    public static final int DELETE_SELF = 0x400;
    public static final int MOVE_SELF = 0x800;
    public static final int UNMOUNT = 0x2000;
    public static final int OVERFLOW = 0x4000;
    public static final int IGNORED = 0x8000;
    /** Refuse anything but a directory. */
    public static final int ONLY_DIRECTORY = 0x1000000;

    private static final int NONBLOCK_CLOEXEC = 0x800 | 0x80000;
    private static final int HEADER_BYTES = 16;
    private static final int BUFFER_BYTES = 4096;

    private final Descriptor descriptor;
    /** On the heap, because sources own no native memory. */
    private final MemorySegment buffer = MemorySegment.ofArray(new byte[BUFFER_BYTES]);

    /** The current record, and the end of what was read. */
    private long at;

    private long next;
    private long end;

    private Inotify(Descriptor descriptor) {
        this.descriptor = descriptor;
    }

    /** Opens a queue, non-blocking and close-on-exec; its descriptor must be closed by the caller. */
    public static Inotify open() throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            int fd = Downcall.run(state, Calls.INIT1, NONBLOCK_CLOEXEC);
            return new Inotify(new Descriptor(Downcall.check("inotify_init1", -1, fd), true));
        }
    }

    public Descriptor descriptor() {
        return descriptor;
    }

    /** Starts to watch a path, or replaces the mask of one that is watched. A use of the descriptor must be held. */
    public int watch(Path path, int mask) throws ErrnoException {
        try (Arena arena = Arena.ofConfined();
                CallState state = CallState.borrow()) {
            long address = Files.zeroTerminated(arena, NativePaths.bytes(path));
            int fd = descriptor.fd();
            return Downcall.check("inotify_add_watch", fd, Downcall.run(state, Calls.ADD_WATCH, fd, address, mask));
        }
    }

    /** Ends a watch; does nothing if it has ended already. A use of the descriptor must be held. */
    public void unwatch(int watch) {
        Downcall.run(Calls.RM_WATCH, descriptor.fd(), watch);
    }

    /**
     * Moves to the next record, reading more if there is none left. A use of the descriptor must be held.
     *
     * @return false if there is none now
     */
    public boolean advance() throws ErrnoException {
        if (next == end && !fill()) {
            return false;
        }
        at = next;
        next = at + HEADER_BYTES + buffer.get(ValueLayout.JAVA_INT_UNALIGNED, at + 12);
        return true;
    }

    /** Returns whether there are records that were read but not visited. */
    public boolean hasRead() {
        return next != end;
    }

    private boolean fill() throws ErrnoException {
        try (CallState state = CallState.borrow();
                Scratch borrowed = Scratch.borrow(BUFFER_BYTES)) {
            long scratch = borrowed.address();
            long result;
            do {
                result = Posix.read(state, descriptor.fd(), scratch, BUFFER_BYTES);
            } while (Errno.isInterrupted(result));
            if (Errno.isWouldBlock(result)) {
                return false;
            }
            if (result < 0) {
                throw new ErrnoException("read", descriptor.fd(), (int) -result);
            }
            MemorySegment.copy(Native.MEMORY, scratch, buffer, 0, result);
            next = 0;
            end = result;
            return end > 0;
        }
    }

    /** Returns the watch to which the record belongs, or −1 for an overflow. */
    public int watch() {
        return buffer.get(ValueLayout.JAVA_INT_UNALIGNED, at);
    }

    public int mask() {
        return buffer.get(ValueLayout.JAVA_INT_UNALIGNED, at + 4);
    }

    /** Returns a number that is the same in both records of a rename. */
    public int cookie() {
        return buffer.get(ValueLayout.JAVA_INT_UNALIGNED, at + 8);
    }

    /** Returns the entry of the watched directory; null if the record is about the directory itself. */
    public @Nullable Path name() {
        long length = next - at - HEADER_BYTES;
        int bytes = 0;
        while (bytes < length && buffer.get(ValueLayout.JAVA_BYTE, at + HEADER_BYTES + bytes) != 0) {
            bytes++;
        }
        if (bytes == 0) {
            return null;
        }
        byte[] name = new byte[bytes];
        MemorySegment.copy(buffer, ValueLayout.JAVA_BYTE, at + HEADER_BYTES, name, 0, bytes);
        return NativePaths.name(name);
    }

    private static final class Calls {
        static final MethodHandle INIT1 = Native.link("inotify_init1", 1);
        static final MethodHandle ADD_WATCH = Native.link("inotify_add_watch", 3);
        static final MethodHandle RM_WATCH = Native.link("inotify_rm_watch", 2);
    }
}
