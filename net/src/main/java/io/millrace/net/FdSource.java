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
 * Any file descriptor as a source: standard input, a terminal, a pipe, a socket of another library, an eventfd, a pidfd.
 *
 * {@snippet :
 * FdSource stdin = FdSource.stdin();
 * poll.register(stdin, 1, Interest.READABLE, Trigger.LEVEL);
 * // when token 1 is readable:
 * int read = stdin.tryRead(buffer); // bytes, EOF or WOULD_BLOCK
 * }
 *
 * <p><b>Borrowed or owned.</b> {@link #adopt} leaves the number to its owner: it is never closed here. The source holds a descriptor
 * of its own for the same file instead, so that its owner may close theirs at any time, and nothing is ever done to a number that has
 * become somebody else's; the price is that the file stays open until this source is closed as well. {@link #owned} takes
 * the number over.
 *
 * <p><b>Flags are never changed.</b> Whether calls wait (O_NONBLOCK) is a property of the open file, which is shared with the shell, the parent and
 * every program on the same terminal. No call here waits all the same: sockets are asked not to by each call; pipes and terminals
 * are opened once more, through {@code /proc/self/fd}, with flags of their own; and what cannot be opened again is asked by poll(2)
 * before each read or write. That last way has two limits: another reader that takes the bytes between the question and the read has
 * this one wait; and a write to such a pipe moves at most 4,096 bytes, to such a terminal one.
 *
 * <p><b>Edges.</b> Read and write on to {@link #WOULD_BLOCK}: to a terminal, a queue of records or a guarded descriptor a call that
 * moved fewer bytes than it could says nothing about what is left. Whoever reads or writes by other means, with the number itself, tells
 * of it by {@link #wouldBlock}.
 *
 * <p><b>Always ready.</b> A regular file, a directory and a block device are ready for ever, on every backend; so is on epoll
 * whatever it refuses to watch, such as {@code /dev/null}.
 *
 * <p><b>Threads.</b> As {@link Io} says.
 *
 * <h2>Portability</h2>
 * Descriptors need a Unix and a native backend: a poll on {@code nio} refuses to register one that is not always ready. Elsewhere than on
 * Linux everything but a socket is asked by poll(2) before each call.
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
     * A source over somebody else's descriptor, which is never closed and whose flags are never changed.
     *
     * @param fd an open descriptor of this process
     * @return a source, the caller's to close; that leaves {@code fd} open
     * @throws IllegalArgumentException if the number is negative or not open
     * @throws IOException if the system refuses, e.g. because too many files are open
     * @throws IllegalStateException if there are no descriptors here, or native access is denied
     */
    public static FdSource adopt(int fd) throws IOException {
        requireNumber(fd);
        return new FdSource(fd, FdAdoption.adopt(fd));
    }

    /**
     * A source over a descriptor that is the source's from now on.
     *
     * @param fd an open descriptor of this process; if this call throws it remains the caller's
     * @return a source, the caller's to close; that closes {@code fd}
     * @throws IllegalArgumentException if the number is negative or not open
     * @throws IOException if the system refuses
     * @throws IllegalStateException if there are no descriptors here, or native access is denied
     */
    public static FdSource owned(int fd) throws IOException {
        requireNumber(fd);
        return new FdSource(fd, FdAdoption.own(fd));
    }

    /**
     * The standard input of this process, adopted. What {@code System.in} has read ahead is not seen here: use one of the two.
     *
     * @return a source, the caller's to close; that leaves the standard input open
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
     * The number that was adopted or given.
     *
     * @return as it was passed in
     */
    public int fd() {
        return fd;
    }

    /**
     * Reads what is there, up to the buffer's room, in one call of the system. An eventfd wants room for 8 bytes, an inotify queue
     * for a record; what cannot be read at all, such as a pidfd, is an {@link IOException}.
     *
     * @param into where the bytes go, from its position on
     * @return how many bytes, {@link #EOF}, or {@link #WOULD_BLOCK}; 0 only for a buffer without room, or an empty datagram
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
     * Reads what is there into several buffers, one after the other.
     *
     * @param into where the bytes go, from each one's position on
     * @param offset the index of the first buffer
     * @param length how many buffers
     * @return how many bytes; {@link #EOF}; or {@link #WOULD_BLOCK}; 0 only for buffers without room, or an empty datagram
     * @throws java.nio.channels.ClosedChannelException if the source is closed
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if one of them is read-only
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
     * Reads what is there, up to the segment's size.
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
            tellsOfWouldBlock();
        }
        return read == EOF && kind == Fds.Kind.DATAGRAM ? 0 : read;
    }

    /** How a terminal's master learns that nobody has the slave open. */
    private int endOf(ErrnoException e) throws ErrnoException {
        if (kind == Fds.Kind.TERMINAL_MASTER && e.is(Errno.EIO)) {
            return EOF;
        }
        throw e;
    }

    /**
     * Writes what there is room for, in one call of the system.
     *
     * @param from the bytes, from its position on
     * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for an empty buffer
     * @throws java.nio.channels.ClosedChannelException if the source is closed
     * @throws IOException if the system refuses, e.g. because the other end is closed
     */
    public int tryWrite(ByteBuffer from) throws IOException {
        try {
            return settleWritten(calls.write(from));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Writes what there is room for, of several buffers, one after the other.
     *
     * @param from the bytes, from each one's position on
     * @param offset the index of the first buffer
     * @param length how many buffers
     * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for empty buffers
     * @throws java.nio.channels.ClosedChannelException if the source is closed
     * @throws IOException if the system refuses, e.g. because the other end is closed
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
     * Writes what there is room for.
     *
     * @param from the bytes, from its beginning on
     * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the source is closed
     * @throws IOException if the system refuses, e.g. because the other end is closed
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
            tellsOfWouldBlock();
        }
        return written;
    }

    /**
     * Tells that a read or a write by other means found nothing to do. Where the kernel has no edges (poll(2)), a source that has never
     * met would-block is served as {@link io.millrace.poll.Trigger#LEVEL}, because nobody could tell when to report it again; from the
     * first time on, by this call or by {@link #tryRead} and {@link #tryWrite}, it gets true edges and needs to be told each time. Elsewhere
     * it does nothing.
     *
     * @param drained the directions that would block
     */
    public void wouldBlock(Interest drained) {
        int bits = (drained.contains(Interest.READABLE) ? Bits.READABLE : 0)
                | (drained.contains(Interest.WRITABLE) ? Bits.WRITABLE : 0);
        if (bits != 0) {
            tellsOfWouldBlock();
            calls.handle().drained(bits);
        }
    }

    private void tellsOfWouldBlock() {
        if (!descriptor.reportsWouldBlock()) {
            descriptor.startReportingWouldBlock();
        }
    }

    @Override
    public void close() {
        leak.closed();
        calls.handle().close();
    }

    @Override
    public String toString() {
        return "FdSource of fd " + fd + ", " + kind.description() + ", by " + calls;
    }
}
