package io.millrace.sys.posix;

import static io.millrace.sys.call.Native.MEMORY;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.AddressVector;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Downcall;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Posix;
import io.millrace.sys.call.SocketAddressCodec;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The life of a socket in single steps: open, set options, bind, then listen or connect. For an API that has these
 * steps apart, as Netty's does; {@link Sockets} and {@link Datagrams} take them all at once.
 *
 * <p>Every socket opened here is non-blocking and close-on-exec, and never raises SIGPIPE. A method that takes a number
 * must be called while a use of its descriptor is held.
 */
public final class SocketSteps {
    private static final SocketAddressCodec CODEC = SocketAddressCodec.current();
    private static final int AF_UNSPEC = 0;
    /** Enough for any address that getpeername returns here. */
    private static final int NAME_BYTES = 16;

    /** Which internet addresses a socket can use. */
    public enum Reach {
        /** Those of both families; only IPv4 if the machine has no IPv6, or Java was told to prefer IPv4. */
        BOTH,
        IPV4,
        IPV6
    }

    /**
     * An open socket.
     *
     * @param descriptor must be closed by the caller
     * @param family the address family in which its addresses are written
     */
    public record Opened(Descriptor descriptor, int family) {}

    private SocketSteps() {}

    /** Opens a TCP socket. */
    public static Opened openStream(Reach reach) throws ErrnoException {
        return open(reach, Sockets.SOCK_STREAM);
    }

    /** Opens a UDP socket. */
    public static Datagrams.Opened openDatagram(Reach reach) throws ErrnoException {
        Opened opened = open(reach, Sockets.SOCK_DGRAM);
        return new Datagrams.Opened(opened.descriptor(), opened.family());
    }

    /** Opens a Unix stream socket. */
    public static Descriptor openUnix() throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            return new Descriptor(
                    Downcall.check("socket", -1, Sockets.open(state, SocketAddressCodec.UNIX, Sockets.SOCK_STREAM)),
                    true);
        }
    }

    private static Opened open(Reach reach, int type) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            boolean six =
                    reach == Reach.IPV6 || (reach == Reach.BOTH && !Boolean.getBoolean("java.net.preferIPv4Stack"));
            int family = six ? CODEC.inet6() : SocketAddressCodec.INET;
            int fd = Sockets.open(state, family, type);
            if (six && reach == Reach.BOTH && fd == -Errno.EAFNOSUPPORT.code()) {
                family = SocketAddressCodec.INET;
                fd = Sockets.open(state, family, type);
            }
            Downcall.check("socket", -1, fd);
            Descriptor descriptor = new Descriptor(fd, true);
            if (family != SocketAddressCodec.INET) {
                try {
                    SocketSetting.IPV6_ONLY.set(fd, 0);
                } catch (ErrnoException e) {
                    descriptor.close();
                    throw e;
                }
            }
            return new Opened(descriptor, family);
        }
    }

    public static void bind(int fd, int family, InetSocketAddress address) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            int length = encode(state, "bind", fd, family, address);
            Downcall.check("bind", fd, Sockets.bind(state, fd, length));
        }
    }

    /**
     * Binds a Unix socket.
     *
     * @param name a path, or a zero byte followed by a name in Linux's abstract namespace
     */
    public static void bind(int fd, byte[] name) throws ErrnoException {
        Sockets.requireFitting("bind", name);
        try (CallState state = CallState.borrow()) {
            int length = CODEC.encodeUnix(name, MEMORY, state.scratch());
            Downcall.check("bind", fd, Sockets.bind(state, fd, length));
        }
    }

    public static void listen(int fd, int backlog) throws ErrnoException {
        Downcall.check("listen", fd, Sockets.listen(fd, backlog));
    }

    /**
     * Starts to connect a TCP socket, or sets the peer of a UDP socket.
     *
     * @return false if it is in progress; then {@link Sockets#finishConnect} tells how it ended
     */
    public static boolean connect(int fd, int family, InetSocketAddress address) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            int length = encode(state, "connect", fd, family, address);
            int result = Sockets.connect(state, fd, length);
            // Even if interrupted, the handshake continues; calling again would only say so.
            if (result == -Errno.EINPROGRESS.code() || Errno.isInterrupted(result)) {
                return false;
            }
            Downcall.check("connect", fd, result);
            return true;
        }
    }

    /**
     * Connects a Unix socket, which succeeds or fails immediately.
     *
     * @param name as for {@link #bind(int, byte[])}
     */
    public static void connect(int fd, byte[] name) throws ErrnoException {
        Sockets.requireFitting("connect", name);
        try (CallState state = CallState.borrow()) {
            int length = CODEC.encodeUnix(name, MEMORY, state.scratch());
            int result;
            do {
                result = Sockets.connect(state, fd, length);
            } while (Errno.isInterrupted(result));
            Downcall.check("connect", fd, result);
        }
    }

    /** Makes a UDP socket forget its peer. */
    public static void disconnect(int fd) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            long at = state.scratch();
            Posix.putLong(at, AF_UNSPEC);
            Posix.putLong(at + 8, 0);
            int result = Sockets.connect(state, fd, NAME_BYTES);
            if (result != -Errno.EAFNOSUPPORT.code()) { // the BSDs say so, and have done it
                Downcall.check("connect", fd, result);
            }
        }
    }

    /** Returns the address of the peer, or null if there is none. */
    public static @Nullable InetSocketAddress remoteAddress(int fd) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            int result = Sockets.peerName(state, fd);
            if (result == -Errno.ENOTCONN.code()) {
                return null;
            }
            Downcall.check("getpeername", fd, result);
            return CODEC.decode(MEMORY, state.scratch());
        }
    }

    /** Sends from several pieces of memory. Returns the count, or {@code -errno}. */
    public static long send(CallState state, int fd, AddressVector from) {
        return Sockets.sendMessage(state, fd, from.header(), Sockets.MSG_NOSIGNAL);
    }

    /** An IPv6 address on an IPv4 socket would otherwise be cut to its first bytes. */
    private static int encode(CallState state, String call, int fd, int family, InetSocketAddress address)
            throws ErrnoException {
        if (family == SocketAddressCodec.INET && CODEC.familyOf(address.getAddress()) != SocketAddressCodec.INET) {
            throw new ErrnoException(call, fd, Errno.EAFNOSUPPORT.code());
        }
        return CODEC.encode(address, family, MEMORY, state.scratch());
    }
}
