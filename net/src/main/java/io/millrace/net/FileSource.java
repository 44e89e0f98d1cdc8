package io.millrace.net;

import io.millrace.net.family.ByteCalls;
import io.millrace.net.family.FileCalls;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.LeakTracker;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.OpenOption;
import java.nio.file.Path;

/**
 * A regular file as a source: always ready, so that a program can serve files and sockets in one loop, a piece of each per turn. {@link Io} says how
 * its calls behave; none of them returns {@link #WOULD_BLOCK}.
 *
 * {@snippet :
 * FileSource file = FileSource.open(Path.of("data"), StandardOpenOption.READ);
 * poll.register(file, 1, Interest.READABLE, Trigger.LEVEL);
 * // when token 1 is readable, in every turn:
 * if (file.tryRead(buffer) == Io.EOF) { file.close(); }
 * }
 *
 * <p><b>Readiness.</b> Readable and writable for ever, also at the end of the file, which may grow. {@link
 * io.millrace.poll.Trigger#LEVEL} reports it in every poll, so a registered file keeps the loop from sleeping: register it while
 * there is something to do with it. {@link io.millrace.poll.Trigger#EDGE} reports it once, because it never becomes ready anew.
 * Nobody starves beside it: files, sockets and timers share the events of a poll.
 *
 * <p><b>It may take time.</b> The kernel knows no readiness for files: what is not in memory is fetched from the device while the call lasts.
 *
 * <p><b>Threads.</b> Any thread may call; calls without a position share one, and need an order of your own. Close comes from any thread at any
 * time.
 *
 * <h2>Portability</h2>
 * Registers with every backend. On Linux a descriptor; elsewhere, and from {@link Net#nio()}, a {@code java.nio} file channel, which a poll
 * once registered with keeps for life, and which is closed if a thread is interrupted in a call.
 */
public final class FileSource implements Io {
    private final FileCalls calls;
    private final LeakTracker leak;
    private final Path path;

    FileSource(FileCalls calls, Path path) {
        this.calls = calls;
        this.path = path;
        this.leak = LeakTracker.track(this, "FileSource of", path, calls::close);
    }

    /**
     * Opens a file, with the default family: {@link Net#file} of {@link Net#standard()}.
     *
     * @param path a path of the default file system
     * @param options as for {@link java.nio.channels.FileChannel#open}; none reads
     * @return a source, the caller's to close
     * @throws java.nio.file.NoSuchFileException if there is no such file and it was not to be created
     * @throws java.nio.file.FileAlreadyExistsException if it was to be created anew and is there
     * @throws java.nio.file.AccessDeniedException if it may not be opened so
     * @throws IOException if the system refuses otherwise, or it is no regular file
     * @throws IllegalArgumentException if the options contradict each other
     * @throws UnsupportedOperationException if an option is not known
     */
    public static FileSource open(Path path, OpenOption... options) throws IOException {
        return Net.standard().file(path, options);
    }

    @Override
    public SourceHandle handle() {
        return calls.handle();
    }

    /**
     * Where it was opened.
     *
     * @return as given
     */
    public Path path() {
        return path;
    }

