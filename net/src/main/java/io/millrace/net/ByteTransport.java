package io.millrace.net;

import io.millrace.poll.internal.OsHandle;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What moves the bytes of a source: a descriptor or a {@code java.nio} channel. Results as in {@link Io}.
 *
 * <p>An implementation tells its handle of each drained direction: at would-block, and when fewer bytes were moved than the
 * system was asked for. It does not at the end of the stream, where the direction stays ready for ever.
 */
sealed interface ByteTransport permits FdBytes, NioBytes {
    OsHandle handle();

    boolean isOpen();

    /** The buffer is writable. */
    int read(ByteBuffer into) throws IOException;

    int write(ByteBuffer from) throws IOException;

    /** The check that both families owe their callers before they read. */
    static void requireWritable(ByteBuffer into) {
        if (into.isReadOnly()) {
            throw new IllegalArgumentException("cannot read into a read-only buffer; pass one that can be written");
        }
    }
}
