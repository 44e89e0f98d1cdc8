package io.millrace.engine;

import io.millrace.net.Io;
import io.millrace.sys.BufferAddress;
import io.millrace.sys.CallState;
import io.millrace.sys.Errno;
import io.millrace.sys.ErrnoException;
import io.millrace.sys.Sockets;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * What the connections of a loop are read into, one after the other; and the system calls between it and their sockets.
 *
 * <p>These are the calls of {@link io.millrace.net.ByteStream#tryRead} and {@code tryWrite} without what a stream owes its other users: nobody but the loop closes a socket
 * that the loop was given, so there is no use to count; and the loop keeps its buffer, whose address is known. Results are those of {@link Io}.
 *
 * <p>One thread at a time.
 */
final class LoopBuffer {
    private static final int EAGAIN = -Errno.EAGAIN.code();
    private static final int EINTR = -Errno.EINTR.code();

    /** Where it begins. The kernel's pieces begin at pages, too; memory 16 bytes behind or before one is copied at a third of the speed: see decision 15. */
    private static final int PAGE = 4096;

    private final CallState state = CallState.forLoop();
    private ByteBuffer buffer = ByteBuffer.allocateDirect(0);
    private long address;

    /** The buffer, empty, with this much room. */
    ByteBuffer cleared(int size) {
        if (buffer.capacity() < size) {
            buffer = ByteBuffer.allocateDirect(size + 2 * PAGE)
                    .alignedSlice(PAGE)
                    .slice(0, size);
            address = BufferAddress.ofOwn(buffer);
        }
        return buffer.clear().limit(size);
    }

    /** Whether this is the buffer, and not a view of it. */
    @SuppressWarnings("ReferenceEquality") // identity is what is meant
    boolean is(ByteBuffer other) {
        return other == buffer;
    }

    /** Reads into the buffer, from its position to its limit. */
    int receive(int fd) throws IOException {
        ByteBuffer into = buffer;
        int position = into.position();
        long got;
        do {
            got = Sockets.receive(state, fd, address + position, into.limit() - position);
        } while (got == EINTR);
        if (got > 0) {
            into.position(position + (int) got);
            return (int) got;
        }
        return got == 0 ? Io.EOF : wouldBlock("recv", fd, got);
    }

    /** Writes the buffer, from its position to its limit. */
    int send(int fd) throws IOException {
        ByteBuffer from = buffer;
        int position = from.position();
        long sent;
        do {
            sent = Sockets.send(state, fd, address + position, from.limit() - position);
        } while (sent == EINTR);
        if (sent >= 0) {
            from.position(position + (int) sent);
            return (int) sent;
        }
        return wouldBlock("send", fd, sent);
    }

    private static int wouldBlock(String call, int fd, long result) throws ErrnoException {
        if (result != EAGAIN) {
            throw new ErrnoException(call, fd, (int) -result);
        }
        return Io.WOULD_BLOCK;
    }
}
