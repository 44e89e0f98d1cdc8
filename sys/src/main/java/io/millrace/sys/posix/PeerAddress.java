package io.millrace.sys.posix;

import static io.millrace.sys.call.Native.MEMORY;

import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.Posix;
import io.millrace.sys.call.SocketAddressCodec;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The address that a datagram socket last received from or sent to: the kernel's bytes, and the object for them,
 * created when it is asked for and kept while the bytes stay the same. So nothing is allocated if a socket has one
 * peer, or if the address is not asked for.
 *
 * <p>Used by one thread at a time: a socket has one for each direction.
 */
public final class PeerAddress {
    private static final SocketAddressCodec CODEC = SocketAddressCodec.current();
    private static final int INET_BYTES = 16;

    private final int family;

    // The struct in the machine's order: of 28 bytes, the last 12 are zero for IPv4.
    private long first;
    private long second;
    private long third;
    private int fourth;

    private boolean known;
    private @Nullable InetSocketAddress address;

    /** Creates an address for sockets of a family, as returned by {@link Datagrams#open}. */
    PeerAddress(int family) {
        this.family = family;
    }

    /** Returns the address, or null if there was none yet. */
    public @Nullable InetSocketAddress address() {
        if (address == null && known) {
            try (CallState state = CallState.borrow()) {
                long at = state.scratch();
                write(at);
                address = CODEC.decode(MEMORY, at);
            }
        }
        return address;
    }

    /** Stores what the kernel wrote. */
    void take(long at, int length) {
        boolean long6 = length > INET_BYTES;
        long one = Posix.getLong(at);
        long two = Posix.getLong(at + 8);
        long three = long6 ? Posix.getLong(at + 16) : 0;
        int four = long6 ? Posix.getInt(at + 24) : 0;
        if (one != first || two != second || three != third || four != fourth || !known) {
            first = one;
            second = two;
            third = three;
            fourth = four;
            known = length > 0;
            address = null;
        }
    }

    /**
     * Writes an address for the kernel. If it is the same object as last time, this costs four stores. Equality is not
     * enough, because two equal addresses may differ in their scope.
     *
     * @return the length, or {@code -EAFNOSUPPORT} for an IPv6 address on an IPv4 socket
     */
    int put(InetSocketAddress to, long at) {
        if (isLast(to)) {
            write(at);
            return family == SocketAddressCodec.INET ? INET_BYTES : SocketAddressCodec.MAX_BYTES;
        }
        if (family == SocketAddressCodec.INET && to.getAddress() instanceof Inet6Address) {
            return -Errno.EAFNOSUPPORT.code();
        }
        int length = CODEC.encode(to, family, MEMORY, at);
        take(at, length);
        address = to;
        return length;
    }

    @SuppressWarnings("ReferenceEquality") // see put
    private boolean isLast(InetSocketAddress to) {
        return to == address;
    }

    private void write(long at) {
        Posix.putLong(at, first);
        Posix.putLong(at + 8, second);
        Posix.putLong(at + 16, third);
        Posix.putInt(at + 24, fourth);
    }

    @Override
    public String toString() {
        return known ? String.valueOf(address()) : "nobody";
    }
}
