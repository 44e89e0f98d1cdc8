package io.millrace.net;

import io.millrace.net.family.ByteCalls;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.LeakTracker;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * A pipe within this process: what is written to {@link #sink()} is read from {@link #source()}. Each end is a separate
 * source, which can be registered with a different poll and is closed separately. {@link Io} describes how their calls
 * behave.
 *
 * <h2>Portability</h2>
 *
 * With descriptors, a pipe of the system. With {@code java.nio}, what the JDK uses: a pipe on Unix, two sockets on
 * Windows. How much it holds before a write would block depends on the system; on Linux, it is 64 KiB.
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
     * @return a pipe, which the caller must close
     * @throws IOException if the system refuses, for example because too many files are open
     */
    public static Pipe open() throws IOException {
        return Net.standard().pipe();
    }

    /**
     * Returns the end from which bytes are read.
     *
     * @return always the same one
     */
    public Reader source() {
        return source;
    }

    /**
     * Returns the end to which bytes are written.
     *
     * @return always the same one
     */
    public Writer sink() {
        return sink;
    }

    /** Closes both ends. Idempotent; any thread may call it. */
    @Override
    public void close() {
        sink.close();
        source.close();
    }

    @Override
    public String toString() {
        return "Pipe from " + sink + " to " + source;
    }

    /** The end from which bytes are read. Readable while there are any, or when the other end is closed. */
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
         * Reads what has arrived, as much as fits into the buffer.
         *
         * @param into where the bytes go, from its position on
         * @return how many bytes; {@link #EOF} if the other end is closed and everything was read; or {@link
         *     #WOULD_BLOCK}; 0 only for a buffer without room
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
         * Reads what has arrived into several buffers, in order.
         *
         * @param into where the bytes go, from each one's position on
         * @param offset the index of the first buffer
         * @param length how many buffers
         * @return how many bytes; {@link #EOF} if the other end is closed and everything was read; or {@link
         *     #WOULD_BLOCK}; 0 only for buffers without room
         * @throws java.nio.channels.ClosedChannelException if this end is closed
         * @throws IOException if the system refuses
         * @throws IllegalArgumentException if a buffer is read-only
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
         * Reads what has arrived, as much as fits into the segment.
         *
         * @param into where the bytes go, from its beginning on
         * @return how many bytes; {@link #EOF} if the other end is closed and everything was read; or {@link
         *     #WOULD_BLOCK}; 0 only for an empty segment
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
            leak.forget();
            bytes.close();
        }

        @Override
        public String toString() {
            return "Pipe.Reader, " + bytes;
        }
    }

    /** The end to which bytes are written. Writable while there is room, or when the other end is closed. */
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
         * Writes as much as there is room for.
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
         * Writes as much as there is room for from several buffers, in order.
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
         * Writes as much as there is room for.
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
            leak.forget();
            bytes.close();
        }

        @Override
        public String toString() {
            return "Pipe.Writer, " + bytes;
        }
    }
}
