package io.millrace.sys.posix;

import static io.millrace.sys.call.Native.MEMORY;

import io.millrace.sys.call.CallState;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import io.millrace.sys.call.SocketAddressCodec;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Multicast on UDP sockets, by the calls that are the same for both address families (RFC 3678). Linux only; elsewhere
 * every method throws {@link UnsupportedOperationException}.
 *
 * <p>Must be called while a use of the descriptor is held.
 */
public final class Multicast {
    private static final SocketAddressCodec CODEC = SocketAddressCodec.current();

    private static final int IP = 0;
    private static final int IPV6 = 41;
    private static final int IP_MULTICAST_IF = 32;
    private static final int IP_MULTICAST_TTL = 33;
    private static final int IP_MULTICAST_LOOP = 34;
    private static final int IPV6_MULTICAST_IF = 17;
    private static final int IPV6_MULTICAST_HOPS = 18;
    private static final int IPV6_MULTICAST_LOOP = 19;

    /** {@code struct group_req}: an interface's index, then an address; {@code group_source_req} has a second one. */
    private static final int GROUP = 8;

    private static final int SOURCE = GROUP + 128;
    private static final int ONE_ADDRESS = SOURCE;
    private static final int TWO_ADDRESSES = SOURCE + 128;

    private static final int INT_BYTES = 4;
    /** {@code struct ip_mreqn}: two addresses and an index. */
    private static final int MREQN_BYTES = 12;

    /** What to do with a group. */
    public enum Membership {
        JOIN(42, 46),
        LEAVE(45, 47),
        BLOCK(-1, 43),
        UNBLOCK(-1, 44);

        private final int any;
        private final int ofSource;

        Membership(int any, int ofSource) {
            this.any = any;
            this.ofSource = ofSource;
        }
    }

    private Multicast() {}

    /**
     * Changes the membership in a group on an interface.
     *
     * @param source the only sender it applies to, or null for all
     */
    public static void change(
            int fd, Membership what, InetAddress group, int interfaceIndex, @Nullable InetAddress source)
            throws ErrnoException {
        requireLinux();
        int family = CODEC.familyOf(group);
        try (CallState state = CallState.borrow();
                Arena arena = Arena.ofConfined()) {
            long request = arena.allocate(TWO_ADDRESSES, 8).address();
            Posix.putInt(request, interfaceIndex);
            CODEC.encode(new InetSocketAddress(group, 0), family, MEMORY, request + GROUP);
            if (source != null) {
                CODEC.encode(new InetSocketAddress(source, 0), family, MEMORY, request + SOURCE);
            }
            int option = source == null ? what.any : what.ofSource;
            int bytes = source == null ? ONE_ADDRESS : TWO_ADDRESSES;
            int level = family == SocketAddressCodec.INET ? IP : IPV6;
            check(what.toString(), fd, Sockets.setOption(state, fd, level, option, request, bytes));
        }
    }

    /** Sets the interface through which multicasts are sent. */
    public static void setInterface(int fd, int family, int index) throws ErrnoException {
        requireLinux();
        try (CallState state = CallState.borrow()) {
            long at = state.scratch();
            Posix.putLong(at, 0);
            Posix.putInt(at + 8, index);
            check("IP_MULTICAST_IF", fd, Sockets.setOption(state, fd, IP, IP_MULTICAST_IF, at, MREQN_BYTES));
            if (family != SocketAddressCodec.INET) {
                Posix.putInt(at, index);
                check("IPV6_MULTICAST_IF", fd, Sockets.setOption(state, fd, IPV6, IPV6_MULTICAST_IF, at, INT_BYTES));
            }
        }
    }

    public static int timeToLive(int fd, int family) throws ErrnoException {
        return family == SocketAddressCodec.INET ? get(fd, IP, IP_MULTICAST_TTL) : get(fd, IPV6, IPV6_MULTICAST_HOPS);
    }

    public static void setTimeToLive(int fd, int family, int hops) throws ErrnoException {
        set(fd, IP, IP_MULTICAST_TTL, hops);
        if (family != SocketAddressCodec.INET) {
            set(fd, IPV6, IPV6_MULTICAST_HOPS, hops);
        }
    }

    /** Returns 1 if this machine's own multicasts come back to it, else 0. */
    public static int loop(int fd, int family) throws ErrnoException {
        return family == SocketAddressCodec.INET ? get(fd, IP, IP_MULTICAST_LOOP) : get(fd, IPV6, IPV6_MULTICAST_LOOP);
    }

    public static void setLoop(int fd, int family, int on) throws ErrnoException {
        set(fd, IP, IP_MULTICAST_LOOP, on);
        if (family != SocketAddressCodec.INET) {
            set(fd, IPV6, IPV6_MULTICAST_LOOP, on);
        }
    }

    private static int get(int fd, int level, int option) throws ErrnoException {
        requireLinux();
        try (CallState state = CallState.borrow()) {
            long at = state.scratch();
            Posix.putInt(at, 0);
            Posix.putInt(at + 8, INT_BYTES);
            check("getsockopt", fd, Sockets.getOption(state, fd, level, option, at, at + 8));
            return Posix.getInt(at);
        }
    }

    private static void set(int fd, int level, int option, int value) throws ErrnoException {
        requireLinux();
        try (CallState state = CallState.borrow()) {
            long at = state.scratch();
            Posix.putInt(at, value);
            check("setsockopt", fd, Sockets.setOption(state, fd, level, option, at, INT_BYTES));
        }
    }

    private static void check(String what, int fd, int result) throws ErrnoException {
        if (result < 0) {
            throw new ErrnoException("setsockopt(" + what + ")", fd, -result);
        }
    }

    private static void requireLinux() {
        if (Os.current() != Os.LINUX) {
            throw new UnsupportedOperationException("multicast is supported on Linux only");
        }
    }
}
