package io.millrace.netty;

import io.millrace.sys.Bits;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Scratch;
import io.millrace.sys.posix.Datagrams;
import io.millrace.sys.posix.Multicast;
import io.millrace.sys.posix.Multicast.Membership;
import io.millrace.sys.posix.PeerAddress;
import io.millrace.sys.posix.SocketSteps;
import io.millrace.sys.posix.Sockets;
import io.netty.buffer.ByteBuf;
import io.netty.channel.AddressedEnvelope;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelException;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultAddressedEnvelope;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.DatagramChannelConfig;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.socket.SocketProtocolFamily;
import io.netty.util.UncheckedBooleanSupplier;
import io.netty.util.internal.StringUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketAddress;
import java.net.SocketException;
import java.nio.channels.NotYetConnectedException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A UDP socket on Millrace's loops: the counterpart of {@code NioDatagramChannel} and {@code EpollDatagramChannel}.
 *
 * <p>As there, a packet that is longer than its buffer is cut, and an error of one packet ends neither the channel nor
 * the packets behind it. Multicast works on Linux.
 */
// Netty has no other handle for what a channel reads, and its unsafe is not for users.
@SuppressWarnings({"deprecation", "exports"})
public final class MillraceDatagramChannel extends MillraceChannel implements DatagramChannel {
    private static final ChannelMetadata METADATA = new ChannelMetadata(true, 16);

    private final int family;
    private final DatagramConfig config;
    private final PeerAddress sender;
    private final PeerAddress target;
    private volatile boolean bound;
    private volatile boolean connected;

    /** Opens a socket for both address families; for IPv4 alone if there is no IPv6. */
    public MillraceDatagramChannel() {
        this(open(SocketSteps.Reach.BOTH));
    }

    /**
     * Opens a socket for one address family.
     *
     * @param family IPv4 or IPv6; null for both
     */
    public MillraceDatagramChannel(@Nullable SocketProtocolFamily family) {
        this(open(reach(family)));
    }

    private MillraceDatagramChannel(Datagrams.Opened socket) {
        super(null, socket.descriptor());
        this.family = socket.family();
        this.sender = socket.peer();
        this.target = socket.peer();
        this.config = new DatagramConfig(this);
    }

    private static SocketSteps.Reach reach(@Nullable SocketProtocolFamily family) {
        if (family == null) {
            return SocketSteps.Reach.BOTH;
        }
        return switch (family) {
            case INET -> SocketSteps.Reach.IPV4;
            case INET6 -> SocketSteps.Reach.IPV6;
            default -> throw new UnsupportedOperationException("there is no UDP of the family " + family);
        };
    }

    private static Datagrams.Opened open(SocketSteps.Reach reach) {
        try {
            return SocketSteps.openDatagram(reach);
        } catch (ErrnoException e) {
            throw new ChannelException("cannot open a UDP socket: " + e.getMessage(), e);
        }
    }

    int family() {
        return family;
    }

