package io.millrace.net;

import io.millrace.poll.internal.OsHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.BufferAddress;
import io.millrace.sys.CallState;
import io.millrace.sys.Descriptor;
import io.millrace.sys.Errno;
import io.millrace.sys.ErrnoException;
import io.millrace.sys.Fds;
import io.millrace.sys.Iovecs;
import io.millrace.sys.Pipes;
import io.millrace.sys.Scratch;
import io.millrace.sys.Sockets;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/**
 * Bytes through a descriptor: one system call each time, and no allocation.
 *
 * <p>Each call holds a use of the descriptor, so that a close by another thread waits for its end and no call ever reaches a number
 * that was given to somebody else.
 */
final class FdBytes implements ByteTransport {
    /** Which system calls move the bytes. */
    enum Kind {
        SOCKET("recv", "send"),
        PIPE("read", "write"),
        /** Somebody else's socket, which may be one that waits: asked not to by each call. */
        FOREIGN_SOCKET("recv", "send"),
        /** Somebody else's descriptor, which may be one that waits: poll(2) is asked before each call. */
        GUARDED("read", "write"),
        /** The same for a pipe: where poll(2) says that there is room, there is a page of it, and a larger write would wait. */
        GUARDED_PIPE("read", "write", 4096), // PIPE_BUF: such a write is whole or would block
        /** The same for a terminal: where poll(2) says that there is room, there is room for a byte. */
        GUARDED_TERMINAL("read", "write", 1);

        private final String read;
        private final String write;
        private final int mostWritten;

        Kind(String read, String write) {
            this(read, write, Iovecs.MAX_BYTES);
        }

        Kind(String read, String write, int mostWritten) {
            this.read = read;
            this.write = write;
            this.mostWritten = mostWritten;
        }
    }

    private static final int EAGAIN = -Errno.EAGAIN.code();
    private static final int EINTR = -Errno.EINTR.code();
    private static final int EINVAL = -Errno.EINVAL.code();
    private static final int ENOSYS = -Errno.ENOSYS.code();
    private static final int EOVERFLOW = -Errno.EOVERFLOW.code();

    /** The file's system does not give its bytes to sockets: they must be read and written. */
    static final long NOT_THIS_WAY = -3;

    private final Descriptor descriptor;
    private final Kind kind;
    private final OsHandle handle;

    /** One for each direction: an echo between two buffers would otherwise miss every time. */
    private @Nullable BufferAddress lastRead;

    private @Nullable BufferAddress lastWritten;

    FdBytes(Descriptor descriptor, Kind kind) {
        this(descriptor, kind, false);
    }

    FdBytes(Descriptor descriptor, Kind kind, boolean alwaysReady) {
        this.descriptor = descriptor;
        this.kind = kind;
        this.handle = new OsHandle(descriptor, alwaysReady);
    }

    @Override
    public OsHandle handle() {
        return handle;
    }

    @Override
    public boolean isOpen() {
        return !descriptor.isClosing();
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        use();
        try {
            if (!into.hasRemaining()) {
                return 0;
            }
            int moved = into.isDirect() ? readDirect(into) : readCopied(into);
            if (moved > 0) {
                into.position(into.position() + moved);
            }
            return moved;
        } finally {
            descriptor.release();
        }
    }

    private int readDirect(ByteBuffer into) throws IOException {
        try (CallState state = CallState.borrow()) {
            BufferAddress address = state.address(into, lastRead);
            if (address != lastRead) {
                lastRead = address;
            }
            if (!address.isLasting()) {
                into.get(
                        into.position()); // A buffer that this thread may not use throws before bytes are taken for it.
                return readCopied(into);
            }
            try {
                // Each read once: were they changed meanwhile, the bytes would still lie within the buffer.
                int position = into.position();
                int asked = Math.max(into.limit() - position, 0);
                return asked == 0 ? 0 : settle(receive(state, address.at(position), asked), asked, Bits.READABLE);
            } finally {
                Reference.reachabilityFence(into);
            }
        }
    }

    private int readCopied(ByteBuffer into) throws IOException {
        int asked = Math.min(into.remaining(), Scratch.MAX_BYTES);
        try (Scratch scratch = Scratch.borrow(asked);
                CallState state = CallState.borrow()) {
            int moved = settle(receive(state, scratch.address(), asked), asked, Bits.READABLE);
            if (moved > 0) {
                scratch.give(into, into.position(), moved);
            }
            return moved;
        }
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
        use();
        try {
            if (!from.hasRemaining()) {
                return 0;
            }
            int moved = from.isDirect() ? writeDirect(from) : writeCopied(from);
            if (moved > 0) {
                from.position(from.position() + moved);
            }
            return moved;
        } finally {
            descriptor.release();
        }
    }

