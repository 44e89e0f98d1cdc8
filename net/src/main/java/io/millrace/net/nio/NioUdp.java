package io.millrace.net.nio;

import io.millrace.net.family.ByteCalls;
import io.millrace.net.family.Failures;
import io.millrace.net.family.UdpCalls;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.NioHandle;
import io.millrace.sys.call.Scratch;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import org.jspecify.annotations.Nullable;

/**
 * Moves datagrams through a {@code java.nio} channel.
 *
 * <p>NIO does not report whether a datagram was longer than its buffer. So each one is received into the thread's
 * scratch memory, which is longer than any datagram, and copied from there.
 */
final class NioUdp implements UdpCalls {
    private final DatagramChannel channel;
    private final KernelHandle handle;
    /** The limit for IPv4; for IPv6 it is a few bytes more, and the system knows which one applies. */
    private static final int LARGEST = 65_507;

    private @Nullable InetSocketAddress sender;
    private boolean truncated;
    private volatile @Nullable InetSocketAddress remote;

    /** Creates the calls of a non-blocking channel. */
    NioUdp(DatagramChannel channel) {
        this.channel = channel;
        this.handle = new KernelHandle(new NioHandle(channel));
    }

    @Override
    public KernelHandle handle() {
        return handle;
    }

    @Override
    public boolean isOpen() {
        return channel.isOpen();
    }

    @Override
    public void connect(InetSocketAddress to) throws IOException {
        channel.connect(to);
        remote = to;
    }

    @Override
    public int send(ByteBuffer from, @Nullable InetSocketAddress to) throws IOException {
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
        int bytes = from.remaining();
        if (bytes > Scratch.MAX_BYTES) {
            throw Failures.tooLong(bytes);
        }
        if (bytes == 0 && to == null) {
            throw new UnsupportedOperationException("java.nio sends no empty datagram from a connected socket;"
                    + " use trySendTo on one that is not connected, or a native backend");
        }
        try {
            int sent = to == null ? channel.write(from) : channel.send(from, to);
            if (sent < bytes) {
                handle.markDrained(Bits.WRITABLE);
                return ByteCalls.WOULD_BLOCK;
            }
            return sent;
        } catch (PortUnreachableException e) {
            throw unreachable(e);
        } catch (SocketException e) {
            throw bytes > LARGEST ? Failures.tooLong(bytes, e) : e;
        }
    }

    @Override
    public int send(MemorySegment from, @Nullable InetSocketAddress to) throws IOException {
        if (from.byteSize() > Scratch.MAX_BYTES) {
            throw Failures.tooLong(from.byteSize());
        }
        int bytes = (int) from.byteSize();
        try (Scratch scratch = Scratch.borrow(bytes)) {
            scratch.take(from, bytes);
            try {
                return send(scratch.view(bytes), to);
            } finally {
                scratch.clearView();
            }
        }
    }

    @Override
    public int receive(ByteBuffer into) throws IOException {
        if (into.isDirect() && into.hasRemaining()) {
            into.get(
                    into.position()); // throws for a buffer that this thread may not use, before bytes are taken for it
        }
        try (Scratch scratch = Scratch.borrow(Scratch.MAX_BYTES)) {
            int received = receive(scratch, into.remaining());
            if (received > 0) {
                scratch.give(into, into.position(), received);
                into.position(into.position() + received);
            }
            return received;
        }
    }

    @Override
    public int receive(MemorySegment into) throws IOException {
        Scratch.requireUsable(into);
        try (Scratch scratch = Scratch.borrow(Scratch.MAX_BYTES)) {
            int received = receive(scratch, into.byteSize());
            if (received > 0) {
                scratch.give(into, received);
            }
            return received;
        }
    }

    /** Receives a whole datagram, and returns how much of it there is room for. */
    private int receive(Scratch scratch, long room) throws IOException {
        ByteBuffer whole = scratch.view(Scratch.MAX_BYTES);
        try {
            InetSocketAddress from = (InetSocketAddress) channel.receive(whole);
            if (from == null) {
                handle.markDrained(Bits.READABLE);
                return ByteCalls.WOULD_BLOCK;
            }
            sender = from;
            truncated = whole.position() > room;
            return (int) Math.min(whole.position(), room);
        } catch (PortUnreachableException e) {
            throw unreachable(e);
        } finally {
            scratch.clearView();
        }
    }

    private IOException unreachable(PortUnreachableException cause) {
        InetSocketAddress peer = remote;
        return peer == null ? cause : Failures.portUnreachable(peer, cause);
    }

    @Override
    public @Nullable InetSocketAddress sender() {
        return sender;
    }

    @Override
    public boolean wasTruncated() {
        return truncated;
    }

    @Override
    public int get(SocketSetting setting) throws IOException {
        return NioSettings.get(channel, setting);
    }

    @Override
    public void set(SocketSetting setting, int value) throws IOException {
        NioSettings.set(channel, setting, value);
    }

    @Override
    public String toString() {
        return channel.toString();
    }
}
