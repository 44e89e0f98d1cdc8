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
import java.time.Instant;

/**
 * A regular file as a source. It is always ready, so that a program can serve files and sockets in one loop, a piece of
 * each per turn. {@link Io} describes how its calls behave; none of them returns {@link #WOULD_BLOCK}.
 *
 * {@snippet :
 * FileSource file = FileSource.open(Path.of("data"), StandardOpenOption.READ);
 * poll.register(file, 1, Interest.READABLE, Trigger.LEVEL);
 * // when token 1 is readable, in every turn:
 * if (file.tryRead(buffer) == Io.EOF) { file.close(); }
 * }
 *
 * <p><b>Readiness.</b> Always readable and writable, even at the end of the file, which may grow. {@link
 * io.millrace.poll.Trigger#LEVEL} reports it in every poll, so a registered file keeps the loop from sleeping: register
 * it only while there is something to do with it. {@link io.millrace.poll.Trigger#EDGE} reports it once, because it
 * never becomes ready again. It does not starve others: files, sockets and timers share the events of a poll.
 *
 * <p><b>It may take time.</b> The kernel has no readiness for files: if the content is not in memory, the call waits
 * while it is read from the device.
 *
 * <p><b>Threads.</b> Any thread may call any method. Calls without a position share one position, so threads that use
 * them have to agree on an order. Any thread may close the file at any time.
 *
 * <h2>Portability</h2>
 * Can be registered with every backend. On Linux it is a descriptor; elsewhere, and from {@link Net#nio()}, a {@code
 * java.nio} file channel, which belongs for life to the first poll that it is registered with, and which is closed if a
 * thread is interrupted during a call.
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
     * Opens a file, using the default family: {@link Net#file} of {@link Net#standard()}.
     *
     * @param path a path of the default file system
     * @param options as for {@link java.nio.channels.FileChannel#open}; without any, opens for reading
     * @return a source, which the caller must close
     * @throws java.nio.file.NoSuchFileException if the file does not exist and was not to be created
     * @throws java.nio.file.FileAlreadyExistsException if the file exists and was to be created
     * @throws java.nio.file.AccessDeniedException if the access is not permitted
     * @throws IOException if the system refuses for another reason, or it is not a regular file
     * @throws IllegalArgumentException if the options contradict each other
     * @throws UnsupportedOperationException if an option is not supported
     */
    public static FileSource open(Path path, OpenOption... options) throws IOException {
        return Net.standard().file(path, options);
    }

    @Override
    public SourceHandle handle() {
        return calls.handle();
    }

    /**
     * Returns the path under which the file was opened.
     *
     * @return the path given to {@link #open}
     */
    public Path path() {
        return path;
    }

    /**
     * Reads from where the last call without a position ended.
     *
     * @param into where the bytes go, from its position on
     * @return how many bytes, or {@link #EOF}; 0 only for a buffer without room
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, for example because it was not opened for reading
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
     * Reads at a position. This does not affect calls without one.
     *
     * @param into where the bytes go, from its position on
     * @param position the position in the file, not negative
     * @return how many bytes, or {@link #EOF}; 0 only for a buffer without room
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, for example because it was not opened for reading
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
     * Writes where the last call without a position ended; at the end, if the file was opened for appending.
     *
     * @param from the bytes, from its position on
     * @return how many bytes; 0 only for an empty buffer
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, for example because there is no space left, or it was not opened for
     *     writing
     */
    public int tryWrite(ByteBuffer from) throws IOException {
        try {
            return calls.write(from, FileCalls.NEXT);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Writes at a position. This does not affect calls without one. On Linux, a file that was opened for appending is
     * appended to regardless of the position.
     *
     * @param from the bytes, from its position on
     * @param position the position in the file, not negative; a gap beyond the end is filled with zeros
     * @return how many bytes; 0 only for an empty buffer
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, for example because there is no space left, or it was not opened for
     *     writing
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
     * Reads from where the last call without a position ended, as much as fits into the segment.
     *
     * @param into where the bytes go, from its beginning on
     * @return how many bytes, or {@link #EOF}; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, for example because it was not opened for reading
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
     * Reads at a position, as much as fits into the segment. This does not affect calls without a position.
     *
     * @param into where the bytes go, from its beginning on
     * @param position the position in the file, not negative
     * @return how many bytes, or {@link #EOF}; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, for example because it was not opened for reading
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
     * Writes where the last call without a position ended; at the end, if the file was opened for appending.
     *
     * @param from the bytes, from its beginning on
     * @return how many bytes; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, for example because there is no space left, or it was not opened for
     *     writing
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
     * Writes at a position: see {@link #tryWrite(ByteBuffer, long)}.
     *
     * @param from the bytes, from its beginning on
     * @param position the position in the file, not negative; a gap beyond the end is filled with zeros
     * @return how many bytes; 0 only for an empty segment
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses, for example because there is no space left, or it was not opened for
     *     writing
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
     * Returns the current size of the file.
     *
     * @return the size in bytes
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
     * Returns when the content of the file was changed last. On Linux this is about the open file, elsewhere about what is
     * at {@link #path}.
     *
     * @return the file system's time, as precisely as it has it
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses
     */
    public Instant modified() throws IOException {
        try {
            return calls.modified(path);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns where the open file is now, with all links resolved. A server that must not leave a directory checks this
     * after it has opened a file: what it checks before can be replaced by a link until the file is open. On Linux, with
     * {@code /proc}, the answer is about the open file, whatever is at {@link #path} meanwhile. Elsewhere it is about
     * what is there, and gives no such safety.
     *
     * @return an absolute path
     * @throws java.nio.file.NoSuchFileException if the file was removed
     * @throws java.nio.channels.ClosedChannelException if the file is closed
     * @throws IOException if the system refuses
     */
    public Path realPath() throws IOException {
        try {
            return calls.realPath(path);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Waits until everything written is on the device. Because it blocks, do not call it on an event loop.
     *
     * @param metadata whether to include metadata, such as times, that is not needed to read the bytes again
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
        leak.forget();
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