    private int writeDirect(ByteBuffer from) throws IOException {
        try (CallState state = CallState.borrow()) {
            BufferAddress address = state.address(from, lastWritten);
            if (address != lastWritten) {
                lastWritten = address;
            }
            if (!address.isLasting()) {
                return writeCopied(from);
            }
            try {
                int position = from.position();
                int asked = Math.max(from.limit() - position, 0);
                return asked == 0 ? 0 : settle(send(state, address.at(position), asked), asked, Bits.WRITABLE);
            } finally {
                Reference.reachabilityFence(from);
            }
        }
    }

    private int writeCopied(ByteBuffer from) throws IOException {
        int asked = Math.min(from.remaining(), Scratch.MAX_BYTES);
        try (Scratch scratch = Scratch.borrow(asked);
                CallState state = CallState.borrow()) {
            scratch.take(from, from.position(), asked);
            return settle(send(state, scratch.address(), asked), asked, Bits.WRITABLE);
        }
    }

    private long receive(CallState state, long address, int bytes) {
        int fd = descriptor.fd();
        long result;
        do {
            result = switch (kind) {
                case SOCKET -> Sockets.receive(state, fd, address, bytes);
                case PIPE -> Pipes.read(state, fd, address, bytes);
                case FOREIGN_SOCKET -> Fds.receiveNow(state, fd, address, bytes);
                case GUARDED, GUARDED_PIPE, GUARDED_TERMINAL -> Fds.readIfReady(state, fd, address, bytes);
            };
        } while (result == EINTR);
        return result;
    }

    private long send(CallState state, long address, int bytes) {
        int fd = descriptor.fd();
        long result;
        do {
            result = switch (kind) {
                case SOCKET -> Sockets.send(state, fd, address, bytes);
                case PIPE -> Pipes.write(state, fd, address, bytes);
                case FOREIGN_SOCKET -> Fds.sendNow(state, fd, address, bytes);
                case GUARDED, GUARDED_PIPE, GUARDED_TERMINAL ->
                    Fds.writeIfReady(state, fd, address, Math.min(bytes, kind.mostWritten));
            };
        } while (result == EINTR);
        return result;
    }

    @Override
    public int read(ByteBuffer[] into, int offset, int length) throws IOException {
        int fd = use();
        try (Iovecs iovecs = Iovecs.borrow()) {
            int asked = iovecs.forReading(into, offset, length);
            if (asked == 0) {
                return 0;
            }
            try (CallState state = CallState.borrow()) {
                long result;
                do {
                    result = switch (kind) {
                        case SOCKET -> Sockets.receive(state, fd, iovecs);
                        case PIPE -> Pipes.read(state, fd, iovecs);
                        case FOREIGN_SOCKET -> Fds.receiveNow(state, fd, iovecs);
                        case GUARDED, GUARDED_PIPE, GUARDED_TERMINAL -> Fds.readIfReady(state, fd, iovecs);
                    };
                } while (result == EINTR);
                int moved = settle(result, asked, Bits.READABLE);
                iovecs.settleRead(moved);
                return moved;
            }
        } finally {
            descriptor.release();
        }
    }

    @Override
    public int write(ByteBuffer[] from, int offset, int length) throws IOException {
        int fd = use();
        try (Iovecs iovecs = Iovecs.borrow()) {
            int asked = iovecs.forWriting(from, offset, length, kind.mostWritten);
            if (asked == 0) {
                return 0;
            }
            try (CallState state = CallState.borrow()) {
                long result;
                do {
                    result = switch (kind) {
                        case SOCKET -> Sockets.send(state, fd, iovecs);
                        case PIPE -> Pipes.write(state, fd, iovecs);
                        case FOREIGN_SOCKET -> Fds.sendNow(state, fd, iovecs);
                        case GUARDED, GUARDED_PIPE, GUARDED_TERMINAL -> Fds.writeIfReady(state, fd, iovecs);
                    };
                } while (result == EINTR);
                int moved = settle(result, asked, Bits.WRITABLE);
                iovecs.settleWrite(moved);
                return moved;
            }
        } finally {
            descriptor.release();
        }
    }

