package io.millrace.net;

import io.millrace.poll.internal.OsHandle;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * What moves the bytes of a source: a descriptor or a {@code java.nio} channel. Results as in {@link Io}.
 *
 * <p>An implementation tells its handle of each drained direction: at would-block, and when fewer bytes were moved than the
 * system was asked for. It does not at the end of the stream, where the direction stays ready for ever.
 */
sealed interface ByteTransport permits FdBytes, NioBytes, RefusedBytes {
    OsHandle handle();

    boolean isOpen();

    /** The buffer is writable. */
    int read(ByteBuffer into) throws IOException;

    int write(ByteBuffer from) throws IOException;

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

    /** The same for a segment. */
    static void requireWritable(MemorySegment into) {
        if (into.isReadOnly()) {
            throw new IllegalArgumentException("cannot read into a read-only segment; pass one that can be written");
        }
    }
}
