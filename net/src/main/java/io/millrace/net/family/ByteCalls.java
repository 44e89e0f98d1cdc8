package io.millrace.net.family;

import io.millrace.poll.internal.KernelHandle;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * What moves the bytes of a source: a descriptor or a {@code java.nio} channel. A count, {@link #EOF} or {@link #WOULD_BLOCK};
 * a call on a closed one throws ClosedChannelException.
 *
 * <p>An implementation tells its handle of each drained direction: at would-block, and when fewer bytes were moved than the
 * system was asked for. It does not at the end of the stream, where the direction stays ready for ever.
 */
public interface ByteCalls {
    /** The end of the stream. */
    int EOF = -1;

    /** Nothing was moved. */
    int WOULD_BLOCK = -2;

    KernelHandle handle();

    boolean isOpen();

    /** The buffer is writable. */
    int read(ByteBuffer into) throws IOException;

    int write(ByteBuffer from) throws IOException;

    /** The buffers are writable, and the range is within the array. */
    int read(ByteBuffer[] into, int offset, int length) throws IOException;

    /** The range is within the array. */
    int write(ByteBuffer[] from, int offset, int length) throws IOException;

    /** The segment is writable. */
    int read(MemorySegment into) throws IOException;

    int write(MemorySegment from) throws IOException;

    /** Deregisters and closes; idempotent, from any thread. */
    default void close() {
        handle().close();
    }

    /** The check that both families owe their callers before they read. */
    static void requireWritable(ByteBuffer into) {
        if (into.isReadOnly()) {
            throw new IllegalArgumentException("cannot read into a read-only buffer; pass one that can be written");
        }
    }

    /** The same for several. */
    static void requireWritable(ByteBuffer[] into, int offset, int length) {
        requireWithin(into, offset, length);
        for (int i = offset; i < offset + length; i++) {
            requireWritable(into[i]);
        }
    }

    /** A range of an array, none of whose elements is missing. */
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
