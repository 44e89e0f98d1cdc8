package io.millrace.sys.posix;

import static io.millrace.sys.call.Native.MEMORY;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Downcall;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Iovecs;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.NotInlined;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import io.millrace.sys.call.SocketAddressCodec;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The calls on stream sockets, TCP and Unix. Every socket created here is non-blocking and close-on-exec, and never
 * raises SIGPIPE.
 *
 * <p>Calls that move bytes return the count or {@code -errno}, because would-block is a value; the others throw. A
 * method that takes a number instead of a {@link Descriptor} must be called while a use of that descriptor is held.
 */
public final class Sockets {
    private static final Errno[] OF_THE_CONNECTION = {
        Errno.ECONNABORTED,
        Errno.EPROTO,
        Errno.ENETDOWN,
        Errno.ENOPROTOOPT,
        Errno.EHOSTDOWN,
        Errno.ENONET,
        Errno.EHOSTUNREACH,
        Errno.EOPNOTSUPP,
        Errno.ENETUNREACH,
        Errno.ETIMEDOUT,
        Errno.EPERM,
    };

    /** Longer than any backlog that is in use. */
    private static final int MOST_LOST = 1 << 16;

    /**
     * An accepted connection.
     *
     * @param descriptor must be closed by the caller
     * @param remote the client's address
     */
    public record Accepted(Descriptor descriptor, InetSocketAddress remote) {}

    /**
     * A connection attempt.
     *
     * @param descriptor must be closed by the caller
     * @param connected whether it is already connected
     */
    public record Connecting(Descriptor descriptor, boolean connected) {}

    /**
     * A bound socket.
     *
     * @param descriptor must be closed by the caller
     * @param family the address family in which its addresses are written
     */
    record Bound(Descriptor descriptor, int family) {}

    private static final boolean LINUX = Os.current() == Os.LINUX;
    private static final boolean BSD = Os.current().isBsd();
    private static final SocketAddressCodec CODEC = SocketAddressCodec.current();

    /**
     * Whether accepted connections inherit the settings of their listener: Linux copies the whole socket. POSIX does
     * not say.
     */
    public static final boolean HANDS_DOWN_SETTINGS = LINUX;

    static final int SOCK_STREAM = 1;
    static final int SOCK_DGRAM = 2;
    /** Linux only: both flags at once, with no moment in which a fork could inherit the socket. */
    private static final int SOCK_NONBLOCK_CLOEXEC = 0x800 | 0x80000;

    private static final int SOL_SOCKET_BSD = 0xffff;
    private static final int SO_NOSIGPIPE = Os.current() == Os.MACOS ? 0x1022 : 0x800;
    static final long MSG_NOSIGNAL = LINUX ? 0x4000 : 0;
    /** The same on all systems. */
    private static final long MSG_PEEK = 2;

    private static final int SHUT_RD = 0;
    private static final int SHUT_WR = 1;

    /** Where the lengths and option values are in a call state's scratch; the address precedes them. */
    static final int VALUE = 128;

    private static final int INT_BYTES = 4;

    private Sockets() {}

    /**
     * Opens a socket, binds it and listens, without further settings: see {@link #listen(InetSocketAddress,
     * ListenTerms)}.
     */
    public static Descriptor listen(InetSocketAddress address, int backlog) throws ErrnoException {
        return listen(address, new ListenTerms(backlog, false, 0, 0, Map.of()));
    }

    /**
     * Opens a socket, binds it and listens. The wildcard address of either family means every address of both, as
     * everywhere in Java; without IPv6, of IPv4.
     *
     * @param terms the settings of accepted connections are set before it listens: one may be established before
     *     listen(2) has returned, and if {@link #HANDS_DOWN_SETTINGS} it has them from the beginning
     */
    public static Descriptor listen(InetSocketAddress address, ListenTerms terms) throws ErrnoException {
        Descriptor descriptor = bind(address, SOCK_STREAM, terms.reusePort(), terms.receiveBuffer())
                .descriptor();
        boolean done = false;
        try {
            setAll(descriptor.fd(), terms.accepted());
            listening(descriptor, terms.backlog());
            if (terms.fastOpen() > 0) {
                // macOS supports it on a listening socket only, and without a number.
                SocketSetting.FAST_OPEN.set(descriptor.fd(), Os.current() == Os.MACOS ? 1 : terms.fastOpen());
            }
            done = true;
            return descriptor;
        } finally {
            if (!done) {
                descriptor.close();
            }
        }
    }

    private static void setAll(int fd, Map<SocketSetting, Integer> settings) throws ErrnoException {
        for (Map.Entry<SocketSetting, Integer> each : settings.entrySet()) {
            each.getKey().set(fd, each.getValue());
        }
    }

