package io.millrace.net.fd;

import io.millrace.net.family.ByteCalls;
import io.millrace.net.family.FileCalls;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.BufferAddress;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Iovecs;
import io.millrace.sys.call.Scratch;
import io.millrace.sys.posix.Files;
import io.millrace.sys.posix.Pipes;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A file with a descriptor: one system call each time, and no allocation. Like {@link FdBytes}, except that a call may
 * have a position and never would block.
 */
final class FdFile implements FileCalls {
    private static final Path OPEN_FILES = Path.of("/proc/self/fd");

    private final Descriptor descriptor;
    private final KernelHandle handle;
    private @Nullable BufferAddress lastRead;
    private @Nullable BufferAddress lastWritten;

    FdFile(Descriptor descriptor) {
        this.descriptor = descriptor;
        this.handle = new KernelHandle(descriptor, true);
    }

    @Override
    public SourceHandle handle() {
        return handle;
    }

    @Override
    public int read(ByteBuffer into, long position) throws IOException {
        return move(true, into, position);
    }

    @Override
    public int write(ByteBuffer from, long position) throws IOException {
        return move(false, from, position);
    }

    @Override
    public int read(MemorySegment into, long position) throws IOException {
        return move(true, into, position);
    }

    @Override
    public int write(MemorySegment from, long position) throws IOException {
        return move(false, from, position);
    }

