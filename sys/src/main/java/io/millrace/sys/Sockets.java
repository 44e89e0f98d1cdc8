package io.millrace.sys;

import static io.millrace.sys.Native.MEMORY;

import java.lang.invoke.MethodHandle;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The calls on TCP sockets. Every socket made here is non-blocking and close-on-exec, and never raises SIGPIPE.
 *
 * <p>Calls that move bytes return the count or {@code -errno}, because would-block is a value; the others throw. A method that
 * takes a number instead of a {@link Descriptor} is called while a use of that descriptor is held.
 */
public final class Sockets {
    /**
     * A connection that was waiting to be accepted.
     *
     * @param descriptor the caller's to close
     * @param remote who connected
     */
    public record Accepted(Descriptor descriptor, InetSocketAddress remote) {}

    /**
     * A connection that was begun.
     *
     * @param descriptor the caller's to close
     * @param connected whether it stands already
     */
    public record Connecting(Descriptor descriptor, boolean connected) {}

    private static final boolean LINUX = Os.current() == Os.LINUX;
    private static final boolean BSD = Os.current().isBsd();
    private static final SocketAddressCodec CODEC = SocketAddressCodec.current();

    private static final int SOCK_STREAM = 1;
    /** Linux only: both flags at once, with no moment in which a fork could inherit the socket. */
    private static final int SOCK_NONBLOCK_CLOEXEC = 0x800 | 0x80000;

    private static final int SOL_SOCKET = BSD ? 0xffff : 1;
    private static final int SO_REUSEADDR = BSD ? 0x4 : 2;
    private static final int SO_ERROR = BSD ? 0x1007 : 4;
    private static final int SO_NOSIGPIPE = Os.current() == Os.MACOS ? 0x1022 : 0x800;
    private static final int IPPROTO_TCP = 6;
    private static final int TCP_NODELAY = 1;
    private static final int IPPROTO_IPV6 = 41;
    private static final int IPV6_V6ONLY = BSD ? 27 : 26;
    private static final long MSG_NOSIGNAL = LINUX ? 0x4000 : 0;

    private static final int SHUT_RD = 0;
    private static final int SHUT_WR = 1;

    /** Where in a call state's scratch the lengths and option values are; the address is before them. */
    private static final int VALUE = 128;

    private static final int INT_BYTES = 4;

    private Sockets() {}

