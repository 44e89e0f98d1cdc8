package io.millrace.engine.transport;

import io.millrace.net.Io;
import io.millrace.sys.call.BufferAddress;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.posix.Sockets;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The buffers of a loop, into which its connections read and in which they gather their output, one after the other;
 * and the system calls between the buffers and the sockets.
 *
 * <p>These calls correspond to {@link io.millrace.net.ByteStream#tryRead} and {@code tryWrite}, without what a stream
 * has to do for other users: only the loop closes a socket that belongs to it, so its uses need not be counted; and the
 * addresses of the loop's buffers are known. Results are those of {@link Io}.
 *
 * <p>Used by one thread at a time.
 */
final class LoopBuffer {

    /**
     * The alignment of the buffers. The kernel's pieces also begin at page boundaries; memory 16 bytes off is copied at
     * a third of the speed: see decision 15.
     */
    private static final int PAGE = 4096;

    /**
     * How much a callback can send in small pieces before the first of them goes out. This equals the default
     * high-water mark; more would have to wait anyway.
     */
    private static final int OUTPUT = 64 * 1024;

    private final CallState state = CallState.forLoop();
    private ByteBuffer buffer = ByteBuffer.allocateDirect(0);
    private long address;

    /** Created at the first use, because most reactors serve no connections. */
    private @Nullable ByteBuffer output;

    private long outputAddress;

    /**
     * Returns the buffer in which one connection at a time gathers what it sends in a callback. Empty between
     * callbacks.
     */
    ByteBuffer output() {
        ByteBuffer present = output;
        return present == null ? makeOutput() : present;
    }

    private ByteBuffer makeOutput() {
        ByteBuffer made =
                ByteBuffer.allocateDirect(OUTPUT + PAGE).alignedSlice(PAGE).slice(0, OUTPUT);
        outputAddress = BufferAddress.ofOwn(made);
        output = made;
        return made;
    }

    /** Returns the input buffer, cleared, with room for {@code size} bytes. */
    ByteBuffer cleared(int size) {
        if (buffer.capacity() < size) {
            buffer = ByteBuffer.allocateDirect(size + 2 * PAGE)
                    .alignedSlice(PAGE)
                    .slice(0, size);
            address = BufferAddress.ofOwn(buffer);
        }
        return buffer.clear().limit(size);
    }

    /** Returns whether this is one of the two buffers, and not a view of one. */
    @SuppressWarnings("ReferenceEquality") // compares identity on purpose
    boolean owns(ByteBuffer other) {
        return other == output || other == buffer;
    }

    /** Reads into the buffer, from its position to its limit. */
    int receive(int fd) throws IOException {
        ByteBuffer into = buffer;
        int position = into.position();
        long got;
        do {
            got = Sockets.receive(state, fd, address + position, into.limit() - position);
        } while (Errno.isInterrupted(got));
        if (got > 0) {
            into.position(position + (int) got);
            return (int) got;
        }
        return got == 0 ? Io.EOF : wouldBlock("recv", fd, got);
    }

    /** Writes one of the two buffers, from its position to its limit. */
    @SuppressWarnings("ReferenceEquality") // compares identity on purpose
    int send(int fd, ByteBuffer from) throws IOException {
        long begin = from == output ? outputAddress : address;
        int position = from.position();
        long sent;
        do {
            sent = Sockets.send(state, fd, begin + position, from.limit() - position);
        } while (Errno.isInterrupted(sent));
        if (sent >= 0) {
            from.position(position + (int) sent);
            return (int) sent;
        }
        return wouldBlock("send", fd, sent);
    }

    private static int wouldBlock(String call, int fd, long result) throws ErrnoException {
        if (!Errno.isWouldBlock(result)) {
            throw new ErrnoException(call, fd, (int) -result);
        }
        return Io.WOULD_BLOCK;
    }
}