    private int move(boolean reading, ByteBuffer buffer, long position) throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            if (!buffer.hasRemaining()) {
                return 0;
            }
            int moved = buffer.isDirect()
                    ? moveDirect(reading, fd, buffer, position)
                    : moveCopied(reading, fd, buffer, position);
            if (moved > 0) {
                buffer.position(buffer.position() + moved);
            }
            return moved;
        } finally {
            Reference.reachabilityFence(buffer);
            descriptor.release();
        }
    }

    private int moveDirect(boolean reading, int fd, ByteBuffer buffer, long position) throws IOException {
        BufferAddress address = addressOf(reading, buffer);
        if (!address.isLasting()) {
            buffer.get(buffer.position()); // throws for a buffer that this thread may not use, before bytes are taken
            // for it
            return moveCopied(reading, fd, buffer, position);
        }
        // Each is read once: if they are changed meanwhile, the bytes still lie within the buffer.
        int at = buffer.position();
        return attempt(reading, fd, address.at(at), null, Math.max(buffer.limit() - at, 0), position);
    }

    private BufferAddress addressOf(boolean reading, ByteBuffer buffer) {
        BufferAddress last = reading ? lastRead : lastWritten;
        BufferAddress address = BufferAddress.of(last, buffer);
        if (address != last) {
            if (reading) {
                lastRead = address;
            } else {
                lastWritten = address;
            }
        }
        return address;
    }

    private int moveCopied(boolean reading, int fd, ByteBuffer buffer, long position) throws IOException {
        int asked = Math.min(buffer.remaining(), Scratch.MAX_BYTES);
        try (Scratch scratch = Scratch.borrow(asked)) {
            if (!reading) {
                scratch.take(buffer, buffer.position(), asked);
            }
            int moved = attempt(reading, fd, scratch.address(), null, asked, position);
            if (reading && moved > 0) {
                scratch.give(buffer, buffer.position(), moved);
            }
            return moved;
        }
    }

    private int move(boolean reading, MemorySegment segment, long position) throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            if (segment.byteSize() == 0) {
                return 0;
            }
            if (segment.isNative()) {
                int asked = (int) Math.min(segment.byteSize(), Iovecs.MAX_BYTES);
                return attempt(reading, fd, 0, segment, asked, position);
            }
            return moveCopied(reading, fd, segment, position);
        } finally {
            descriptor.release();
        }
    }

    private int moveCopied(boolean reading, int fd, MemorySegment segment, long position) throws IOException {
        int asked = (int) Math.min(segment.byteSize(), Scratch.MAX_BYTES);
        try (Scratch scratch = Scratch.borrow(asked)) {
            if (!reading) {
                scratch.take(segment, asked);
            }
            int moved = attempt(reading, fd, scratch.address(), null, asked, position);
            if (reading && moved > 0) {
                scratch.give(segment, moved);
            }
            return moved;
        }
    }

    /**
     * Makes the call, again if a signal interrupted it, and converts the result. The memory is the segment or, if there
     * is none, the address.
     */
    private int attempt(
            boolean reading, int fd, long address, @Nullable MemorySegment segment, int asked, long position)
            throws IOException {
        long result;
        try (CallState state = CallState.borrow()) {
            do {
                result = segment != null
                        ? call(reading, state, fd, segment, asked, position)
                        : call(reading, state, fd, address, asked, position);
            } while (Errno.isInterrupted(result));
        }
        if (result < 0) {
            throw failed(reading, fd, (int) -result);
        }
        return result == 0 && reading ? ByteCalls.EOF : (int) result;
    }

    /** The descriptor is in use and therefore open; so EBADF means that it was opened for the other direction. */
    private IOException failed(boolean reading, int fd, int errno) {
        ErrnoException failure = new ErrnoException(reading ? "read" : "write", fd, errno);
        if (!failure.is(Errno.EBADF)) {
            return failure;
        }
        return new IOException(
                reading
                        ? "cannot read from " + this + ": it was opened for writing only"
                        : "cannot write to " + this + ": it was opened for reading only",
                failure);
    }

    private static long call(boolean reading, CallState state, int fd, long address, int bytes, long position) {
        if (position == NEXT) {
            return reading ? Pipes.read(state, fd, address, bytes) : Pipes.write(state, fd, address, bytes);
        }
        return reading
                ? Files.read(state, fd, address, bytes, position)
                : Files.write(state, fd, address, bytes, position);
    }

    private static long call(boolean reading, CallState state, int fd, MemorySegment memory, int bytes, long position) {
        if (position == NEXT) {
            return reading ? Pipes.read(state, fd, memory, bytes) : Pipes.write(state, fd, memory, bytes);
        }
        return reading
                ? Files.read(state, fd, memory, bytes, position)
                : Files.write(state, fd, memory, bytes, position);
    }

    @Override
    public long size() throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            return Files.size(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public Instant modified(Path openedAs) throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            return Files.modified(fd);
        } finally {
            descriptor.release();
        }
    }

    /** Returns null if there is no /proc here. */
    private static @Nullable Path readLink(int fd) throws IOException {
        try {
            return java.nio.file.Files.readSymbolicLink(OPEN_FILES.resolve(Integer.toString(fd)));
        } catch (NoSuchFileException e) {
            return null;
        }
    }

    @Override
    public Path realPath(Path openedAs) throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            Path real = readLink(fd);
            if (real == null) {
                return openedAs.toRealPath();
            }
            if (real.toString().endsWith(" (deleted)") && !java.nio.file.Files.exists(real)) {
                throw new NoSuchFileException(openedAs.toString(), null, "it was removed after it had been opened");
            }
            return real;
        } finally {
            descriptor.release();
        }
    }

    @Override
    public void force(boolean metadata) throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            Files.force(fd, metadata);
        } finally {
            descriptor.release();
        }
    }

    /** Sends to a socket of which the caller holds a use: see {@link Files#send}. */
    long sendTo(int socket, long position, long bytes) throws ClosedChannelException {
        int fd = FdUse.begin(descriptor);
        try {
            try (CallState state = CallState.borrow()) {
                long result;
                do {
                    result = Files.send(state, socket, fd, position, bytes);
                } while (Errno.isInterrupted(result));
                return result;
            }
        } finally {
            descriptor.release();
        }
    }

    @Override
    public void requireOpen() throws ClosedChannelException {
        FdUse.begin(descriptor);
        descriptor.release();
    }

    @Override
    public void close() {
        handle.close();
    }

    @Override
    public String toString() {
        return descriptor.toString();
    }
}
