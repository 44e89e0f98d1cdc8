package io.millrace.net;

import io.millrace.net.family.ByteCalls;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.LeakTracker;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * A pipe of the system, inside this process: what is written to {@link #sink()} is read from {@link #source()}. Each end is a source
 * of its own, may be registered with a poll of its own, and is closed on its own. {@link Io} says how their calls behave.
 *
 * <h2>Portability</h2>
 * A pipe on descriptors. With {@code java.nio} whatever that has: a pipe on Unix, two sockets on Windows. How much it holds
 * before a write would block is the system's, 64 KiB on Linux.
 */
public final class Pipe implements AutoCloseable {
    private final Reader source;
    private final Writer sink;

    Pipe(ByteCalls reading, ByteCalls writing) {
        this.source = new Reader(reading);
        this.sink = new Writer(writing);
    }

    /**
     * Opens a pipe of the default family: {@link Net#pipe} of {@link Net#standard()}.
     *
     * @return a pipe, the caller's to close
     * @throws IOException if the system refuses, e.g. because too many files are open
     */
    public static Pipe open() throws IOException {
        return Net.standard().pipe();
    }

    /**
     * Where bytes come out.
     *
     * @return the same end every time
     */
    public Reader source() {
        return source;
    }

    /**
     * Where bytes go in.
     *
     * @return the same end every time
     */
    public Writer sink() {
        return sink;
    }

    /** Closes both ends. Idempotent, from any thread. */
    @Override
    public void close() {
        sink.close();
        source.close();
    }

    @Override
    public String toString() {
        return "Pipe from " + sink + " to " + source;
    }

    /** The end that bytes come out of. Readable while there are some, or the other end is closed. */
    public static final class Reader implements Io {
        private final ByteCalls bytes;
        private final LeakTracker leak;

        Reader(ByteCalls bytes) {
            this.bytes = bytes;
            this.leak = LeakTracker.track(this, "Pipe.Reader of", bytes, bytes::close);
        }

        @Override
        public SourceHandle handle() {
            return bytes.handle();
        }

        /**
         * Reads what is there, up to the buffer's room.
         *
         * @param into where the bytes go, from its position on
         * @return how many bytes; {@link #EOF} if the other end is closed and everything was read; or {@link #WOULD_BLOCK}; 0 only
         *     for a buffer without room
         * @throws java.nio.channels.ClosedChannelException if this end is closed
         * @throws IOException if the system refuses
         * @throws IllegalArgumentException if the buffer is read-only
         */
        public int tryRead(ByteBuffer into) throws IOException {
            ByteCalls.requireWritable(into);
            try {
                return bytes.read(into);
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
         * @return how many bytes; {@link #EOF} if the other end is closed and everything was read; or {@link #WOULD_BLOCK}; 0 only for buffers without room
         * @throws java.nio.channels.ClosedChannelException if this end is closed
         * @throws IOException if the system refuses
         * @throws IllegalArgumentException if one of them is read-only
         * @throws IndexOutOfBoundsException if the range is not within the array
         */
        public int tryRead(ByteBuffer[] into, int offset, int length) throws IOException {
            ByteCalls.requireWritable(into, offset, length);
            try {
                return bytes.read(into, offset, length);
            } finally {
                Reference.reachabilityFence(this);
            }
        }

        /**
         * Reads what is there, up to the segment's size.
         *
         * @param into where the bytes go, from its beginning on
         * @return how many bytes; {@link #EOF} if the other end is closed and everything was read; or {@link #WOULD_BLOCK}; 0 only for an empty segment
         * @throws java.nio.channels.ClosedChannelException if this end is closed
         * @throws IOException if the system refuses
         * @throws IllegalArgumentException if the segment is read-only
         * @throws IllegalStateException if the segment's arena is closed
         * @throws WrongThreadException if the segment is confined to another thread
         */
        public int tryRead(MemorySegment into) throws IOException {
            ByteCalls.requireWritable(into);
            try {
                return bytes.read(into);
            } finally {
                Reference.reachabilityFence(this);
            }
        }

        @Override
        public void close() {
            leak.closed();
            bytes.close();
        }

        @Override
        public String toString() {
            return "Pipe.Reader, " + bytes;
        }
    }

    /** The end that bytes go into. Writable while there is room, or the other end is closed. */
    public static final class Writer implements Io {
        private final ByteCalls bytes;
        private final LeakTracker leak;

        Writer(ByteCalls bytes) {
            this.bytes = bytes;
            this.leak = LeakTracker.track(this, "Pipe.Writer of", bytes, bytes::close);
        }

        @Override
        public SourceHandle handle() {
            return bytes.handle();
        }

        /**
         * Writes what there is room for.
         *
         * @param from the bytes, from its position on
         * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for an empty buffer
         * @throws java.nio.channels.ClosedChannelException if this end is closed
         * @throws IOException if the other end is closed
         */
        public int tryWrite(ByteBuffer from) throws IOException {
            try {
                return bytes.write(from);
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
         * @throws java.nio.channels.ClosedChannelException if this end is closed
         * @throws IOException if the other end is closed
         * @throws IndexOutOfBoundsException if the range is not within the array
         */
        public int tryWrite(ByteBuffer[] from, int offset, int length) throws IOException {
            ByteCalls.requireWithin(from, offset, length);
            try {
                return bytes.write(from, offset, length);
            } finally {
                Reference.reachabilityFence(this);
            }
        }

        /**
         * Writes what there is room for.
         *
         * @param from the bytes, from its beginning on
         * @return how many bytes, or {@link #WOULD_BLOCK}; 0 only for an empty segment
         * @throws java.nio.channels.ClosedChannelException if this end is closed
         * @throws IOException if the other end is closed
         * @throws IllegalStateException if the segment's arena is closed
         * @throws WrongThreadException if the segment is confined to another thread
         */
        public int tryWrite(MemorySegment from) throws IOException {
            try {
                return bytes.write(from);
            } finally {
                Reference.reachabilityFence(this);
            }
        }

        @Override
        public void close() {
            leak.closed();
            bytes.close();
        }

        @Override
        public String toString() {
            return "Pipe.Writer, " + bytes;
        }
    }
}
