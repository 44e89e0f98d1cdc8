package io.millrace.sys.posix;

import io.millrace.sys.Descriptor;
import io.millrace.sys.call.CallState;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;

/**
 * The options of a socket that can be set and read, with this system's numbers. Each value is an {@code int}: 0 or 1
 * for a switch, bytes for a buffer, seconds for a time.
 *
 * <p>A method that takes a number instead of a {@link Descriptor} must be called while a use of that descriptor is
 * held.
 */
public enum SocketSetting {
    REUSE_ADDRESS(Level.SOCKET, 2, 0x4, 0x4),
    ERROR(Level.SOCKET, 4, 0x1007, 0x1007),
    BROADCAST(Level.SOCKET, 6, 0x20, 0x20),
    SEND_BUFFER(Level.SOCKET, 7, 0x1001, 0x1001),
    RECEIVE_BUFFER(Level.SOCKET, 8, 0x1002, 0x1002),
    KEEP_ALIVE(Level.SOCKET, 9, 0x8, 0x8),
    /** Seconds, or −1 for none. On macOS, the option that counts in seconds, which SO_LINGER does not. */
    LINGER(Level.SOCKET, 13, 0x1080, 0x80),
    REUSE_PORT(Level.SOCKET, 15, 0x200, 0x200),
    NO_DELAY(Level.TCP, 1, 1, 1),
    KEEP_IDLE(Level.TCP, 4, 0x10, 0x100),
    KEEP_INTERVAL(Level.TCP, 5, 0x101, 0x200),
    KEEP_COUNT(Level.TCP, 6, 0x102, 0x400),
    /** How many connections may wait whose first packet brought bytes. For a listener; on macOS only a switch. */
    FAST_OPEN(Level.TCP, 23, 0x105, 0x401),
    IPV6_ONLY(Level.IPV6, 26, 27, 27),
    /** For IPv4 only. */
    TYPE_OF_SERVICE(Level.IP, 1, 3, 3),
    /** For both address families: see {@link #set}. */
    TRAFFIC_CLASS(Level.IPV6, 67, 36, 61);

    private enum Level {
        SOCKET(Os.current().isBsd() ? 0xffff : 1),
        IP(0),
        TCP(6),
        IPV6(41);

        private final int number;

        Level(int number) {
            this.number = number;
        }
    }

    private static final int INT_BYTES = 4;

    private final int level;
    private final int option;

    SocketSetting(Level level, int linux, int macos, int freebsd) {
        this.level = level.number;
        this.option = switch (Os.current()) {
            case LINUX, OTHER -> linux;
            case MACOS -> macos;
            case FREEBSD -> freebsd;
        };
    }

    /**
     * Sets the option. The traffic class is two options, IPV6_TCLASS and IP_TOS: an IPv6 socket may carry a connection
     * over IPv4, and then has both if the system accepts both.
     */
    public void set(int fd, int value) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            long at = state.scratch() + Sockets.VALUE;
            int bytes = INT_BYTES;
            if (this == LINGER) { // struct linger: a switch, then the seconds
                Posix.putInt(at, value < 0 ? 0 : 1);
                Posix.putInt(at + INT_BYTES, Math.max(value, 0));
                bytes = 2 * INT_BYTES;
            } else {
                Posix.putInt(at, value);
            }
            int result = Sockets.setOption(state, fd, level, option, at, bytes);
            if (this == TRAFFIC_CLASS) {
                int ofFour = Sockets.setOption(state, fd, TYPE_OF_SERVICE.level, TYPE_OF_SERVICE.option, at, bytes);
                result = result < 0 ? ofFour : result;
            }
            if (result < 0) {
                throw new ErrnoException("setsockopt(" + this + ")", fd, -result);
            }
        }
    }

    /**
     * Returns the value. Linux counts its own bookkeeping as part of a buffer and so reports twice what was set; as
     * everywhere in Java, this returns half of it.
     */
    public int get(int fd) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            long at = state.scratch() + Sockets.VALUE;
            long length = at + 2 * INT_BYTES;
            Posix.putLong(at, 0);
            Posix.putInt(length, this == LINGER ? 2 * INT_BYTES : INT_BYTES);
            int result = Sockets.getOption(state, fd, level, option, at, length);
            if (result < 0 && this == TRAFFIC_CLASS) {
                result = Sockets.getOption(state, fd, TYPE_OF_SERVICE.level, TYPE_OF_SERVICE.option, at, length);
            }
            if (result < 0) {
                throw new ErrnoException("getsockopt(" + this + ")", fd, -result);
            }
            int value = Posix.getInt(at);
            return switch (this) {
                case LINGER -> value == 0 ? -1 : Posix.getInt(at + INT_BYTES);
                case SEND_BUFFER, RECEIVE_BUFFER -> Os.current() == Os.LINUX ? value / 2 : value;
                default -> value;
            };
        }
    }
}
