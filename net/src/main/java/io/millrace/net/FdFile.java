package io.millrace.net;

import io.millrace.poll.Handle;
import io.millrace.poll.internal.OsHandle;
import io.millrace.sys.BufferAddress;
import io.millrace.sys.CallState;
import io.millrace.sys.Descriptor;
import io.millrace.sys.Errno;
import io.millrace.sys.ErrnoException;
import io.millrace.sys.Files;
import io.millrace.sys.Iovecs;
import io.millrace.sys.Pipes;
import io.millrace.sys.Scratch;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/**
 * A file as a descriptor: one system call each time, and no allocation. Like {@link FdBytes}, save that a call may have a position and that
 * nothing ever would block.
 */
final class FdFile implements FileTransport {
    private static final int EINTR = -Errno.EINTR.code();

    private final Descriptor descriptor;
    private final OsHandle handle;
    private @Nullable BufferAddress lastRead;
    private @Nullable BufferAddress lastWritten;

    FdFile(Descriptor descriptor) {
        this.descriptor = descriptor;
        this.handle = new OsHandle(descriptor, true);
    }

    @Override
    public Handle handle() {
        return handle;
    }

    @Override
    public int read(ByteBuffer into, long position) throws IOException {
        int fd = use();
        try {
            if (!into.hasRemaining()) {
                return 0;
            }
            long address = into.isDirect() ? readAddress(into) : 0;
            int moved;
            if (address != 0) {
                // Each read once: were they changed meanwhile, the bytes would still lie within the buffer.
                int at = into.position();
                moved = checkRead(load(fd, address + at, Math.max(into.limit() - at, 0), position));
            } else {
                into.get(
                        into.position()); // A buffer that this thread may not use throws before bytes are taken for it.
                int asked = Math.min(into.remaining(), Scratch.MAX_BYTES);
                try (Scratch scratch = Scratch.borrow(asked)) {
                    moved = checkRead(load(fd, scratch.address(), asked, position));
                    if (moved > 0) {
                        scratch.give(into, into.position(), moved);
                    }
                }
            }
            if (moved > 0) {
                into.position(into.position() + moved);
            }
            return moved;
        } finally {
            Reference.reachabilityFence(into);
            descriptor.release();
        }
    }

    @Override
    public int write(ByteBuffer from, long position) throws IOException {
        int fd = use();
        try {
            if (!from.hasRemaining()) {
                return 0;
            }
            long address = from.isDirect() ? writtenAddress(from) : 0;
            long moved;
            if (address != 0) {
                int at = from.position();
                moved = store(fd, address + at, Math.max(from.limit() - at, 0), position);
            } else {
                int asked = Math.min(from.remaining(), Scratch.MAX_BYTES);
                try (Scratch scratch = Scratch.borrow(asked)) {
                    scratch.take(from, from.position(), asked);
                    moved = store(fd, scratch.address(), asked, position);
                }
            }
            int written = checkWritten(moved);
            from.position(from.position() + written);
            return written;
        } finally {
            Reference.reachabilityFence(from);
            descriptor.release();
        }
    }

    @Override
    public int read(MemorySegment into, long position) throws IOException {
        int fd = use();
        try {
            if (into.byteSize() == 0) {
                return 0;
            }
            if (into.isNative()) {
                return checkRead(load(fd, into, (int) Math.min(into.byteSize(), Iovecs.MAX_BYTES), position));
            }
            int asked = (int) Math.min(into.byteSize(), Scratch.MAX_BYTES);
            try (Scratch scratch = Scratch.borrow(asked)) {
                int moved = checkRead(load(fd, scratch.address(), asked, position));
                if (moved > 0) {
                    scratch.give(into, moved);
                }
                return moved;
            }
        } finally {
            descriptor.release();
        }
    }

