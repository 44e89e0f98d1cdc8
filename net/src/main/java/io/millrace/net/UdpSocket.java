package io.millrace.net;

import io.millrace.net.family.ByteCalls;
import io.millrace.net.family.Failures;
import io.millrace.net.family.SocketSettings;
import io.millrace.net.family.UdpCalls;
import io.millrace.poll.Source;
import io.millrace.poll.SourceHandle;
import io.millrace.poll.internal.LeakTracker;
import io.millrace.sys.posix.SocketSetting;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import org.jspecify.annotations.Nullable;

/**
 * A UDP socket. Each datagram is sent and received as a whole. Readable while one is waiting, writable while there is
 * room for one.
 *
 * {@snippet :
 * UdpSocket socket = UdpSocket.bind(new InetSocketAddress("127.0.0.1", 7000));
 * poll.register(socket, 1, Interest.READABLE, Trigger.EDGE);
 * // when token 1 is readable:
 * while (socket.tryReceive(buffer.clear()) != UdpSocket.WOULD_BLOCK) {
 *     socket.trySendTo(buffer.flip(), socket.lastSender());
 * }
 * }
 *
 * <p><b>Results.</b> No call waits. It returns the number of bytes moved, or {@link #WOULD_BLOCK}. An empty datagram
 * can be sent, and receiving one returns 0. There is no end of the stream. What does not fit into the buffer is lost,
 * and {@link #wasTruncated()} says so; even a buffer without room takes the next datagram.
 *
 * <p><b>Connected.</b> After {@link #connect}, the socket sends to one address with {@link #trySend(ByteBuffer)} and
 * receives only from it. If nothing listens there, the system reports it: some call after a send throws {@link
 * java.net.PortUnreachableException}. The socket remains usable after that.
 *
 * <p><b>Edges.</b> After an {@link io.millrace.poll.Trigger#EDGE} event, call until {@link #WOULD_BLOCK}: one edge may
 * stand for several datagrams, and nothing else drains a direction.
 *
 * <p><b>Buffers.</b> Direct buffers are passed to the kernel as they are. Heap buffers, segments, and buffers over a
 * segment of an arena that can be closed are copied.
 *
 * <p><b>Threads.</b> Any thread may call, but only one at a time may send and one receive; {@link #lastSender()} and
 * {@link #wasTruncated()} belong to the thread that receives. Any thread may close the socket at any time.
 *
 * <h2>Portability</h2>
 * The wildcard address, {@code 0.0.0.0} or {@code ::}, uses IPv4 and IPv6 if the machine has both, unless {@code
 * java.net.preferIPv4Stack} is set; any other address uses its own address family. An IPv4 peer is always shown with
 * its IPv4 address. NIO sends no empty datagram from a connected socket, and cannot tell whether sending an empty one
 * would have blocked.
 */
public final class UdpSocket implements Source, AutoCloseable {
    /** Nothing was moved: wait until a {@link io.millrace.poll.Poll} reports the direction. */
    public static final int WOULD_BLOCK = Io.WOULD_BLOCK;

    private final UdpCalls calls;
    private final LeakTracker leak;
    private final InetSocketAddress local;
    private volatile @Nullable InetSocketAddress remote;

    UdpSocket(UdpCalls calls, InetSocketAddress local) {
        this.calls = calls;
        this.local = local;
        this.leak = LeakTracker.track(this, "UdpSocket on", local, calls.handle()::close);
    }

    /**
     * Binds a socket, with the default family: {@link Net#udp(InetSocketAddress)} of {@link Net#standard()}.
     *
     * @param address where to receive; with port 0 the system chooses a free one, see {@link #localAddress()}
     * @return a socket, which the caller must close
     * @throws java.net.BindException if the address is in use, does not belong to this machine, or needs a privilege
     * @throws IOException if the system refuses for another reason
     * @throws IllegalArgumentException if the address is unresolved
     */
    public static UdpSocket bind(InetSocketAddress address) throws IOException {
        return Net.standard().udp(address);
    }

    @Override
    public SourceHandle handle() {
        return calls.handle();
    }