    /**
     * Opens a socket, binds it and listens. The wildcard address of either family means every address of both, as everywhere in
     * Java; where there is no IPv6, of IPv4.
     */
    public static Descriptor listen(InetSocketAddress address, int backlog) throws ErrnoException {
        CallState state = CallState.current();
        InetAddress internet = address.getAddress();
        boolean bothFamilies = internet.isAnyLocalAddress() && !Boolean.getBoolean("java.net.preferIPv4Stack");
        int family = bothFamilies ? CODEC.inet6() : CODEC.familyOf(internet);
        int fd = open(state, family);
        if (bothFamilies && fd == -Errno.EAFNOSUPPORT.code()) {
            family = SocketAddressCodec.INET;
            fd = open(state, family);
        }
        check("socket", -1, fd);
        boolean done = false;
        try {
            setOption(state, fd, SOL_SOCKET, SO_REUSEADDR, 1);
            if (bothFamilies && family != SocketAddressCodec.INET) {
                setOption(state, fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
            }
            int length = CODEC.encode(address, family, MEMORY, state.scratch());
            check("bind", fd, call(state, Listening.BIND, fd, state.scratch(), length));
            check("listen", fd, call(state, Listening.LISTEN, fd, backlog));
            done = true;
            return new Descriptor(fd, true);
        } finally {
            if (!done) {
                Posix.close(state, fd);
            }
        }
    }

    /**
     * Takes a waiting connection. One that its peer gave up meanwhile is passed over.
     *
     * @return null if none is waiting
     */
    public static @Nullable Accepted accept(int listener) throws ErrnoException {
        CallState state = CallState.current();
        for (; ; ) {
            Posix.putInt(state.scratch() + VALUE, SocketAddressCodec.MAX_BYTES);
            int fd = LINUX
                    ? call(
                            state,
                            AcceptingLinux.ACCEPT4,
                            listener,
                            state.scratch(),
                            state.scratch() + VALUE,
                            SOCK_NONBLOCK_CLOEXEC)
                    : call(state, AcceptingElsewhere.ACCEPT, listener, state.scratch(), state.scratch() + VALUE);
            if (fd == -Errno.EAGAIN.code()) {
                return null;
            }
            if (fd == -Errno.EINTR.code() || fd == -Errno.ECONNABORTED.code()) {
                continue;
            }
            check(LINUX ? "accept4" : "accept", listener, fd);
            if (Posix.getInt(state.scratch() + VALUE) == 0) {
                // macOS hands out a connection that was reset while it waited, with no address.
                Posix.close(state, fd);
                continue;
            }
            InetSocketAddress remote = CODEC.decode(MEMORY, state.scratch());
            prepare(state, fd);
            return new Accepted(new Descriptor(fd, true), remote);
        }
    }

    /** Begins to connect; a failure that is known at once is thrown, another one comes from {@link #finishConnect}. */
    public static Connecting connect(InetSocketAddress address) throws ErrnoException {
        CallState state = CallState.current();
        int family = CODEC.familyOf(address.getAddress());
        int fd = check("socket", -1, open(state, family));
        int length = CODEC.encode(address, family, MEMORY, state.scratch());
        int result = call(state, Connection.CONNECT, fd, state.scratch(), length);
        // Interrupted or not, the handshake goes on; calling again would only say so.
        boolean begun = result == -Errno.EINPROGRESS.code() || result == -Errno.EINTR.code();
        if (result < 0 && !begun) {
            Posix.close(state, fd);
            throw new ErrnoException("connect", fd, -result);
        }
        return new Connecting(new Descriptor(fd, true), !begun);
    }

    /**
     * Asks how a connect ended. The order matters: an error is taken first, so that a socket without one is either connected
     * or still on its way.
     *
     * @return false while it is under way
     * @throws ErrnoException with the reason, once: asking takes the error away
     */
    public static boolean finishConnect(int fd) throws ErrnoException {
        CallState state = CallState.current();
        long value = state.scratch() + VALUE;
        Posix.putInt(value, 0);
        Posix.putInt(value + INT_BYTES, INT_BYTES);
        check(
                "getsockopt(SO_ERROR)",
                fd,
                call(state, Connection.GETSOCKOPT, fd, SOL_SOCKET, SO_ERROR, value, value + INT_BYTES));
        int error = Posix.getInt(value);
        if (error != 0) {
            throw new ErrnoException("connect", fd, error);
        }
        Posix.putInt(value, SocketAddressCodec.MAX_BYTES);
        int result = call(state, Connection.GETPEERNAME, fd, state.scratch(), value);
        if (result == -Errno.ENOTCONN.code()) {
            return false;
        }
        check("getpeername", fd, result);
        return true;
    }

    /** Receives into library or pinned memory: the count, 0 at the end of the stream, or {@code -errno}. */
    public static long receive(CallState state, int fd, long address, long bytes) {
        try {
            return state.longResult((long) Data.RECV.invokeExact(state.segment, (long) fd, address, bytes, 0L));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    /** Sends from library or pinned memory: the count, or {@code -errno}. */
    public static long send(CallState state, int fd, long address, long bytes) {
        try {
            return state.longResult(
                    (long) Data.SEND.invokeExact(state.segment, (long) fd, address, bytes, MSG_NOSIGNAL));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    public static void shutdownInput(int fd) throws ErrnoException {
        shutdown(fd, SHUT_RD);
    }

    public static void shutdownOutput(int fd) throws ErrnoException {
        shutdown(fd, SHUT_WR);
    }

    /** A connection that the peer has reset already has nothing left to shut down: that is no failure. */
    private static void shutdown(int fd, int how) throws ErrnoException {
        int result = call(CallState.current(), Shutting.SHUTDOWN, fd, how);
        if (result != -Errno.ENOTCONN.code()) {
            check("shutdown", fd, result);
        }
    }

    public static void setNoDelay(int fd, boolean on) throws ErrnoException {
        setOption(CallState.current(), fd, IPPROTO_TCP, TCP_NODELAY, on ? 1 : 0);
    }

    public static InetSocketAddress localAddress(int fd) throws ErrnoException {
        CallState state = CallState.current();
        Posix.putInt(state.scratch() + VALUE, SocketAddressCodec.MAX_BYTES);
        check("getsockname", fd, call(state, Name.GETSOCKNAME, fd, state.scratch(), state.scratch() + VALUE));
        return CODEC.decode(MEMORY, state.scratch());
    }

    private static int open(CallState state, int family) {
        int fd = call(state, Opening.SOCKET, family, SOCK_STREAM | (LINUX ? SOCK_NONBLOCK_CLOEXEC : 0), 0);
        if (fd >= 0) {
            prepare(state, fd);
        }
        return fd;
    }

    /** What Linux does by flags of the calls themselves. */
    private static void prepare(CallState state, int fd) {
        if (!LINUX) {
            Posix.setNonBlockingAndCloseOnExec(state, fd);
            if (BSD) {
                // Fails on a connection that is reset already, which raises no signal either.
                Posix.putInt(state.scratch() + VALUE, 1);
                call(state, Opening.SETSOCKOPT, fd, SOL_SOCKET, SO_NOSIGPIPE, state.scratch() + VALUE, INT_BYTES);
            }
        }
    }

    private static void setOption(CallState state, int fd, int level, int option, int value) throws ErrnoException {
        Posix.putInt(state.scratch() + VALUE, value);
        check("setsockopt", fd, call(state, Opening.SETSOCKOPT, fd, level, option, state.scratch() + VALUE, INT_BYTES));
    }

    private static int check(String name, int fd, int result) throws ErrnoException {
        if (result < 0) {
            throw new ErrnoException(name, fd, -result);
        }
        return result;
    }

    // The calls that move no bytes share one way in for each number of arguments.

    private static int call(CallState state, MethodHandle function, long a, long b) {
        try {
            return state.result((long) function.invokeExact(state.segment, a, b));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    private static int call(CallState state, MethodHandle function, long a, long b, long c) {
        try {
            return state.result((long) function.invokeExact(state.segment, a, b, c));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    private static int call(CallState state, MethodHandle function, long a, long b, long c, long d) {
        try {
            return state.result((long) function.invokeExact(state.segment, a, b, c, d));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    private static int call(CallState state, MethodHandle function, long a, long b, long c, long d, long e) {
        try {
            return state.result((long) function.invokeExact(state.segment, a, b, c, d, e));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
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
        static final MethodHandle GETSOCKOPT = Native.link("getsockopt", 5);
        static final MethodHandle GETPEERNAME = Native.link("getpeername", 3);
    }

    private static final class Shutting {
        static final MethodHandle SHUTDOWN = Native.link("shutdown", 2);
    }

    private static final class Name {
        static final MethodHandle GETSOCKNAME = Native.link("getsockname", 3);
    }

    private static final class Data {
        static final MethodHandle RECV = Native.link("recv", 4);
        static final MethodHandle SEND = Native.link("send", 4);
    }
}
