package io.millrace.net;

import io.millrace.net.family.ByteCalls;
import io.millrace.net.fd.FdAdoption;
import io.millrace.poll.Interest;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.LeakTracker;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.Fds;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * A source for any file descriptor: standard input, a terminal, a pipe, a socket of another library, an eventfd, a
 * pidfd.
 *
 * {@snippet :
 * FdSource stdin = FdSource.stdin();
 * poll.register(stdin, 1, Interest.READABLE, Trigger.LEVEL);
 * // when token 1 is readable:
 * int read = stdin.tryRead(buffer); // bytes, EOF or WOULD_BLOCK
 * }
 *
 * <p><b>Borrowed or owned.</b> {@link #adopt} leaves the number to its owner and never closes it. The source holds its
 * own descriptor for the same file, so the owner may close theirs at any time, and a number that was reused for
 * something else is never touched. The price is that the file stays open until this source is closed as well. {@link
 * #owned} takes over the number.
 *
 * <p><b>Flags are never changed.</b> Whether calls block (O_NONBLOCK) is a property of the open file, which is shared
 * with the shell, the parent and every program on the same terminal. No call here blocks nevertheless: each call on a
 * socket says that it must not; pipes and terminals are opened again through {@code /proc/self/fd}, with separate
 * flags; and what cannot be opened again is checked with poll(2) before each read or write. That last way has two
 * limits: if another reader takes the bytes between the check and the read, this one blocks; and a write to such a pipe
 * moves at most 4,096 bytes, to such a terminal one.
 *
 * <p><b>Edges.</b> Read and write until {@link #WOULD_BLOCK}: on a terminal, a queue of records or a guarded
 * descriptor, a call that moved fewer bytes than it could says nothing about what is left. If you read or write by
 * other means, with the number itself, report it with {@link #wouldBlock}.
 *
 * <p><b>Always ready.</b> A regular file, a directory and a block device are always ready, on every backend; on epoll,
 * so is everything that it refuses to watch, such as {@code /dev/null}.
 *
 * <p><b>Threads.</b> See {@link Io}.
 *
 * <h2>Portability</h2>
 * Descriptors need a Unix system and a native backend: a poll on {@code nio} refuses to register one that is not always
 * ready. On systems other than Linux, everything but a socket is checked with poll(2) before each call.
 */
public final class FdSource implements Io {
    private static final int STDIN = 0;

    private final int fd;
    private final Fds.Kind kind;
    private final Descriptor descriptor;
    private final ByteCalls calls;
    private final LeakTracker leak;

    private FdSource(int fd, FdAdoption.Adopted adopted) {
        this.fd = fd;
        this.kind = adopted.kind();
        this.descriptor = adopted.descriptor();
        this.calls = adopted.calls();
        this.leak = LeakTracker.track(this, "FdSource by", calls, calls::close);
    }

    /**
     * Creates a source for a descriptor that belongs to other code. It is never closed here, and its flags are never
     * changed.
     *
     * @param fd an open descriptor of this process
     * @return a source, which the caller must close; this leaves {@code fd} open
     * @throws IllegalArgumentException if the number is negative or not open
     * @throws IOException if the system refuses, for example because too many files are open
     * @throws IllegalStateException if there are no descriptors here, or native access is denied
     */
    public static FdSource adopt(int fd) throws IOException {
        requireNumber(fd);
        return new FdSource(fd, FdAdoption.adopt(fd));
    }

    /**
     * Creates a source that takes over a descriptor.
     *
     * @param fd an open descriptor of this process; if this call throws, it still belongs to the caller
     * @return a source, which the caller must close; this closes {@code fd}
     * @throws IllegalArgumentException if the number is negative or not open
     * @throws IOException if the system refuses
     * @throws IllegalStateException if there are no descriptors here, or native access is denied
     */
    public static FdSource owned(int fd) throws IOException {
        requireNumber(fd);
        return new FdSource(fd, FdAdoption.own(fd));
    }

    /**
     * Creates a source for the standard input of this process. It does not see what {@code System.in} has already
     * buffered, so use only one of the two.
     *
     * @return a source, which the caller must close; this leaves the standard input open
     * @throws IllegalArgumentException if this process has none
     * @throws IOException if the system refuses
     * @throws IllegalStateException if there are no descriptors here, or native access is denied
     */
    public static FdSource stdin() throws IOException {
        return adopt(STDIN);
    }

    private static void requireNumber(int fd) {
        if (fd < 0) {
            throw new IllegalArgumentException("cannot adopt fd " + fd + ": a file descriptor is not negative");
        }
        Net.natively(); // or says why not
    }

    @Override
    public SourceHandle handle() {
        return calls.handle();
    }

    /**
     * Returns the number that was passed to the factory method.
     *
     * @return the number of the descriptor
     */
    public int fd() {
        return fd;
    }

    /**
     * Reads what has arrived, as much as fits into the buffer, in one system call. An eventfd needs room for 8 bytes,
     * an inotify queue for a record; a descriptor that cannot be read at all, such as a pidfd, causes an {@link
     * IOException}.
     *
     * @param into where the bytes go, from its position on
     * @return how many bytes, {@link #EOF}, or {@link #WOULD_BLOCK}; 0 only for a buffer without room, or an empty
     *     datagram
     * @throws java.nio.channels.ClosedChannelException if the source is closed
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if the buffer is read-only
     */
    public int tryRead(ByteBuffer into) throws IOException {
        ByteCalls.requireWritable(into);
        try {
            return settleRead(calls.read(into));
        } catch (ErrnoException e) {
            return endOf(e);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Reads what has arrived into several buffers, in order.
     *
     * @param into where the bytes go, from each one's position on
     * @param offset the index of the first buffer
     * @param length how many buffers
     * @return how many bytes; {@link #EOF}; or {@link #WOULD_BLOCK}; 0 only for buffers without room, or an empty
     *     datagram
     * @throws java.nio.channels.ClosedChannelException if the source is closed
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if a buffer is read-only
     * @throws IndexOutOfBoundsException if the range is not within the array
     */
    public int tryRead(ByteBuffer[] into, int offset, int length) throws IOException {
        ByteCalls.requireWritable(into, offset, length);
        try {
            return settleRead(calls.read(into, offset, length));
        } catch (ErrnoException e) {
            return endOf(e);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Reads what has arrived, as much as fits into the segment.
     *
     * @param into where the bytes go, from its beginning on
     * @return how many bytes; {@link #EOF}; or {@link #WOULD_BLOCK}; 0 only for an empty segment, or an empty datagram
     * @throws java.nio.channels.ClosedChannelException if the source is closed
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if the segment is read-only
     * @throws IllegalStateException if the segment's arena is closed
     * @throws WrongThreadException if the segment is confined to another thread
     */
    public int tryRead(MemorySegment into) throws IOException {
        ByteCalls.requireWritable(into);
        try {
            return settleRead(calls.read(into));
        } catch (ErrnoException e) {
            return endOf(e);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private int settleRead(int read) {
        if (read == WOULD_BLOCK) {
            startReportingWouldBlock();
        }
        return read == EOF && kind == Fds.Kind.DATAGRAM ? 0 : read;
    }

    /** A terminal's master learns in this way that its slave is not open any more. */
    private int endOf(ErrnoException e) throws ErrnoException {
        if (kind == Fds.Kind.TERMINAL_MASTER && e.is(Errno.EIO)) {
            return EOF;
        }
        throw e;
    }

    /**
     * Writes as much as there is room for, in one system call.
     *
     * @param from the bytes, from its position on
     * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for an empty buffer
     * @throws java.nio.channels.ClosedChannelException if the source is closed
     * @throws IOException if the system refuses, for example because the other end is closed
     */
    public int tryWrite(ByteBuffer from) throws IOException {
        try {
            return settleWritten(calls.write(from));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Writes as much as there is room for from several buffers, in order.
     *
     * @param from the bytes, from each one's position on
     * @param offset the index of the first buffer
     * @param length how many buffers
     * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for empty buffers
     * @throws java.nio.channels.ClosedChannelException if the source is closed
     * @throws IOException if the system refuses, for example because the other end is closed
     * @throws IndexOutOfBoundsException if the range is not within the array
     */
    public int tryWrite(ByteBuffer[] from, int offset, int length) throws IOException {
        ByteCalls.requireWithin(from, offset, length);
        try {
            return settleWritten(calls.write(from, offset, length));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Writes as much as there is room for.
     *
     * @param from the bytes, from its beginning on
     * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the source is closed
     * @throws IOException if the system refuses, for example because the other end is closed
     * @throws IllegalStateException if the segment's arena is closed
     * @throws WrongThreadException if the segment is confined to another thread
     */
    public int tryWrite(MemorySegment from) throws IOException {
        try {
            return settleWritten(calls.write(from));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private int settleWritten(int written) {
        if (written == WOULD_BLOCK) {
            startReportingWouldBlock();
        }
        return written;
    }

    /**
     * Reports that a read or write by other means would have blocked. If the kernel has no edges (poll(2)), a source
     * that has never met would-block is treated as {@link io.millrace.poll.Trigger#LEVEL}, because the library could
     * not know when to report it again. After the first would-block, whether reported by this call or met by {@link
     * #tryRead} or {@link #tryWrite}, it gets true edges, and each would-block has to be reported. On other backends
     * this does nothing.
     *
     * @param drained the directions that would block
     */
    public void wouldBlock(Interest drained) {
        int bits = (drained.contains(Interest.READABLE) ? Bits.READABLE : 0)
                | (drained.contains(Interest.WRITABLE) ? Bits.WRITABLE : 0);
        if (bits != 0) {
            startReportingWouldBlock();
            calls.handle().markDrained(bits);
        }
    }

    private void startReportingWouldBlock() {
        if (!descriptor.reportsWouldBlock()) {
            descriptor.startReportingWouldBlock();
        }
    }

    @Override
    public void close() {
        leak.forget();
        calls.handle().close();
    }

    @Override
    public String toString() {
        return "FdSource of fd " + fd + ", " + kind.description() + ", by " + calls;
    }
}
