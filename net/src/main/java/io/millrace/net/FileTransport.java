package io.millrace.net;

import io.millrace.poll.Handle;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** What moves the bytes of a file: a descriptor, or a {@code java.nio} channel. Results as in {@link Io}, never would-block. */
sealed interface FileTransport permits FdFile, NioFile {
    /** Instead of a position: where the last read or write ended. */
    long NEXT = -1;

    Handle handle();

    int read(ByteBuffer into, long position) throws IOException;

    int write(ByteBuffer from, long position) throws IOException;

    int read(MemorySegment into, long position) throws IOException;

    int write(MemorySegment from, long position) throws IOException;

    long size() throws IOException;

    void force(boolean metadata) throws IOException;

    void close();
}
