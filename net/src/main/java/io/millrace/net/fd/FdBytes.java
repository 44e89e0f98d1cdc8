package io.millrace.net.fd;

import io.millrace.net.family.ByteCalls;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.BufferAddress;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Iovecs;
import io.millrace.sys.call.Scratch;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes through a descriptor: one system call each time, and no allocation.
 *
 * <p>Memory of any kind reaches the kernel in one of three forms: an address, a user's segment, or a list of addresses.
 * {@link #attempt} makes the call and is the only method that interprets its result; a subclass says which system calls
 * its kind of descriptor needs. Both directions share their code: subclasses are final, so the compiler knows which
 * call it is, and in which direction.
 */
abstract sealed class FdBytes implements ByteCalls permits FdStream, FdPipe, FdForeignSocket, FdGuarded {

    final Descriptor descriptor;
    final KernelHandle handle;

    /** One for each direction: otherwise an echo between two buffers would miss every time. */
    private @Nullable BufferAddress lastRead;

    private @Nullable BufferAddress lastWritten;

    FdBytes(Descriptor descriptor, boolean alwaysReady) {
        this.descriptor = descriptor;
        this.handle = new KernelHandle(descriptor, alwaysReady);
    }

    /** Reads into, or writes from, memory of the library or pinned memory. Returns the count, or {@code -errno}. */
    abstract long call(boolean reading, CallState state, int fd, long address, int bytes);

    /** The same with a user's native segment, which cannot be freed meanwhile. */
    abstract long call(boolean reading, CallState state, int fd, MemorySegment memory, int bytes);

    /** The same with several pieces of memory. */
    abstract long call(boolean reading, CallState state, int fd, Iovecs memory);

    /** Returns the name of the system call, for error messages. */
    abstract String callName(boolean reading);

    /** Returns the most bytes that one write may move. */
    int mostWritten() {
        return Iovecs.MAX_BYTES;
    }

    @Override
    public final KernelHandle handle() {
        return handle;
    }

    @Override
    public final boolean isOpen() {
        return !descriptor.isClosing();
    }

    @Override
    public final int read(ByteBuffer into) throws IOException {
        return move(true, into);
    }

    @Override
    public final int write(ByteBuffer from) throws IOException {
        return move(false, from);
    }

    @Override
    public final int read(ByteBuffer[] into, int offset, int length) throws IOException {
        return move(true, into, offset, length);
    }

    @Override
    public final int write(ByteBuffer[] from, int offset, int length) throws IOException {
        return move(false, from, offset, length);
    }

    @Override
    public final int read(MemorySegment into) throws IOException {
        return move(true, into);
    }

    @Override
    public final int write(MemorySegment from) throws IOException {
        return move(false, from);
    }

    private int move(boolean reading, ByteBuffer buffer) throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            if (!buffer.hasRemaining()) {
                return 0;
            }
            int moved = buffer.isDirect() ? moveDirect(reading, fd, buffer) : moveCopied(reading, fd, buffer);
            if (moved > 0) {
                buffer.position(buffer.position() + moved);
            }
            return moved;
        } finally {
            descriptor.release();
        }
    }

    private int moveDirect(boolean reading, int fd, ByteBuffer buffer) throws IOException {
        try (CallState state = CallState.borrow()) {
            BufferAddress address = addressOf(reading, state, buffer);
            if (!address.isLasting()) {
                buffer.get(buffer.position()); // throws for a buffer that this thread may not use, before bytes are
                // taken for it
                return moveCopied(reading, fd, buffer);
            }
            try {
                // Each is read once: if they are changed meanwhile, the bytes still lie within the buffer.
                int position = buffer.position();
                int asked = Math.max(buffer.limit() - position, 0);
                return asked == 0 ? 0 : attempt(reading, state, fd, address.at(position), null, null, asked);
            } finally {
                Reference.reachabilityFence(buffer);
            }
        }
    }

    private BufferAddress addressOf(boolean reading, CallState state, ByteBuffer buffer) {
        BufferAddress last = reading ? lastRead : lastWritten;
        BufferAddress address = state.address(buffer, last);
        if (address != last) {
            if (reading) {
                lastRead = address;
            } else {
                lastWritten = address;
            }
        }
        return address;
    }

    private int moveCopied(boolean reading, int fd, ByteBuffer buffer) throws IOException {
        int asked = Math.min(buffer.remaining(), Scratch.MAX_BYTES);
        try (Scratch scratch = Scratch.borrow(asked);
                CallState state = CallState.borrow()) {
            if (!reading) {
                scratch.take(buffer, buffer.position(), asked);
            }
            int moved = attempt(reading, state, fd, scratch.address(), null, null, asked);
            if (reading && moved > 0) {
                scratch.give(buffer, buffer.position(), moved);
            }
            return moved;
        }
    }

    private int move(boolean reading, ByteBuffer[] buffers, int offset, int length) throws IOException {
        int fd = FdUse.begin(descriptor);
        try (Iovecs iovecs = Iovecs.borrow()) {
            int asked = reading
                    ? iovecs.forReading(buffers, offset, length)
                    : iovecs.forWriting(buffers, offset, length, mostWritten());
            if (asked == 0) {
                return 0;
            }
            try (CallState state = CallState.borrow()) {
                int moved = attempt(reading, state, fd, 0, null, iovecs, asked);
                if (reading) {
                    iovecs.settleRead(moved);
                } else {
                    iovecs.settleWrite(moved);
                }
                return moved;
            }
        } finally {
            descriptor.release();
        }
    }

    private int move(boolean reading, MemorySegment segment) throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            if (segment.byteSize() == 0) {
                return 0;
            }
            return segment.isNative() ? moveNative(reading, fd, segment) : moveCopied(reading, fd, segment);
        } finally {
            descriptor.release();
        }
    }

    private int moveNative(boolean reading, int fd, MemorySegment segment) throws IOException {
        int asked = (int) Math.min(segment.byteSize(), Iovecs.MAX_BYTES);
        try (CallState state = CallState.borrow()) {
            return attempt(reading, state, fd, 0, segment, null, asked);
        }
    }

    private int moveCopied(boolean reading, int fd, MemorySegment segment) throws IOException {
        int asked = (int) Math.min(segment.byteSize(), Scratch.MAX_BYTES);
        try (Scratch scratch = Scratch.borrow(asked);
                CallState state = CallState.borrow()) {
            if (!reading) {
                scratch.take(segment, asked);
            }
            int moved = attempt(reading, state, fd, scratch.address(), null, null, asked);
            if (reading && moved > 0) {
                scratch.give(segment, moved);
            }
            return moved;
        }
    }

    /**
     * Makes the call, again if a signal interrupted it. The memory is the list, the segment or, if there is neither,
     * the address.
     */
    private int attempt(
            boolean reading,
            CallState state,
            int fd,
            long address,
            @Nullable MemorySegment segment,
            @Nullable Iovecs list,
            int asked)
            throws IOException {
        long result;
        do {
            result = list != null
                    ? call(reading, state, fd, list)
                    : segment != null
                            ? call(reading, state, fd, segment, asked)
                            : call(reading, state, fd, address, asked);
        } while (Errno.isInterrupted(result));
        return result == asked ? asked : settle(reading, fd, result);
    }

    /**
     * Converts the result of a system call that moved less than was asked for, and marks the direction drained if it
     * was.
     */
    private int settle(boolean reading, int fd, long result) throws IOException {
        if (result == 0 && reading) {
            return EOF;
        }
        if (result < 0 && !Errno.isWouldBlock(result)) {
            throw new ErrnoException(callName(reading), fd, (int) -result);
        }
        handle.markDrained(reading ? Bits.READABLE : Bits.WRITABLE);
        return Errno.isWouldBlock(result) ? WOULD_BLOCK : (int) result;
    }

    @Override
    public final String toString() {
        return descriptor.toString();
    }
}
