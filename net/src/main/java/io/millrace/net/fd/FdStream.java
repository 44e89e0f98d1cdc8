package io.millrace.net.fd;

import io.millrace.net.family.FileCalls;
import io.millrace.net.family.StreamCalls;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Iovecs;
import io.millrace.sys.posix.SocketSetting;
import io.millrace.sys.posix.Sockets;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;

/** A connection with a descriptor: moves the bytes of a socket of ours, and does what else a connection can do. */
final class FdStream extends FdBytes implements StreamCalls {
    private static final int EINVAL = -Errno.EINVAL.code();
    private static final int ENOSYS = -Errno.ENOSYS.code();
    private static final int EOVERFLOW = -Errno.EOVERFLOW.code();

    /** The file's file system does not support sendfile(2): the bytes must be read and written. */
    private static final long NOT_THIS_WAY = -3;

    FdStream(Descriptor descriptor) {
        super(descriptor, false);
    }

    @Override
    long call(boolean reading, CallState state, int fd, long address, int bytes) {
        return reading ? Sockets.receive(state, fd, address, bytes) : Sockets.send(state, fd, address, bytes);
    }

    @Override
    long call(boolean reading, CallState state, int fd, MemorySegment memory, int bytes) {
        return reading ? Sockets.receive(state, fd, memory, bytes) : Sockets.send(state, fd, memory, bytes);
    }

    @Override
    long call(boolean reading, CallState state, int fd, Iovecs memory) {
        return reading ? Sockets.receive(state, fd, memory) : Sockets.send(state, fd, memory);
    }

    @Override
    String callName(boolean reading) {
        return reading ? "recv" : "send";
    }

    @Override
    public boolean finishConnect() throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            return Sockets.finishConnect(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public boolean mayHaveInput() throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            return Sockets.hasInput(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public void shutdownInput() throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            Sockets.shutdownInput(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            Sockets.shutdownOutput(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public long send(FileCalls file, long position, long count) throws IOException {
        if (file instanceof FdFile descriptors) {
            long sent = sendFile(descriptors, position, count);
            if (sent != NOT_THIS_WAY) {
                return sent;
            }
        }
        return FileCalls.copy(file, position, count, this);
    }

    /** Uses sendfile(2). Only would-block means that the socket is full: a smaller count may be due to the file. */
    private long sendFile(FdFile file, long position, long count) throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            long result = file.sendTo(fd, position, Math.min(count, Iovecs.MAX_BYTES));
            if (result > 0) {
                return result;
            }
            if (result == 0 || result == EOVERFLOW) {
                return EOF;
            }
            if (Errno.isWouldBlock(result)) {
                handle.markDrained(Bits.WRITABLE);
                return WOULD_BLOCK;
            }
            if (result == EINVAL || result == ENOSYS) {
                return NOT_THIS_WAY;
            }
            ErrnoException failure = new ErrnoException("sendfile", fd, (int) -result);
            // Both are in use and therefore open, and the socket takes bytes.
            throw failure.is(Errno.EBADF)
                    ? new IOException("cannot read from " + file + ": it was opened for writing only", failure)
                    : failure;
        } finally {
            descriptor.release();
        }
    }

    @Override
    public int get(SocketSetting setting) throws IOException {
        return FdUse.get(descriptor, setting);
    }

    @Override
    public void set(SocketSetting setting, int value) throws IOException {
        FdUse.set(descriptor, setting, value);
    }

    @Override
    public InetSocketAddress localAddress() throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            return Sockets.localAddress(fd);
        } finally {
            descriptor.release();
        }
    }
}
