package io.millrace.net.fd;

import io.millrace.net.family.ByteCalls;
import io.millrace.net.family.Failures;
import io.millrace.net.family.UdpCalls;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import io.millrace.sys.call.BufferAddress;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Scratch;
import io.millrace.sys.posix.Datagrams;
import io.millrace.sys.posix.PeerAddress;
import io.millrace.sys.posix.SocketSetting;
import io.millrace.sys.posix.Sockets;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Moves datagrams through a descriptor. Each call holds a use of it and makes one system call. A datagram is never
 * longer than the thread's scratch memory, so everything without a stable address is copied through that as a whole.
 */
final class FdUdp implements UdpCalls {

    private final Descriptor descriptor;
    private final int family;
    private final KernelHandle handle;
    private final PeerAddress sender;
    private final PeerAddress target;
    private @Nullable BufferAddress lastReceived;
    private @Nullable BufferAddress lastSent;
    private boolean truncated;
    private volatile @Nullable InetSocketAddress remote;

    FdUdp(Datagrams.Opened opened) {
        this.descriptor = opened.descriptor();
        this.family = opened.family();
        this.handle = new KernelHandle(descriptor);
        this.sender = opened.peer();
        this.target = opened.peer();
    }

    @Override
    public KernelHandle handle() {
        return handle;
    }

    @Override
    public boolean isOpen() {
        return !descriptor.isClosing();
    }

    @Override
    public void connect(InetSocketAddress to) throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            Datagrams.connect(fd, to, family);
            remote = to;
        } finally {
            descriptor.release();
        }
    }

    @Override
    public int send(ByteBuffer from, @Nullable InetSocketAddress to) throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            // Each is read once: if they are changed meanwhile, the bytes still lie within the buffer.
            int position = from.position();
            int bytes = Math.max(from.limit() - position, 0);
            BufferAddress address = from.isDirect() ? BufferAddress.of(lastSent, from) : null;
            lastSent = address == null ? lastSent : address;
            int sent;
            if (address != null && address.isLasting()) {
                sent = send(fd, address.at(position), bytes, to);
            } else {
                try (Scratch scratch = Scratch.borrow(requireShort(bytes))) {
                    scratch.take(from, position, bytes);
                    sent = send(fd, scratch.address(), bytes, to);
                }
            }
            if (sent > 0) {
                from.position(from.position() + sent);
            }
            return sent;
        } finally {
            descriptor.release();
            Reference.reachabilityFence(from);
        }
    }

    @Override
    public int send(MemorySegment from, @Nullable InetSocketAddress to) throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            int bytes = requireShort(from.byteSize());
            try (Scratch scratch = Scratch.borrow(bytes)) {
                scratch.take(from, bytes);
                return send(fd, scratch.address(), bytes, to);
            }
        } finally {
            descriptor.release();
        }
    }

    private int send(int fd, long address, int bytes, @Nullable InetSocketAddress to) throws IOException {
        try (CallState state = CallState.borrow()) {
            long result;
            do {
                result = to == null
                        ? Sockets.send(state, fd, address, bytes)
                        : Datagrams.send(state, fd, address, bytes, target, to);
            } while (Errno.isInterrupted(result));
            return result >= 0 ? (int) result : notSent(to == null ? "send" : "sendto", result, bytes);
        }
    }

    @Override
    public int receive(ByteBuffer into) throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            BufferAddress address = into.isDirect() ? BufferAddress.of(lastReceived, into) : null;
            lastReceived = address == null ? lastReceived : address;
            int received;
            if (address != null && address.isLasting()) {
                int position = into.position();
                received = receive(fd, address.at(position), Math.max(into.limit() - position, 0));
            } else {
                if (into.isDirect() && into.hasRemaining()) {
                    into.get(into.position()); // A buffer that this thread may not use throws before bytes are taken
                    // for it.
                }
                int room = Math.min(into.remaining(), Scratch.MAX_BYTES);
                try (Scratch scratch = Scratch.borrow(room)) {
                    received = receive(fd, scratch.address(), room);
                    if (received > 0) {
                        scratch.give(into, into.position(), received);
                    }
                }
            }
            if (received > 0) {
                into.position(into.position() + received);
            }
            return received;
        } finally {
            descriptor.release();
            Reference.reachabilityFence(into);
        }
    }

    @Override
    public int receive(MemorySegment into) throws IOException {
        int fd = FdUse.begin(descriptor);
        try {
            Scratch.requireUsable(into);
            int room = (int) Math.min(into.byteSize(), Scratch.MAX_BYTES);
            try (Scratch scratch = Scratch.borrow(room)) {
                int received = receive(fd, scratch.address(), room);
                if (received > 0) {
                    scratch.give(into, received);
                }
                return received;
            }
        } finally {
            descriptor.release();
        }
    }

    private int receive(int fd, long address, int room) throws IOException {
        try (CallState state = CallState.borrow()) {
            long result;
            do {
                result = Datagrams.receive(state, fd, address, room, sender);
            } while (Errno.isInterrupted(result));
            if (result < 0) {
                return failed("recvmsg", result, Bits.READABLE);
            }
            truncated = (result & Datagrams.TRUNCATED) != 0;
            return (int) result;
        }
    }

    private int notSent(String call, long result, int bytes) throws IOException {
        try {
            return failed(call, result, Bits.WRITABLE);
        } catch (ErrnoException e) {
            throw e.is(Errno.EMSGSIZE) ? Failures.tooLong(bytes, e) : e;
        }
    }

    /** Returns would-block after marking the direction drained, or throws. Nothing else drains a datagram socket. */
    private int failed(String call, long result, int direction) throws IOException {
        if (Errno.isWouldBlock(result)) {
            handle.markDrained(direction);
            return ByteCalls.WOULD_BLOCK;
        }
        ErrnoException failure = new ErrnoException(call, descriptor.fd(), (int) -result);
        InetSocketAddress peer = remote;
        throw peer != null && failure.is(Errno.ECONNREFUSED) ? Failures.portUnreachable(peer, failure) : failure;
    }

    private static int requireShort(long bytes) throws IOException {
        if (bytes > Scratch.MAX_BYTES) {
            throw Failures.tooLong(bytes);
        }
        return (int) bytes;
    }

    @Override
    public @Nullable InetSocketAddress sender() {
        return sender.address();
    }

    @Override
    public boolean wasTruncated() {
        return truncated;
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
    public String toString() {
        return descriptor.toString();
    }
}