    @Override
    public int write(MemorySegment from, long position) throws IOException {
        int fd = use();
        try {
            if (from.byteSize() == 0) {
                return 0;
            }
            if (from.isNative()) {
                return checkWritten(store(fd, from, (int) Math.min(from.byteSize(), Iovecs.MAX_BYTES), position));
            }
            int asked = (int) Math.min(from.byteSize(), Scratch.MAX_BYTES);
            try (Scratch scratch = Scratch.borrow(asked)) {
                scratch.take(from, asked);
                return checkWritten(store(fd, scratch.address(), asked, position));
            }
        } finally {
            descriptor.release();
        }
    }

    /** The address of the buffer's first byte, or 0 if its bytes must be copied. */
    private long readAddress(ByteBuffer into) {
        BufferAddress address = BufferAddress.of(lastRead, into);
        if (address != lastRead) {
            lastRead = address;
        }
        return address.isLasting() ? address.at(0) : 0;
    }

    /** The address of the buffer's first byte, or 0 if its bytes must be copied. */
    private long writtenAddress(ByteBuffer from) {
        BufferAddress address = BufferAddress.of(lastWritten, from);
        if (address != lastWritten) {
            lastWritten = address;
        }
        return address.isLasting() ? address.at(0) : 0;
    }

    private static long load(int fd, long address, int bytes, long position) {
        try (CallState state = CallState.borrow()) {
            long result;
            do {
                result = position == NEXT
                        ? Pipes.read(state, fd, address, bytes)
                        : Files.read(state, fd, address, bytes, position);
            } while (result == EINTR);
            return result;
        }
    }

    private static long store(int fd, long address, int bytes, long position) {
        try (CallState state = CallState.borrow()) {
            long result;
            do {
                result = position == NEXT
                        ? Pipes.write(state, fd, address, bytes)
                        : Files.write(state, fd, address, bytes, position);
            } while (result == EINTR);
            return result;
        }
    }

    private static long load(int fd, MemorySegment into, int bytes, long position) {
        try (CallState state = CallState.borrow()) {
            long result;
            do {
                result = position == NEXT
                        ? Pipes.read(state, fd, into, bytes)
                        : Files.read(state, fd, into, bytes, position);
            } while (result == EINTR);
            return result;
        }
    }

    private static long store(int fd, MemorySegment from, int bytes, long position) {
        try (CallState state = CallState.borrow()) {
            long result;
            do {
                result = position == NEXT
                        ? Pipes.write(state, fd, from, bytes)
                        : Files.write(state, fd, from, bytes, position);
            } while (result == EINTR);
            return result;
        }
    }

    private int checkWritten(long result) throws IOException {
        if (result < 0) {
            throw failed("write", "cannot write to ", "reading", result);
        }
        return (int) result;
    }

    private int checkRead(long result) throws IOException {
        if (result < 0) {
            throw failed("read", "cannot read from ", "writing", result);
        }
        return result == 0 ? Io.EOF : (int) result;
    }

    /** The descriptor is open, because it is in use; so a bad one is one that was opened for something else. */
    private IOException failed(String call, String doing, String openedFor, long result) {
        ErrnoException failure = new ErrnoException(call, descriptor.fd(), (int) -result);
        return failure.is(Errno.EBADF)
                ? new IOException(doing + this + ": it was opened for " + openedFor + " only", failure)
                : failure;
    }

    @Override
    public long size() throws IOException {
        int fd = use();
        try {
            return Files.size(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public void force(boolean metadata) throws IOException {
        int fd = use();
        try {
            Files.force(fd, metadata);
        } finally {
            descriptor.release();
        }
    }

    /** To a socket of which the caller holds a use: as {@link Files#send}. */
    long sendTo(int socket, long position, long bytes) throws ClosedChannelException {
        int fd = use();
        try {
            try (CallState state = CallState.borrow()) {
                long result;
                do {
                    result = Files.send(state, socket, fd, position, bytes);
                } while (result == EINTR);
                return result;
            }
        } finally {
            descriptor.release();
        }
    }

    @Override
    public void requireOpen() throws ClosedChannelException {
        use();
        descriptor.release();
    }

    private int use() throws ClosedChannelException {
        if (!descriptor.acquire()) {
            throw new ClosedChannelException();
        }
        return descriptor.fd();
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