    /**
     * Opens a Unix socket, binds it and listens.
     *
     * @param name a path, or a zero byte followed by a name in Linux's abstract namespace
     */
    public static Descriptor listen(byte[] name, int backlog) throws ErrnoException {
        return listening(bind(name), backlog);
    }

    /** Listens at a socket that is bound. If that fails, it is closed. */
    public static void listen(Descriptor bound, int backlog) throws ErrnoException {
        listening(bound, backlog);
    }

    /**
     * Opens a Unix socket and binds it, which makes its file.
     *
     * @param name a path, or a zero byte followed by a name in Linux's abstract namespace
     */
    public static Descriptor bind(byte[] name) throws ErrnoException {
        requireFitting("bind", name);
        try (CallState state = CallState.borrow()) {
            int fd = Downcall.check("socket", -1, open(state, SocketAddressCodec.UNIX, SOCK_STREAM));
            int length = CODEC.encodeUnix(name, MEMORY, state.scratch());
            int result = Downcall.run(state, Listening.BIND, fd, state.scratch(), length);
            if (result < 0) {
                Posix.close(state, fd);
                throw new ErrnoException("bind", fd, -result);
            }
            return new Descriptor(fd, true);
        }
    }

    /** The kernel would report this, too, if the name fitted into its struct. */
    static void requireFitting(String call, byte[] name) throws ErrnoException {
        if (!UnixNames.fits(name)) {
            throw new ErrnoException(call, -1, (name.length == 0 ? Errno.EINVAL : Errno.ENAMETOOLONG).code());
        }
    }

    private static Descriptor listening(Descriptor descriptor, int backlog) throws ErrnoException {
        int result = Downcall.run(Listening.LISTEN, descriptor.fd(), backlog);
        if (result < 0) {
            descriptor.close();
            throw new ErrnoException("listen", descriptor.fd(), -result);
        }
        return descriptor;
    }

