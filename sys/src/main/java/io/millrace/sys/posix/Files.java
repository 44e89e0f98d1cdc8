package io.millrace.sys.posix;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Downcall;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.NativePaths;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Set;

/**
 * Regular files with descriptors, on Linux: open, size, reads and writes at a position, sending to a socket, force.
 *
 * <p>Calls that move bytes return the count or {@code -errno}; the others throw. A method that takes a number must be
 * called while a use of its descriptor is held.
 */
public final class Files {
    private static final int O_WRONLY = 1;
    private static final int O_RDWR = 2;
    private static final int O_CREAT = 0x40;
    private static final int O_EXCL = 0x80;
    private static final int O_NOCTTY = 0x100;
    private static final int O_TRUNC = 0x200;
    private static final int O_APPEND = 0x400;
    private static final int O_NONBLOCK = 0x800;
    private static final int O_DSYNC = 0x1000;
    private static final int O_SYNC = 0x101000;
    private static final int O_CLOEXEC = 0x80000;
    /** The only flag here whose number depends on the CPU. */
    private static final int O_NOFOLLOW = System.getProperty("os.arch", "").equals("aarch64") ? 0x8000 : 0x20000;

    /** Everybody may read and write, as far as the umask permits, as in files that the JDK creates. */
    private static final int MODE = 0666;

    private Files() {}

    /** Returns whether the constants here are right for this system. */
    public static boolean isSupported() {
        return Os.current() == Os.LINUX;
    }

    /**
     * Opens a regular file, close-on-exec.
     *
     * @param options as for {@link java.nio.channels.FileChannel#open}, except DELETE_ON_CLOSE
     * @throws FileSystemException of the kind that {@code java.nio} would throw; also if it is not a regular file
     * @throws IllegalArgumentException if the options contradict each other
     * @throws UnsupportedOperationException for an option that is not supported here
     */
    public static Descriptor open(Path path, Set<? extends OpenOption> options) throws IOException {
        int flags = flags(options);
        try (CallState state = CallState.borrow()) {
            int fd;
            try (Arena arena = Arena.ofConfined()) {
                long address = zeroTerminated(arena, NativePaths.bytes(path));
                do {
                    fd = Downcall.run(state, Opening.OPEN, address, flags, MODE);
                } while (Errno.isInterrupted(fd));
            }
            if (fd < 0) {
                throw failed(path, -fd);
            }
            boolean done = false;
            try {
                Fds.Kind kind = Fds.kind(fd);
                if (kind != Fds.Kind.REGULAR) {
                    throw new FileSystemException(
                            path.toString(), null, "not a regular file; open it otherwise and adopt its descriptor");
                }
                done = true;
                return new Descriptor(fd, true);
            } finally {
                if (!done) {
                    Posix.close(state, fd);
                }
            }
        }
    }

    /**
     * Includes O_NONBLOCK, which means nothing for a regular file; but if the path is a named pipe, open would wait for
     * its other end.
     */
    static int flags(Set<? extends OpenOption> options) {
        int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
        boolean read = false;
        boolean write = false;
        for (OpenOption option : options) {
            if (option == LinkOption.NOFOLLOW_LINKS) {
                flags |= O_NOFOLLOW;
                continue;
            }
            if (!(option instanceof StandardOpenOption standard)) {
                throw new UnsupportedOperationException("cannot open a file with the option " + option);
            }
            switch (standard) {
                case READ -> read = true;
                case WRITE -> write = true;
                case APPEND -> {
                    write = true;
                    flags |= O_APPEND;
                }
                case TRUNCATE_EXISTING -> flags |= O_TRUNC;
                case CREATE -> flags |= O_CREAT;
                case CREATE_NEW -> flags |= O_CREAT | O_EXCL;
                case SYNC -> flags |= O_SYNC;
                case DSYNC -> flags |= O_DSYNC;
                case SPARSE -> {} // every file may be sparse here
                case DELETE_ON_CLOSE ->
                    throw new UnsupportedOperationException(
                            "cannot open a file with DELETE_ON_CLOSE; delete it when it is open, or when you are done");
            }
        }
        if (!write) {
            // As in the JDK: without WRITE, these mean nothing.
            flags &= ~(O_CREAT | O_EXCL | O_TRUNC);
        } else if ((flags & O_APPEND) != 0 && (read || (flags & O_TRUNC) != 0)) {
            throw new IllegalArgumentException("APPEND goes with neither READ nor TRUNCATE_EXISTING");
        }
        return flags | (write ? read ? O_RDWR : O_WRONLY : 0);
    }