    /**
     * Connects the socket to one address, with which it then exchanges datagrams exclusively. Datagrams that arrived
     * before are discarded, and with them perhaps some that the peer sends at this moment: no more than the receive
     * buffer can have held, except on NIO, which discards until it finds none. Nothing is sent.
     *
     * @param address the address of the peer
     * @throws ClosedChannelException if the socket is closed
     * @throws java.net.ConnectException if the address cannot be reached
     * @throws IllegalArgumentException if the address is unresolved, its port is 0, or it belongs to another address
     *     family than the one to which the socket is bound
     * @throws IllegalStateException if the socket is already connected
     * @throws IOException never for any other reason
     */
    public void connect(InetSocketAddress address) throws IOException {
        requireReachable(address, "connect " + this + " to ");
        if (remote != null) {
            throw new IllegalStateException("cannot connect " + this + " again; bind another socket for another peer");
        }
        try {
            calls.connect(address);
            remote = address;
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) {
            throw Failures.connect(address, e);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Sends a datagram to the peer.
     *
     * @param from its bytes, from its position to its limit
     * @return how many bytes, which is all of them; or {@link #WOULD_BLOCK}
     * @throws ClosedChannelException if the socket is closed
     * @throws java.net.PortUnreachableException if nothing listened there when an earlier one arrived; this one was not
     *     sent
     * @throws IOException if the system refuses, for example because it is too long: the maximum is 65,507 bytes over
     *     IPv4
     * @throws IllegalStateException if the socket is not connected
     */
    public int trySend(ByteBuffer from) throws IOException {
        requireConnected();
        try {
            return calls.send(from, null);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Sends a datagram to the peer.
     *
     * @param from its bytes
     * @return how many bytes, which is all of them; or {@link #WOULD_BLOCK}
     * @throws ClosedChannelException if the socket is closed
     * @throws java.net.PortUnreachableException if nothing listened there when an earlier one arrived; this one was not
     *     sent
     * @throws IOException if the system refuses, for example because it is too long: the maximum is 65,507 bytes over
     *     IPv4
     * @throws IllegalStateException if the socket is not connected, or the segment's arena is closed
     */
    public int trySend(MemorySegment from) throws IOException {
        requireConnected();
        try {
            return calls.send(from, null);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Sends a datagram to an address. To send to the same one again, pass the same object: then nothing is allocated.
     *
     * @param from its bytes, from its position to its limit
     * @param to the receiver
     * @return how many bytes, which is all of them; or {@link #WOULD_BLOCK}
     * @throws ClosedChannelException if the socket is closed
     * @throws IOException if the system refuses, for example because it is too long, the address cannot be reached, or
     *     it is a broadcast address and {@link #setBroadcast} is off
     * @throws IllegalArgumentException if the address is unresolved, its port is 0, or it belongs to another address
     *     family than the one to which the socket is bound
     * @throws IllegalStateException if the socket is connected
     */
    public int trySendTo(ByteBuffer from, InetSocketAddress to) throws IOException {
        requireUnconnected(to);
        try {
            return calls.send(from, to);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Sends a datagram to an address. To send to the same one again, pass the same object: then nothing is allocated.
     *
     * @param from its bytes
     * @param to the receiver
     * @return how many bytes, which is all of them; or {@link #WOULD_BLOCK}
     * @throws ClosedChannelException if the socket is closed
     * @throws IOException if the system refuses, for example because it is too long, the address cannot be reached, or
     *     it is a broadcast address and {@link #setBroadcast} is off
     * @throws IllegalArgumentException if the address is unresolved, its port is 0, or it belongs to another address
     *     family than the one to which the socket is bound
     * @throws IllegalStateException if the socket is connected, or the segment's arena is closed
     */
    public int trySendTo(MemorySegment from, InetSocketAddress to) throws IOException {
        requireUnconnected(to);
        try {
            return calls.send(from, to);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Receives a datagram; {@link #lastSender()} and {@link #wasTruncated()} describe it further.
     *
     * @param into where its bytes go, from its position on
     * @return how many bytes, 0 for an empty datagram; or {@link #WOULD_BLOCK}
     * @throws ClosedChannelException if the socket is closed
     * @throws java.net.PortUnreachableException if the socket is connected and nothing listened there when a datagram
     *     arrived
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if the buffer is read-only
     */
    public int tryReceive(ByteBuffer into) throws IOException {
        ByteCalls.requireWritable(into);
        try {
            return calls.receive(into);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Receives a datagram; {@link #lastSender()} and {@link #wasTruncated()} describe it further.
     *
     * @param into where its bytes go, from its beginning on
     * @return how many bytes, 0 for an empty datagram; or {@link #WOULD_BLOCK}
     * @throws ClosedChannelException if the socket is closed
     * @throws java.net.PortUnreachableException if the socket is connected and nothing listened there when a datagram
     *     arrived
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if the segment is read-only
     */
    public int tryReceive(MemorySegment into) throws IOException {
        ByteCalls.requireWritable(into);
        try {
            return calls.receive(into);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Returns the sender of the datagram that was last received; the same object for as long as it is the same sender.
     *
     * @return the address, or null before the first datagram
     */
    public @Nullable InetSocketAddress lastSender() {
        return calls.sender();
    }

    /**
     * Returns whether the datagram that was last received did not fit, so that the rest of it is lost.
     *
     * @return true if something is missing
     */
    public boolean wasTruncated() {
        return calls.wasTruncated();
    }

    /**
     * Returns whether datagrams may be sent to a broadcast address (SO_BROADCAST).
     *
     * @return true if they may
     * @throws ClosedChannelException if the socket is closed
     * @throws IOException if the system refuses
     */
    public boolean broadcast() throws IOException {
        return get(SocketSetting.BROADCAST) != 0;
    }

    /**
     * Sets whether datagrams may be sent to a broadcast address (SO_BROADCAST). Off by default.
     *
     * @param on true if they may
     * @throws ClosedChannelException if the socket is closed
     * @throws IOException if the system refuses
     */
    public void setBroadcast(boolean on) throws IOException {
        set(SocketSetting.BROADCAST, on ? 1 : 0);
    }

    /**
     * Returns how many bytes of datagrams the kernel takes before a send would block (SO_SNDBUF).
     *
     * @return the size in bytes
     * @throws ClosedChannelException if the socket is closed
     * @throws IOException if the system refuses
     */
    public int sendBuffer() throws IOException {
        return get(SocketSetting.SEND_BUFFER);
    }

    /**
     * Requests a size of the kernel's send buffer; the system may choose a larger or smaller one.
     *
     * @param bytes the size in bytes
     * @throws ClosedChannelException if the socket is closed
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if the size is not positive
     */
    public void setSendBuffer(int bytes) throws IOException {
        set(SocketSetting.SEND_BUFFER, SocketSettings.requireBufferSize(bytes));
    }

    /**
     * Returns how many bytes of datagrams the kernel keeps until they are received (SO_RCVBUF); further ones are lost.
     *
     * @return the size in bytes
     * @throws ClosedChannelException if the socket is closed
     * @throws IOException if the system refuses
     */
    public int receiveBuffer() throws IOException {
        return get(SocketSetting.RECEIVE_BUFFER);
    }

    /**
     * Requests a size of the kernel's receive buffer; the system may choose a larger or smaller one.
     *
     * @param bytes the size in bytes
     * @throws ClosedChannelException if the socket is closed
     * @throws IOException if the system refuses
     * @throws IllegalArgumentException if the size is not positive
     */
    public void setReceiveBuffer(int bytes) throws IOException {
        set(SocketSetting.RECEIVE_BUFFER, SocketSettings.requireBufferSize(bytes));
    }

    /**
     * Returns the address to which it is bound, with the port that the system chose if it was bound to port 0.
     *
     * @return the address, even after close
     */
    public InetSocketAddress localAddress() {
        return local;
    }

    /**
     * Returns the address of the peer to which it is connected.
     *
     * @return the address, even after close; null if it is not connected
     */
    public @Nullable InetSocketAddress remoteAddress() {
        return remote;
    }

    /**
     * Closes the socket; if it is registered, it is deregistered first and never reported again. Idempotent; any thread
     * may call it.
     */
    @Override
    public void close() {
        leak.forget();
        calls.handle().close();
    }

    private void requireConnected() {
        if (remote == null) {
            throw new IllegalStateException(
                    "cannot send from " + this + ": not connected; call connect(address), or use trySendTo");
        }
    }

    private void requireUnconnected(InetSocketAddress to) {
        requireReachable(to, "send to ");
        if (to.getPort() == 0) {
            throw new IllegalArgumentException(
                    "cannot send to " + to + ": nobody listens on port 0; take the port that the peer is bound to");
        }
        if (remote != null) {
            throw new IllegalStateException("cannot send from " + this + " to " + to
                    + ": it is connected; use trySend, or bind another socket");
        }
    }

    /** A socket that is bound to an address of one address family cannot reach the other. */
    private void requireReachable(InetSocketAddress to, String doing) {
        InetAddress mine = local.getAddress();
        InetAddress theirs = to.getAddress();
        if (theirs == null) {
            Net.requireResolved(to, doing);
        } else if (!mine.isAnyLocalAddress() && mine instanceof Inet6Address != theirs instanceof Inet6Address) {
            throw new IllegalArgumentException("cannot " + doing + to + ": the socket is bound to " + local
                    + ", which is of another family; bind it to an address of the same one, or to the wildcard");
        }
    }

    private int get(SocketSetting setting) throws IOException {
        try {
            return calls.get(setting);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private void set(SocketSetting setting, int value) throws IOException {
        try {
            calls.set(setting, value);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public String toString() {
        InetSocketAddress peer = remote;
        return "UdpSocket on " + local + (peer == null ? "" : " to " + peer) + (calls.isOpen() ? "" : ", closed") + ", "
                + calls;
    }
}