    /**
     * Reads where the last call without a position ended.
     *
     * @param into where the bytes go, from its position on
     * @return how many bytes, or {@link #EOF}; 0 only for a buffer without room
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, e.g. because it was not opened for reading
     * @throws IllegalArgumentException if the buffer is read-only
     */
    public int tryRead(ByteBuffer into) throws IOException {
        ByteCalls.requireWritable(into);
        try {
            return calls.read(into, FileCalls.NEXT);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Reads at a position, and leaves where the calls without one are.
     *
     * @param into where the bytes go, from its position on
     * @param position in the file, not negative
     * @return how many bytes, or {@link #EOF}; 0 only for a buffer without room
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, e.g. because it was not opened for reading
     * @throws IllegalArgumentException if the buffer is read-only, or the position negative
     */
    public int tryRead(ByteBuffer into, long position) throws IOException {
        ByteCalls.requireWritable(into);
        requirePosition(position);
        try {
            return calls.read(into, position);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Writes where the last call without a position ended; at the end, if the file was opened to append.
     *
     * @param from the bytes, from its position on
     * @return how many bytes; 0 only for an empty buffer
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, e.g. because no space is left, or it was not opened for writing
     */
    public int tryWrite(ByteBuffer from) throws IOException {
        try {
            return calls.write(from, FileCalls.NEXT);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Writes at a position, and leaves where the calls without one are. On Linux a file that was opened to append is appended to, whatever
     * the position.
     *
     * @param from the bytes, from its position on
     * @param position in the file, not negative; past the end, what lies between is zeros
     * @return how many bytes; 0 only for an empty buffer
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, e.g. because no space is left, or it was not opened for writing
     * @throws IllegalArgumentException if the position is negative
     */
    public int tryWrite(ByteBuffer from, long position) throws IOException {
        requirePosition(position);
        try {
            return calls.write(from, position);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Reads where the last call without a position ended, up to the segment's size.
     *
     * @param into where the bytes go, from its beginning on
     * @return how many bytes, or {@link #EOF}; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, e.g. because it was not opened for reading
     * @throws IllegalArgumentException if the segment is read-only
     * @throws IllegalStateException if the segment's arena is closed
     * @throws WrongThreadException if the segment is confined to another thread
     */
    public int tryRead(MemorySegment into) throws IOException {
        ByteCalls.requireWritable(into);
        try {
            return calls.read(into, FileCalls.NEXT);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Reads at a position, up to the segment's size, and leaves where the calls without one are.
     *
     * @param into where the bytes go, from its beginning on
     * @param position in the file, not negative
     * @return how many bytes, or {@link #EOF}; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, e.g. because it was not opened for reading
     * @throws IllegalArgumentException if the segment is read-only, or the position negative
     * @throws IllegalStateException if the segment's arena is closed
     * @throws WrongThreadException if the segment is confined to another thread
     */
    public int tryRead(MemorySegment into, long position) throws IOException {
        ByteCalls.requireWritable(into);
        requirePosition(position);
        try {
            return calls.read(into, position);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Writes where the last call without a position ended; at the end, if the file was opened to append.
     *
     * @param from the bytes, from its beginning on
     * @return how many bytes; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, e.g. because no space is left, or it was not opened for writing
     * @throws IllegalStateException if the segment's arena is closed
     * @throws WrongThreadException if the segment is confined to another thread
     */
    public int tryWrite(MemorySegment from) throws IOException {
        try {
            return calls.write(from, FileCalls.NEXT);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Writes at a position, as {@link #tryWrite(ByteBuffer, long)} does.
     *
     * @param from the bytes, from its beginning on
     * @param position in the file, not negative; past the end, what lies between is zeros
     * @return how many bytes; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, e.g. because no space is left, or it was not opened for writing
     * @throws IllegalArgumentException if the position is negative
     * @throws IllegalStateException if the segment's arena is closed
     * @throws WrongThreadException if the segment is confined to another thread
     */
    public int tryWrite(MemorySegment from, long position) throws IOException {
        requirePosition(position);
        try {
            return calls.write(from, position);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * How large the file is now.
     *
     * @return in bytes
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses
     */
    public long size() throws IOException {
        try {
            return calls.size();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Waits until what was written is on the device. It does wait: not for a loop that has others to serve.
     *
     * @param metadata whether also times and the like, which are not needed to find the bytes again
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the device failed
     */
    public void force(boolean metadata) throws IOException {
        try {
            calls.force(metadata);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public void close() {
        leak.closed();
        calls.close();
    }

    FileCalls calls() {
        return calls;
    }

    static void requirePosition(long position) {
        if (position < 0) {
            throw new IllegalArgumentException("a position in a file is not negative: " + position);
        }
    }

    @Override
    public String toString() {
        return "FileSource of " + path + ", " + calls;
    }
}
