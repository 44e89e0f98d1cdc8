package io.millrace.net.family;

import io.millrace.poll.SourceHandle;
import io.millrace.sys.call.Scratch;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.time.Instant;

/**
 * Moves the bytes of a file: a descriptor or a {@code java.nio} channel. Calls return a count or {@link ByteCalls#EOF};
 * they never block in the sense of would-block.
 */
public interface FileCalls {
    /** Used as a position: where the last read or write ended. */
    long NEXT = -1;

    SourceHandle handle();

    int read(ByteBuffer into, long position) throws IOException;

    int write(ByteBuffer from, long position) throws IOException;

    int read(MemorySegment into, long position) throws IOException;

    int write(MemorySegment from, long position) throws IOException;

    long size() throws IOException;

    Instant modified(Path openedAs) throws IOException;

    /** Returns where the open file is, links resolved; {@code openedAs} is for those that can only look there. */
    Path realPath(Path openedAs) throws IOException;

    void force(boolean metadata) throws IOException;

    void requireOpen() throws ClosedChannelException;

    void close();

    /**
     * Sends bytes of a file by copying, if the system has no direct way. Bytes that were read but not taken are read
     * again by the next call; nothing is lost, because the caller continues after what was taken.
     *
     * @return how many bytes, end of file, or would-block
     */
    static long copy(FileCalls from, long position, long count, ByteCalls to) throws IOException {
        int asked = (int) Math.min(count, Scratch.MAX_BYTES);
        try (Scratch scratch = Scratch.borrow(asked)) {
            try {
                ByteBuffer view = scratch.view(asked);
                int read = from.read(view, position);
                return read == ByteCalls.EOF ? ByteCalls.EOF : to.write(view.flip());
            } finally {
                scratch.clearView();
            }
        }
    }
}