    /** Opens a socket for the address, sets what must be set before it is bound, and binds it. */
    static Bound bind(InetSocketAddress address, int type, boolean reusePort, int receiveBuffer) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            InetAddress internet = address.getAddress();
            boolean bothFamilies = internet.isAnyLocalAddress() && !Boolean.getBoolean("java.net.preferIPv4Stack");
            int family = bothFamilies ? CODEC.inet6() : CODEC.familyOf(internet);
            int fd = open(state, family, type);
            if (bothFamilies && fd == -Errno.EAFNOSUPPORT.code()) {
                family = SocketAddressCodec.INET;
                fd = open(state, family, type);
            }
            Downcall.check("socket", -1, fd);
            boolean done = false;
            try {
                if (type == SOCK_STREAM) {
                    SocketSetting.REUSE_ADDRESS.set(fd, 1);
                }
                if (reusePort) {
                    SocketSetting.REUSE_PORT.set(fd, 1);
                }
                if (receiveBuffer > 0) {
                    SocketSetting.RECEIVE_BUFFER.set(fd, receiveBuffer);
                }
                if (bothFamilies && family != SocketAddressCodec.INET) {
                    SocketSetting.IPV6_ONLY.set(fd, 0);
                }
                int length = CODEC.encode(address, family, MEMORY, state.scratch());
                Downcall.check("bind", fd, Downcall.run(state, Listening.BIND, fd, state.scratch(), length));
                done = true;
                return new Bound(new Descriptor(fd, true), family);
            } finally {
                if (!done) {
                    Posix.close(state, fd);
                }
            }
        }
    }

    /**
     * Accepts a waiting connection. One that its peer gave up meanwhile is skipped.
     *
     * @return null if none is waiting
     */
    public static @Nullable Accepted accept(int listener) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            for (; ; ) {
                Posix.putInt(state.scratch() + VALUE, SocketAddressCodec.MAX_BYTES);
                int fd = accept(state, listener, state.scratch(), state.scratch() + VALUE);
                if (fd < 0) {
                    return null;
                }
                if (Posix.getInt(state.scratch() + VALUE) == 0) {
                    // macOS returns a connection that was reset while it waited, without an address.
                    Posix.close(state, fd);
                    continue;
                }
                InetSocketAddress remote = CODEC.decode(MEMORY, state.scratch());
                prepare(state, fd);
                return new Accepted(new Descriptor(fd, true), remote);
            }
        }
    }

    /**
     * Accepts a waiting connection of a Unix socket; the client has no name.
     *
     * @return null if none is waiting
     */
    public static @Nullable Descriptor acceptUnix(int listener) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            int fd = accept(state, listener, 0, 0);
            if (fd < 0) {
                return null;
            }
            prepare(state, fd);
            return new Descriptor(fd, true);
        }
    }

    /** Returns a number; negative if no connection is waiting. */
    private static int accept(CallState state, int listener, long name, long nameLength) throws ErrnoException {
        return passOverTheLost(
                listener,
                () -> LINUX
                        ? Downcall.run(state, AcceptingLinux.ACCEPT4, listener, name, nameLength, SOCK_NONBLOCK_CLOEXEC)
                        : Downcall.run(state, AcceptingElsewhere.ACCEPT, listener, name, nameLength));
    }

    /**
     * Accepts until there is a connection, or none is waiting. If a connection failed while it waited, accept(2)
     * reports that and drops it; this says nothing about the listener, so it is skipped. But the same error numbers may
     * come from the listener itself, and then for ever; so no more are skipped than can have been waiting.
     */
    static int passOverTheLost(int listener, IntSupplier accept) throws ErrnoException {
        int lost = 0;
        for (; ; ) {
            int fd = accept.getAsInt();
            if (Errno.isInterrupted(fd)) {
                continue;
            }
            if (fd >= 0 || Errno.isWouldBlock(fd)) {
                return fd;
            }
            if (!isOfTheConnection(-fd) || ++lost > MOST_LOST) {
                throw new ErrnoException(LINUX ? "accept4" : "accept", listener, -fd);
            }
        }
    }

    /** See accept(2), "Error handling"; EPERM comes from a firewall. */
    private static boolean isOfTheConnection(int error) {
        for (Errno each : OF_THE_CONNECTION) {
            if (each.code() == error) {
                return true;
            }
        }
        return false;
    }

    /** Starts to connect, without further settings: see {@link #connect(InetSocketAddress, Map)}. */
    public static Connecting connect(InetSocketAddress address) throws ErrnoException {
        return connect(address, Map.of());
    }

    /**
     * Starts to connect. A failure that is known at once is thrown; others are reported by {@link #finishConnect}.
     *
     * @param settings set before the first packet is sent, which announces some of them to the peer
     */
    public static Connecting connect(InetSocketAddress address, Map<SocketSetting, Integer> settings)
            throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            int family = CODEC.familyOf(address.getAddress());
            int fd = Downcall.check("socket", -1, open(state, family, SOCK_STREAM));
            try {
                setAll(fd, settings);
            } catch (ErrnoException e) {
                Posix.close(state, fd);
                throw e;
            }
            int length = CODEC.encode(address, family, MEMORY, state.scratch());
            int result = Downcall.run(state, Connection.CONNECT, fd, state.scratch(), length);
            // Even if interrupted, the handshake continues; calling again would only say so.
            boolean begun = result == -Errno.EINPROGRESS.code() || Errno.isInterrupted(result);
            if (result < 0 && !begun) {
                Posix.close(state, fd);
                throw new ErrnoException("connect", fd, -result);
            }
            return new Connecting(new Descriptor(fd, true), !begun);
        }
    }

    /**
     * Connects to a Unix socket, which succeeds or fails immediately: EAGAIN means that too many connections are
     * waiting there, and no event reports when there is room.
     *
     * @param name as for {@link #listen(byte[], int)}
     */
    public static Descriptor connect(byte[] name) throws ErrnoException {
        requireFitting("connect", name);
        try (CallState state = CallState.borrow()) {
            int fd = Downcall.check("socket", -1, open(state, SocketAddressCodec.UNIX, SOCK_STREAM));
            int length = CODEC.encodeUnix(name, MEMORY, state.scratch());
            int result;
            do {
                result = Downcall.run(state, Connection.CONNECT, fd, state.scratch(), length);
            } while (Errno.isInterrupted(result));
            if (result < 0) {
                Posix.close(state, fd);
                throw new ErrnoException("connect", fd, -result);
            }
            return new Descriptor(fd, true);
        }
    }

    /** Sets the only address with which a datagram socket communicates. */
    static void connect(int fd, InetSocketAddress address, int family) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            int length = CODEC.encode(address, family, MEMORY, state.scratch());
            Downcall.check("connect", fd, Downcall.run(state, Connection.CONNECT, fd, state.scratch(), length));
        }
    }

    /**
     * Checks how a connect ended. The order matters: the error is read first, so that a socket without one is either
     * connected or still connecting.
     *
     * @return false while it is in progress
     * @throws ErrnoException with the reason, once: reading the error clears it
     */
    public static boolean finishConnect(int fd) throws ErrnoException {
        int error = SocketSetting.ERROR.get(fd);
        if (error != 0) {
            throw new ErrnoException("connect", fd, error);
        }
        try (CallState state = CallState.borrow()) {
            int result = peerName(state, fd);
            if (result == -Errno.ENOTCONN.code()) {
                return false;
            }
            Downcall.check("getpeername", fd, result);
            return true;
        }
    }

    /** Receives into library or pinned memory. Returns the count, 0 at the end of the stream, or {@code -errno}. */
    public static long receive(CallState state, int fd, long address, long bytes) {
        return Data.receive(state, fd, address, bytes);
    }

    /** Sends from library or pinned memory. Returns the count, or {@code -errno}. */
    public static long send(CallState state, int fd, long address, long bytes) {
        return Data.send(state, fd, address, bytes);
    }

    /**
     * Like {@link #receive(CallState, int, long, long)}, into a user's native segment, which cannot be freed during the
     * call.
     */
    public static long receive(CallState state, int fd, MemorySegment into, long bytes) {
        return receive(state, fd, into, bytes, 0);
    }

    static long receive(CallState state, int fd, MemorySegment into, long bytes, long flags) {
        try {
            return state.longResult((long) SegmentData.RECV.invokeExact(state.segment, (long) fd, into, bytes, flags));
        } catch (Throwable thrown) {
            throw Native.refusedSegment(thrown);
        }
    }

    /**
     * Like {@link #send(CallState, int, long, long)}, from a user's native segment, which cannot be freed during the
     * call.
     */
    public static long send(CallState state, int fd, MemorySegment from, long bytes) {
        return send(state, fd, from, bytes, MSG_NOSIGNAL);
    }

    static long send(CallState state, int fd, MemorySegment from, long bytes, long flags) {
        try {
            return state.longResult((long) SegmentData.SEND.invokeExact(state.segment, (long) fd, from, bytes, flags));
        } catch (Throwable thrown) {
            throw Native.refusedSegment(thrown);
        }
    }

    /** Receives into several buffers. Returns the count, 0 at the end of the stream, or {@code -errno}. */
    public static long receive(CallState state, int fd, Iovecs into) {
        return receiveMessage(state, fd, into.header(), 0);
    }

    /** Sends from several buffers. Returns the count, or {@code -errno}. */
    public static long send(CallState state, int fd, Iovecs from) {
        return sendMessage(state, fd, from.header(), MSG_NOSIGNAL);
    }

    /** Returns the count, or {@code -errno}. */
    static long sendMessage(CallState state, int fd, long header, long flags) {
        return Messages.send(state, fd, header, flags);
    }

    /** Returns the count, or {@code -errno}; the header tells the rest. */
    static long receiveMessage(CallState state, int fd, long header, long flags) {
        return Messages.receive(state, fd, header, flags);
    }

    public static void shutdownInput(int fd) throws ErrnoException {
        shutdown(fd, SHUT_RD);
    }

    public static void shutdownOutput(int fd) throws ErrnoException {
        shutdown(fd, SHUT_WR);
    }

    /** A connection that the peer has already reset has nothing left to shut down, which is not a failure. */
    private static void shutdown(int fd, int how) throws ErrnoException {
        int result = Downcall.run(Shutting.SHUTDOWN, fd, how);
        if (result != -Errno.ENOTCONN.code()) {
            Downcall.check("shutdown", fd, result);
        }
    }

    public static InetSocketAddress localAddress(int fd) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            Downcall.check("getsockname", fd, localName(state, fd, SocketAddressCodec.MAX_BYTES));
            return CODEC.decode(MEMORY, state.scratch());
        }
    }

    /** Writes the socket's own address into the scratch, and its length behind it. Returns 0, or {@code -errno}. */
    static int localName(CallState state, int fd, int bytes) {
        Posix.putInt(state.scratch() + VALUE, bytes);
        return Downcall.run(state, Name.GETSOCKNAME, fd, state.scratch(), state.scratch() + VALUE);
    }

    /** Binds to the address in the scratch. Returns 0, or {@code -errno}. */
    static int bind(CallState state, int fd, int length) {
        return Downcall.run(state, Listening.BIND, fd, state.scratch(), length);
    }

    /** Returns 0, or {@code -errno}. */
    static int listen(int fd, int backlog) {
        return Downcall.run(Listening.LISTEN, fd, backlog);
    }

    /** Connects to the address in the scratch. Returns 0, or {@code -errno}. */
    static int connect(CallState state, int fd, int length) {
        return Downcall.run(state, Connection.CONNECT, fd, state.scratch(), length);
    }

    /** Writes the peer's address into the scratch. Returns 0, or {@code -errno}. */
    static int peerName(CallState state, int fd) {
        Posix.putInt(state.scratch() + VALUE, SocketAddressCodec.MAX_BYTES);
        return Downcall.run(state, Connection.GETPEERNAME, fd, state.scratch(), state.scratch() + VALUE);
    }

    static int open(CallState state, int family, int type) {
        int fd = Downcall.run(state, Opening.SOCKET, family, type | (LINUX ? SOCK_NONBLOCK_CLOEXEC : 0), 0);
        if (fd >= 0) {
            prepare(state, fd);
        }
        return fd;
    }

    /** Sets what Linux does by flags of the calls themselves. */
    private static void prepare(CallState state, int fd) {
        if (!LINUX) {
            Posix.setNonBlockingAndCloseOnExec(state, fd);
            if (BSD) {
                // Fails on a connection that is already reset, which raises no signal either.
                Posix.putInt(state.scratch() + VALUE, 1);
                setOption(state, fd, SOL_SOCKET_BSD, SO_NOSIGPIPE, state.scratch() + VALUE, INT_BYTES);
            }
        }
    }

    static int setOption(CallState state, int fd, int level, int option, long value, int bytes) {
        return Downcall.run(state, Opening.SETSOCKOPT, fd, level, option, value, bytes);
    }

    static int getOption(CallState state, int fd, int level, int option, long value, long length) {
        return Downcall.run(state, Asking.GETSOCKOPT, fd, level, option, value, length);
    }

    // Linked when first used: a client never links bind, a server never connect.

    private static final class Opening {
        static final MethodHandle SOCKET = Native.link("socket", 3);
        static final MethodHandle SETSOCKOPT = Native.link("setsockopt", 5);
    }

    private static final class Listening {
        static final MethodHandle BIND = Native.link("bind", 3);
        static final MethodHandle LISTEN = Native.link("listen", 2);
    }

    private static final class AcceptingLinux {
        static final MethodHandle ACCEPT4 = Native.link("accept4", 4);
    }

    private static final class AcceptingElsewhere {
        static final MethodHandle ACCEPT = Native.link("accept", 3);
    }

    private static final class Connection {
        static final MethodHandle CONNECT = Native.link("connect", 3);
        static final MethodHandle GETPEERNAME = Native.link("getpeername", 3);
    }

    private static final class Asking {
        static final MethodHandle GETSOCKOPT = Native.link("getsockopt", 5);
    }

    private static final class Shutting {
        static final MethodHandle SHUTDOWN = Native.link("shutdown", 2);
    }

    private static final class Name {
        static final MethodHandle GETSOCKNAME = Native.link("getsockname", 3);
    }

    /**
     * Returns whether bytes have arrived at a non-blocking socket that were not received yet. The end of the stream and a
     * failure do not count.
     */
    public static boolean hasInput(int fd) {
        try (CallState state = CallState.borrow()) {
            return Data.peek(state, fd, state.scratch()) > 0;
        }
    }

    @SuppressWarnings("serial")
    private static final class Data extends NotInlined {
        static final MethodHandle RECV = Native.link("recv", 4);
        static final MethodHandle SEND = Native.link("send", 4);

        static long receive(CallState state, int fd, long address, long bytes) {
            try {
                return state.longResult((long) RECV.invokeExact(state.segment, (long) fd, address, bytes, 0L));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }

        static long peek(CallState state, int fd, long address) {
            try {
                return state.longResult((long) RECV.invokeExact(state.segment, (long) fd, address, 1L, MSG_PEEK));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }

        static long send(CallState state, int fd, long address, long bytes) {
            try {
                return state.longResult(
                        (long) SEND.invokeExact(state.segment, (long) fd, address, bytes, MSG_NOSIGNAL));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }
    }

    private static final class SegmentData {
        static final MethodHandle RECV = Native.linkWithSegment("recv", 4, 1);
        static final MethodHandle SEND = Native.linkWithSegment("send", 4, 1);
    }

    @SuppressWarnings("serial")
    private static final class Messages extends NotInlined {
        static final MethodHandle RECVMSG = Native.link("recvmsg", 3);
        static final MethodHandle SENDMSG = Native.link("sendmsg", 3);

        static long receive(CallState state, int fd, long header, long flags) {
            try {
                return state.longResult((long) RECVMSG.invokeExact(state.segment, (long) fd, header, flags));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }

        static long send(CallState state, int fd, long header, long flags) {
            try {
                return state.longResult((long) SENDMSG.invokeExact(state.segment, (long) fd, header, flags));
            } catch (Throwable thrown) {
                throw Native.unexpected(thrown);
            }
        }
    }
}
