package io.millrace.sys.posix;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Msghdr;
import io.millrace.sys.call.Native;
import io.millrace.sys.call.SocketAddressCodec;
import java.lang.invoke.MethodHandle;
import java.net.InetSocketAddress;

/**
 * The calls on UDP sockets. Every socket created here is non-blocking and close-on-exec.
 *
 * <p>Calls that move a datagram return its length or {@code -errno}, because would-block is a value; the others throw.
 * A method that takes a number instead of a {@link Descriptor} must be called while a use of that descriptor is held.
 */
public final class Datagrams {
    /**
     * A socket, and the format of its addresses.
     *
     * @param descriptor must be closed by the caller
     * @param family the address family in which its addresses are written
     */
    public record Opened(Descriptor descriptor, int family) {
        /** Creates a place for the address of a peer. */
        public PeerAddress peer() {
            return new PeerAddress(family);
        }
    }

    /** Part of the result of {@link #receive} if the datagram did not fit. */
    public static final long TRUNCATED = 1L << 32;

    /**
     * The least that a datagram takes of the receive buffer: 576 bytes and more on Linux, an mbuf of 256 on the BSDs.
     */
    private static final int LEAST_CHARGE = 256;

    // Places in a call state's scratch: the name is first.
    private static final int HEADER = 128;
    private static final int IOVEC = 192;

    private Datagrams() {}

    /**
     * Opens a socket and binds it. The wildcard address of either family means every address of both, as everywhere in
     * Java; without IPv6, of IPv4.
     *
     * @param reusePort whether other sockets that set this, too, may bind the same port
     * @param receiveBuffer its size, or 0 for the system's default
     */
    public static Opened open(InetSocketAddress local, boolean reusePort, int receiveBuffer) throws ErrnoException {
        Sockets.Bound bound = Sockets.bind(local, Sockets.SOCK_DGRAM, reusePort, receiveBuffer);
        return new Opened(bound.descriptor(), bound.family());
    }

    /**
     * Connects the socket to one address. Datagrams that arrived before are discarded, as NIO does, but only as many as
     * the receive buffer may have held, because the peer may send faster than we discard.
     */
    public static void connect(int fd, InetSocketAddress address, int family) throws ErrnoException {
        Sockets.connect(fd, address, family);
        throwAway(fd, mostWaiting(fd));
    }

    /** Discards waiting datagrams, up to a number. */
    static void throwAway(int fd, int most) {
        try (CallState state = CallState.borrow()) {
            long result = 0;
            for (int i = 0; i < most && (result >= 0 || Errno.isInterrupted(result)); i++) {
                result = Sockets.receive(state, fd, state.scratch(), 1);
            }
        }
    }

    /**
     * Returns how many datagrams the receive buffer holds at most. Each one also takes room for bookkeeping, however
     * short it is.
     */
    static int mostWaiting(int fd) throws ErrnoException {
        return SocketSetting.RECEIVE_BUFFER.get(fd) / LEAST_CHARGE + 1;
    }

    /**
     * Receives into memory of the library, or pinned memory.
     *
     * @param sender takes the address, if something was received
     * @return the count, with {@link #TRUNCATED} if the rest of the datagram is lost; or {@code -errno}
     */
    public static long receive(CallState state, int fd, long address, long bytes, PeerAddress sender) {
        long name = state.scratch();
        long header = name + HEADER;
        Msghdr.putIovec(name + IOVEC, address, bytes);
        Msghdr.put(header, name, SocketAddressCodec.MAX_BYTES, name + IOVEC, 1);
        long result = Sockets.receiveMessage(state, fd, header, 0);
        if (result < 0) {
            return result;
        }
        sender.take(name, Msghdr.nameLength(header));
        return Msghdr.wasTruncated(header) ? result | TRUNCATED : result;
    }

    /** Sends from library or pinned memory to an address. Returns the count, or {@code -errno}. */
    public static long send(
            CallState state, int fd, long address, long bytes, PeerAddress target, InetSocketAddress to) {
        long name = state.scratch();
        int length = target.put(to, name);
        if (length < 0) {
            return length;
        }
        try {
            return state.longResult((long) Sending.SENDTO.invokeExact(
                    state.segment, (long) fd, address, bytes, Sockets.MSG_NOSIGNAL, name, (long) length));
        } catch (Throwable thrown) {
            throw Native.unexpected(thrown);
        }
    }

    private static final class Sending {
        static final MethodHandle SENDTO = Native.link("sendto", 6);
    }
}
