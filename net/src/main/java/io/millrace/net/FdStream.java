package io.millrace.net;

import io.millrace.sys.Bits;
import io.millrace.sys.CallState;
import io.millrace.sys.Descriptor;
import io.millrace.sys.Errno;
import io.millrace.sys.Iovecs;
import io.millrace.sys.Scratch;
import io.millrace.sys.SocketSetting;
import io.millrace.sys.Sockets;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;

/** A connection as a descriptor; each call holds a use of it, and none of those that move bytes allocates. */
final class FdStream implements StreamTransport {
    private static final int EINTR = -Errno.EINTR.code();

    private final Descriptor descriptor;
    private final FdBytes bytes;

    FdStream(Descriptor descriptor) {
        this.descriptor = descriptor;
        this.bytes = new FdBytes(descriptor, FdBytes.Kind.SOCKET);
    }

    @Override
    public FdBytes bytes() {
        return bytes;
    }

    @Override
    public int read(ByteBuffer[] into, int offset, int length) throws IOException {
        int fd = use();
        try {
            Iovecs iovecs = Iovecs.current();
            int asked = iovecs.forReading(into, offset, length);
            if (asked == 0) {
                return 0;
            }
            CallState state = CallState.current();
            long result;
            do {
                result = Sockets.receive(state, fd, iovecs);
            } while (result == EINTR);
            int moved = bytes.settle(result, asked, Bits.READABLE);
            iovecs.settleRead(into, moved);
            return moved;
        } finally {
            descriptor.release();
            Reference.reachabilityFence(into);
        }
    }

    @Override
    public int write(ByteBuffer[] from, int offset, int length) throws IOException {
        int fd = use();
        try {
            Iovecs iovecs = Iovecs.current();
            int asked = iovecs.forWriting(from, offset, length);
            if (asked == 0) {
                return 0;
            }
            CallState state = CallState.current();
            long result;
            do {
                result = Sockets.send(state, fd, iovecs);
            } while (result == EINTR);
            int moved = bytes.settle(result, asked, Bits.WRITABLE);
            iovecs.settleWrite(from, moved);
            return moved;
        } finally {
            descriptor.release();
            Reference.reachabilityFence(from);
        }
    }

    @Override
    public int read(MemorySegment into) throws IOException {
        int fd = use();
        try {
            if (into.byteSize() == 0) {
                return 0;
            }
            CallState state = CallState.current();
            if (into.isNative()) {
                int asked = (int) Math.min(into.byteSize(), Iovecs.MAX_BYTES);
                long result;
                do {
                    result = Sockets.receive(state, fd, into, asked);
                } while (result == EINTR);
                return bytes.settle(result, asked, Bits.READABLE);
            }
            int asked = (int) Math.min(into.byteSize(), Scratch.MAX_BYTES);
            Scratch scratch = Scratch.current(asked);
            long result;
            do {
                result = Sockets.receive(state, fd, scratch.address(), asked);
            } while (result == EINTR);
            int moved = bytes.settle(result, asked, Bits.READABLE);
            if (moved > 0) {
                scratch.give(into, moved);
            }
            return moved;
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
            CallState state = CallState.current();
            if (from.isNative()) {
                int asked = (int) Math.min(from.byteSize(), Iovecs.MAX_BYTES);
                long result;
                do {
                    result = Sockets.send(state, fd, from, asked);
                } while (result == EINTR);
                return bytes.settle(result, asked, Bits.WRITABLE);
            }
            int asked = (int) Math.min(from.byteSize(), Scratch.MAX_BYTES);
            Scratch scratch = Scratch.current(asked);
            scratch.take(from, asked);
            long result;
            do {
                result = Sockets.send(state, fd, scratch.address(), asked);
            } while (result == EINTR);
            return bytes.settle(result, asked, Bits.WRITABLE);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public boolean finishConnect() throws IOException {
        int fd = use();
        try {
            return Sockets.finishConnect(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public void shutdownInput() throws IOException {
        int fd = use();
        try {
            Sockets.shutdownInput(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public void shutdownOutput() throws IOException {
        int fd = use();
        try {
            Sockets.shutdownOutput(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public int get(SocketSetting setting) throws IOException {
        int fd = use();
        try {
            return setting.get(fd);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public void set(SocketSetting setting, int value) throws IOException {
        int fd = use();
        try {
            setting.set(fd, value);
        } finally {
            descriptor.release();
        }
    }

    @Override
    public InetSocketAddress localAddress() throws IOException {
        int fd = use();
        try {
            return Sockets.localAddress(fd);
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
}