    @Override
    public DatagramChannelConfig config() {
        return config;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    public boolean isActive() {
        return isOpen() && (bound || (config.isActiveOnRegistration() && isRegistered()));
    }

    @Override
    public boolean isConnected() {
        return connected && isOpen();
    }

    @Override
    public @Nullable InetSocketAddress localAddress() {
        return (InetSocketAddress) super.localAddress();
    }

    @Override
    public @Nullable InetSocketAddress remoteAddress() {
        return (InetSocketAddress) super.remoteAddress();
    }

    // ---- Life ----

    @Override
    protected void doBind(SocketAddress address) throws Exception {
        InetSocketAddress internet = resolved(address);
        int fd = use();
        try {
            SocketSteps.bind(fd, family, internet);
            local = Sockets.localAddress(fd);
            bound = true;
            submit(); // if a read was asked for before
        } catch (ErrnoException e) {
            throw SocketErrors.bind(e);
        } finally {
            descriptor.release();
        }
    }

    @Override
    boolean doConnect(SocketAddress remoteAddress, @Nullable SocketAddress localAddress) throws Exception {
        boolean done = false;
        try {
            InetSocketAddress to = resolved(remoteAddress);
            if (localAddress != null) {
                doBind(localAddress);
            }
            Datagrams.connect(fd(), to, family);
            local = Sockets.localAddress(fd());
            remote = to;
            bound = true;
            connected = true;
            done = true;
            return true;
        } catch (ErrnoException e) {
            throw SocketErrors.connect(e);
        } finally {
            if (!done) {
                doClose();
            }
        }
    }

    @Override
    void onConnected(SocketAddress requested) {
        throw new IllegalStateException("a UDP socket connects at once");
    }

    /**
     * Linux takes away a port that it had chosen itself. Peers know it, so the socket is bound to it again, as in the
     * JDK.
     */
    @Override
    protected void doDisconnect() throws Exception {
        InetSocketAddress before = localAddress();
        SocketSteps.disconnect(fd());
        connected = false;
        remote = null;
        InetSocketAddress after = Sockets.localAddress(fd());
        local = after;
        if (after.getPort() == 0 && before != null) {
            doBind(new InetSocketAddress(after.getAddress(), before.getPort()));
        }
    }

    @Override
    protected void doClose() throws Exception {
        bound = false;
        connected = false;
        super.doClose();
    }

    // ---- Receiving ----

    @Override
    void readReady() {
        ChannelConfig options = config();
        ChannelPipeline pipeline = pipeline();
        RecvByteBufAllocator.Handle sizes = unsafe().recvBufAllocHandle();
        sizes.reset(options);
        Throwable failure = null;
        try {
            do {
                DatagramPacket packet = receive(sizes, options);
                if (packet == null) {
                    break;
                }
                sizes.incMessagesRead(1);
                readPending = false;
                pipeline.fireChannelRead(packet);
                // A short packet says nothing about the next one.
            } while (isOpen() && continueReading(sizes));
        } catch (Throwable e) {
            failure = e;
        }
        try {
            sizes.readComplete();
            pipeline.fireChannelReadComplete();
            if (failure != null) {
                pipeline.fireExceptionCaught(failure);
                if (isOpen() && !(failure instanceof SocketException)) {
                    unsafe().close(voidPromise());
                }
            }
        } finally {
            endOfRead(options);
        }
    }

    private static boolean continueReading(RecvByteBufAllocator.Handle sizes) {
        return sizes instanceof RecvByteBufAllocator.ExtendedHandle extended
                ? extended.continueReading(UncheckedBooleanSupplier.TRUE_SUPPLIER)
                : sizes.continueReading();
    }

    private @Nullable DatagramPacket receive(RecvByteBufAllocator.Handle sizes, ChannelConfig options)
            throws Exception {
        ByteBuf buffer = sizes.allocate(options.getAllocator());
        boolean given = false;
        try {
            int room = buffer.writableBytes();
            sizes.attemptedBytesRead(room);
            long result = receive(buffer, buffer.writerIndex(), room);
            if (Errno.isWouldBlock(result)) {
                return null;
            }
            if (result < 0) {
                throw SocketErrors.datagram("recvmsg", fd(), result);
            }
            int length = (int) result; // whether the packet was cut is a bit above
            sizes.lastBytesRead(length);
            buffer.writerIndex(buffer.writerIndex() + length);
            DatagramPacket packet = new DatagramPacket(buffer, localAddress(), sender.address());
            given = true;
            return packet;
        } finally {
            if (!given) {
                buffer.release();
            }
        }
    }

    private long receive(ByteBuf into, int index, int room) {
        CallState calls = memory().calls;
        if (into.hasMemoryAddress()) {
            return receive(calls, into.memoryAddress() + index, room);
        }
        if (into.isDirect() && into.nioBufferCount() == 1) {
            return receive(calls, LoopMemory.addressOf(into.internalNioBuffer(index, room)), room);
        }
        int asked = Math.min(room, Scratch.MAX_BYTES);
        try (Scratch scratch = Scratch.borrow(asked)) {
            long result = receive(calls, scratch.address(), asked);
            if (result >= 0) {
                into.setBytes(index, scratch.view((int) result));
                scratch.clearView();
            }
            return result;
        }
    }

    private long receive(CallState calls, long address, int room) {
        long result;
        do {
            result = Datagrams.receive(calls, fd(), address, room, sender);
        } while (Errno.isInterrupted(result));
        return result;
    }

    // ---- Sending ----

    @Override
    protected Object filterOutboundMessage(Object message) {
        if (message instanceof DatagramPacket packet) {
            requireResolved(packet);
            ByteBuf content = packet.content();
            return content.hasMemoryAddress()
                    ? packet
                    : new DatagramPacket(directCopy(packet, content), packet.recipient());
        }
        if (message instanceof ByteBuf bytes) {
            return bytes.hasMemoryAddress() ? bytes : directCopy(bytes, bytes);
        }
        if (message instanceof AddressedEnvelope<?, ?> envelope && envelope.content() instanceof ByteBuf content) {
            requireResolved(envelope);
            return content.hasMemoryAddress()
                    ? envelope
                    : new DefaultAddressedEnvelope<ByteBuf, SocketAddress>(
                            directCopy(envelope, content), envelope.recipient());
        }
        throw new UnsupportedOperationException("unsupported message type: " + StringUtil.simpleClassName(message)
                + " (expected: DatagramPacket, AddressedEnvelope<ByteBuf, InetSocketAddress> or ByteBuf)");
    }

    private static void requireResolved(AddressedEnvelope<?, ?> envelope) {
        SocketAddress to = envelope.recipient();
        if (to != null) {
            resolved(to);
        }
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer out) {
        for (int left = maxMessagesPerWrite(); left > 0; left--) {
            Object message = out.current();
            if (message == null) {
                stopWanting(Bits.WRITABLE);
                return;
            }
            try {
                if (!send(message)) {
                    break;
                }
                out.remove();
            } catch (Exception e) {
                out.remove(e); // of this packet alone: the next one may go elsewhere
            }
        }
        if (out.isEmpty()) {
            stopWanting(Bits.WRITABLE);
        } else {
            want(Bits.WRITABLE);
        }
    }

    /** Returns false if the socket is full. */
    private boolean send(Object message) throws Exception {
        ByteBuf bytes;
        InetSocketAddress to;
        if (message instanceof AddressedEnvelope<?, ?> envelope) {
            bytes = (ByteBuf) envelope.content();
            to = (InetSocketAddress) envelope.recipient();
        } else {
            bytes = (ByteBuf) message;
            to = null;
        }
        if (to == null && !connected) {
            throw new NotYetConnectedException();
        }
        CallState calls = memory().calls;
        int length = bytes.readableBytes();
        long result;
        do {
            result = length == 0 ? sendEmpty(calls, to) : send(calls, bytes, length, to);
        } while (Errno.isInterrupted(result));
        if (result >= 0) {
            return true;
        }
        if (Errno.isWouldBlock(result)) {
            return false;
        }
        throw SocketErrors.datagram(to == null ? "send" : "sendto", fd(), result);
    }

    private long send(CallState calls, ByteBuf bytes, int length, @Nullable InetSocketAddress to) {
        long address = bytes.hasMemoryAddress()
                ? bytes.memoryAddress() + bytes.readerIndex()
                : LoopMemory.addressOf(bytes.internalNioBuffer(bytes.readerIndex(), length));
        return send(calls, address, length, to);
    }

    /** Any address will do, but the buffer of an empty packet may have none. */
    private long sendEmpty(CallState calls, @Nullable InetSocketAddress to) {
        return send(calls, calls.scratch(), 0, to);
    }

    private long send(CallState calls, long address, int length, @Nullable InetSocketAddress to) {
        return to == null
                ? Sockets.send(calls, fd(), address, length)
                : Datagrams.send(calls, fd(), address, length, target, to);
    }

    // ---- Multicast ----

    @Override
    public ChannelFuture joinGroup(InetAddress group) {
        return joinGroup(group, newPromise());
    }

    @Override
    public ChannelFuture joinGroup(InetAddress group, ChannelPromise promise) {
        return onDefaultInterface(Membership.JOIN, group, null, promise);
    }

    @Override
    public ChannelFuture joinGroup(InetSocketAddress group, NetworkInterface on) {
        return joinGroup(group, on, newPromise());
    }

    @Override
    public ChannelFuture joinGroup(InetSocketAddress group, NetworkInterface on, ChannelPromise promise) {
        return joinGroup(group.getAddress(), on, null, promise);
    }

    @Override
    public ChannelFuture joinGroup(InetAddress group, NetworkInterface on, @Nullable InetAddress source) {
        return joinGroup(group, on, source, newPromise());
    }

    @Override
    public ChannelFuture joinGroup(
            InetAddress group, NetworkInterface on, @Nullable InetAddress source, ChannelPromise promise) {
        return change(Membership.JOIN, group, on, source, promise);
    }

    @Override
    public ChannelFuture leaveGroup(InetAddress group) {
        return leaveGroup(group, newPromise());
    }

    @Override
    public ChannelFuture leaveGroup(InetAddress group, ChannelPromise promise) {
        return onDefaultInterface(Membership.LEAVE, group, null, promise);
    }

    @Override
    public ChannelFuture leaveGroup(InetSocketAddress group, NetworkInterface on) {
        return leaveGroup(group, on, newPromise());
    }

    @Override
    public ChannelFuture leaveGroup(InetSocketAddress group, NetworkInterface on, ChannelPromise promise) {
        return leaveGroup(group.getAddress(), on, null, promise);
    }

    @Override
    public ChannelFuture leaveGroup(InetAddress group, NetworkInterface on, @Nullable InetAddress source) {
        return leaveGroup(group, on, source, newPromise());
    }

    @Override
    public ChannelFuture leaveGroup(
            InetAddress group, NetworkInterface on, @Nullable InetAddress source, ChannelPromise promise) {
        return change(Membership.LEAVE, group, on, source, promise);
    }

    @Override
    public ChannelFuture block(InetAddress group, NetworkInterface on, InetAddress source) {
        return block(group, on, source, newPromise());
    }

    @Override
    public ChannelFuture block(InetAddress group, NetworkInterface on, InetAddress source, ChannelPromise promise) {
        return change(Membership.BLOCK, group, on, Objects.requireNonNull(source, "source"), promise);
    }

    @Override
    public ChannelFuture block(InetAddress group, InetAddress source) {
        return block(group, source, newPromise());
    }

    @Override
    public ChannelFuture block(InetAddress group, InetAddress source, ChannelPromise promise) {
        return onDefaultInterface(Membership.BLOCK, group, Objects.requireNonNull(source, "source"), promise);
    }

    private ChannelFuture onDefaultInterface(
            Membership what, InetAddress group, @Nullable InetAddress source, ChannelPromise promise) {
        NetworkInterface on = config.getNetworkInterface();
        InetSocketAddress here = localAddress();
        if (on == null && here != null) {
            try {
                on = NetworkInterface.getByInetAddress(here.getAddress());
            } catch (SocketException e) {
                return promise.setFailure(e);
            }
        }
        if (on == null) {
            return promise.setFailure(new IOException("cannot " + what + " " + group
                    + ": no network interface is known; name one, set IP_MULTICAST_IF, or bind to its address"));
        }
        return change(what, group, on, source, promise);
    }

    private ChannelFuture change(
            Membership what,
            InetAddress group,
            NetworkInterface on,
            @Nullable InetAddress source,
            ChannelPromise promise) {
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(on, "on");
        try {
            int fd = use();
            try {
                Multicast.change(fd, what, group, on.getIndex(), source);
            } finally {
                descriptor.release();
            }
            return promise.setSuccess();
        } catch (IOException | RuntimeException e) {
            return promise.setFailure(e);
        }
    }

    @Override
    protected SocketUnsafe newUnsafe() {
        return new DatagramUnsafe();
    }

    private final class DatagramUnsafe extends SocketUnsafe {}
}