    @Override
    public int read(MemorySegment into) throws IOException {
        int fd = use();
        try {
            if (into.byteSize() == 0) {
                return 0;
            }
            if (into.isNative()) {
                int asked = (int) Math.min(into.byteSize(), Iovecs.MAX_BYTES);
                return settle(receive(fd, into, asked), asked, Bits.READABLE);
            }
            int asked = (int) Math.min(into.byteSize(), Scratch.MAX_BYTES);
            try (Scratch scratch = Scratch.borrow(asked);
                    CallState state = CallState.borrow()) {
                int moved = settle(receive(state, scratch.address(), asked), asked, Bits.READABLE);
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
    public int write(MemorySegment from) throws IOException {
        int fd = use();
        try {
            if (from.byteSize() == 0) {
                return 0;
            }
            if (from.isNative()) {
                int asked = (int) Math.min(from.byteSize(), Iovecs.MAX_BYTES);
                return settle(send(fd, from, asked), asked, Bits.WRITABLE);
            }
            int asked = (int) Math.min(from.byteSize(), Scratch.MAX_BYTES);
            try (Scratch scratch = Scratch.borrow(asked);
                    CallState state = CallState.borrow()) {
                scratch.take(from, asked);
                return settle(send(state, scratch.address(), asked), asked, Bits.WRITABLE);
            }
        } finally {
            descriptor.release();
        }
    }

    private long receive(int fd, MemorySegment into, int bytes) {
        try (CallState state = CallState.borrow()) {
            long result;
            do {
                result = switch (kind) {
                    case SOCKET -> Sockets.receive(state, fd, into, bytes);
                    case PIPE -> Pipes.read(state, fd, into, bytes);
                    case FOREIGN_SOCKET -> Fds.receiveNow(state, fd, into, bytes);
                    case GUARDED, GUARDED_PIPE, GUARDED_TERMINAL -> Fds.readIfReady(state, fd, into, bytes);
                };
            } while (result == EINTR);
            return result;
        }
    }

    private long send(int fd, MemorySegment from, int bytes) {
        try (CallState state = CallState.borrow()) {
            long result;
            do {
                result = switch (kind) {
                    case SOCKET -> Sockets.send(state, fd, from, bytes);
                    case PIPE -> Pipes.write(state, fd, from, bytes);
                    case FOREIGN_SOCKET -> Fds.sendNow(state, fd, from, bytes);
                    case GUARDED, GUARDED_PIPE, GUARDED_TERMINAL ->
                        Fds.writeIfReady(state, fd, from, Math.min(bytes, kind.mostWritten));
                };
            } while (result == EINTR);
            return result;
        }
    }

    /**
     * By sendfile(2); a socket. Only would-block says that it is full: a count below what was asked for may come from the file.
     *
     * @return as {@link ByteStream#trySend}, or {@link #NOT_THIS_WAY}
     */
    long send(FdFile file, long position, long count) throws IOException {
        int fd = use();
        try {
            long result = file.sendTo(fd, position, Math.min(count, Iovecs.MAX_BYTES));
            if (result > 0) {
                return result;
            }
            if (result == 0 || result == EOVERFLOW) {
                return Io.EOF;
            }
            if (result == EAGAIN) {
                handle.drained(Bits.WRITABLE);
                return Io.WOULD_BLOCK;
            }
            if (result == EINVAL || result == ENOSYS) {
                return NOT_THIS_WAY;
            }
            ErrnoException failure = new ErrnoException("sendfile", fd, (int) -result);
            // Both are open, because they are in use, and the socket takes bytes.
            throw failure.is(Errno.EBADF)
                    ? new IOException("cannot read from " + file + ": it was opened for writing only", failure)
                    : failure;
        } finally {
            descriptor.release();
        }
    }

    private int use() throws ClosedChannelException {
        if (!descriptor.acquire()) {
            throw new ClosedChannelException();
        }
        return descriptor.fd();
    }

    /** Makes our result of the system's, and tells the handle if the direction was drained. */
    int settle(long result, int asked, int direction) throws IOException {
        if (result == asked) {
            return asked;
        }
        if (result == 0 && direction == Bits.READABLE) {
            return Io.EOF;
        }
        if (result < 0 && result != EAGAIN) {
            throw new ErrnoException(
                    direction == Bits.READABLE ? kind.read : kind.write, descriptor.fd(), (int) -result);
        }
        handle.drained(direction);
        return result == EAGAIN ? Io.WOULD_BLOCK : (int) result;
    }

    @Override
    public String toString() {
        return descriptor.toString();
    }
}
