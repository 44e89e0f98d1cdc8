package io.millrace.net.family;

import io.millrace.poll.internal.KernelHandle;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Moves the bytes of a source: a descriptor or a {@code java.nio} channel. Calls return a count, {@link #EOF} or {@link
 * #WOULD_BLOCK}; on a closed source they throw ClosedChannelException.
 *
 * <p>An implementation marks a direction of its handle as drained at would-block, and when fewer bytes were moved than
 * the system was asked for. It does not do so at the end of the stream, where the direction stays ready for ever.
 */
public interface ByteCalls {
    /** The end of the stream. */
    int EOF = -1;

    /** No bytes were moved. */
    int WOULD_BLOCK = -2;

    KernelHandle handle();

    boolean isOpen();

    /** Reads into a writable buffer. */
    int read(ByteBuffer into) throws IOException;

    int write(ByteBuffer from) throws IOException;

    /** Reads into writable buffers; the range is within the array. */
    int read(ByteBuffer[] into, int offset, int length) throws IOException;

    /** Writes from buffers; the range is within the array. */
    int write(ByteBuffer[] from, int offset, int length) throws IOException;

    /** Reads into a writable segment. */
    int read(MemorySegment into) throws IOException;

    int write(MemorySegment from) throws IOException;

    /** Deregisters and closes. Idempotent; any thread may call it. */
    default void close() {
        handle().close();
    }

    /** The check that both families make before they read. */
    static void requireWritable(ByteBuffer into) {
        if (into.isReadOnly()) {
            throw new IllegalArgumentException("cannot read into a read-only buffer; pass one that can be written");
        }
    }

    /** The same for several buffers. */
    static void requireWritable(ByteBuffer[] into, int offset, int length) {
        requireWithin(into, offset, length);
        for (int i = offset; i < offset + length; i++) {
            requireWritable(into[i]);
        }
    }

    /** Checks a range of an array and that its elements are not null. */
    static void requireWithin(ByteBuffer[] buffers, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, buffers.length);
        for (int i = offset; i < offset + length; i++) {
            Objects.requireNonNull(buffers[i], "a buffer");
        }
    }

    /** The same for a segment. */
    static void requireWritable(MemorySegment into) {
        if (into.isReadOnly()) {
            throw new IllegalArgumentException("cannot read into a read-only segment; pass one that can be written");
        }
    }
}