    private static IOException failed(Path path, int code) {
        String file = path.toString();
        IOException failure;
        if (code == Errno.ENOENT.code()) {
            failure = new NoSuchFileException(file);
        } else if (code == Errno.EEXIST.code()) {
            failure = new FileAlreadyExistsException(file);
        } else if (code == Errno.EACCES.code()) {
            failure = new AccessDeniedException(file);
        } else if (code == Errno.EMFILE.code() || code == Errno.ENFILE.code()) {
            return new ErrnoException("open", -1, code); // this file is not to blame
        } else {
            failure = new FileSystemException(file, null, "cannot open it: " + Errno.describe(code));
        }
        failure.initCause(new ErrnoException("open", -1, code));
        return failure;
    }

    /** Returns how many bytes the file has now. */
    public static long size(int fd) throws ErrnoException {
        return Fds.status(fd).size();
    }

    /** Returns when the content of the file was changed last. */
    public static Instant modified(int fd) throws ErrnoException {
        Fds.Status status = Fds.status(fd);
        return Instant.ofEpochSecond(status.modifiedSecond(), status.modifiedNanos());
    }

    /** Reads at a position into library or pinned memory. Returns the count, 0 at the end, or {@code -errno}. */
    public static long read(CallState state, int fd, long address, long bytes, long position) {
        try {
            return state.longResult((long) Data.PREAD.invokeExact(state.segment, (long) fd, address, bytes, position));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    /** Writes at a position from library or pinned memory. Returns the count, or {@code -errno}. */
    public static long write(CallState state, int fd, long address, long bytes, long position) {
        try {
            return state.longResult((long) Data.PWRITE.invokeExact(state.segment, (long) fd, address, bytes, position));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    /**
     * Like {@link #read(CallState, int, long, long, long)}, into a user's native segment, which cannot be freed during
     * the call.
     */
    public static long read(CallState state, int fd, MemorySegment into, long bytes, long position) {
        try {
            return state.longResult(
                    (long) SegmentData.PREAD.invokeExact(state.segment, (long) fd, into, bytes, position));
        } catch (Throwable thrown) {
            throw Native.refusedSegment(thrown);
        }
    }

    /**
     * Like {@link #write(CallState, int, long, long, long)}, from a user's native segment, which cannot be freed during
     * the call.
     */
    public static long write(CallState state, int fd, MemorySegment from, long bytes, long position) {
        try {
            return state.longResult(
                    (long) SegmentData.PWRITE.invokeExact(state.segment, (long) fd, from, bytes, position));
        } catch (Throwable thrown) {
            throw Native.refusedSegment(thrown);
        }
    }

    /**
     * Sends a file's bytes from a position to a socket, without passing them through this process. Returns the count, 0
     * at the end of the file, or {@code -errno}. A smaller count than was asked for says nothing about the socket;
     * {@code -EAGAIN} does.
     */
    public static long send(CallState state, int socket, int file, long position, long bytes) {
        long offset = state.scratch();
        Posix.putLong(offset, position);
        try {
            return state.longResult(
                    (long) Sending.SENDFILE.invokeExact(state.segment, (long) socket, (long) file, offset, bytes));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    /** Waits until everything written is on the device. */
    public static void force(int fd, boolean metadata) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            MethodHandle call = metadata ? Forcing.FSYNC : Forcing.FDATASYNC;
            int result;
            do {
                result = Downcall.run(state, call, fd);
            } while (Errno.isInterrupted(result));
            Downcall.check(metadata ? "fsync" : "fdatasync", fd, result);
        }
    }

    static long zeroTerminated(Arena arena, byte[] bytes) {
        MemorySegment segment = arena.allocate(bytes.length + 1L);
        MemorySegment.copy(bytes, 0, segment, ValueLayout.JAVA_BYTE, 0, bytes.length);
        return segment.address();
    }

    static final class Opening {
        static final MethodHandle OPEN = Native.linkVariadic("open", 3, 2);

        private Opening() {}
    }

    private static final class Data {
        static final MethodHandle PREAD = Native.link("pread", 4);
        static final MethodHandle PWRITE = Native.link("pwrite", 4);
    }

    private static final class SegmentData {
        static final MethodHandle PREAD = Native.linkWithSegment("pread", 4, 1);
        static final MethodHandle PWRITE = Native.linkWithSegment("pwrite", 4, 1);
    }

    private static final class Sending {
        static final MethodHandle SENDFILE = Native.link("sendfile", 4);
    }

    private static final class Forcing {
        static final MethodHandle FSYNC = Native.link("fsync", 1);
        static final MethodHandle FDATASYNC = Native.link("fdatasync", 1);
    }
}
