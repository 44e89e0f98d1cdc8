package io.millrace.sys.posix;

import static io.millrace.sys.call.Native.MEMORY;

import io.millrace.sys.call.CallState;
import io.millrace.sys.call.Downcall;
import io.millrace.sys.call.Errno;
import io.millrace.sys.call.ErrnoException;
import io.millrace.sys.call.NativePaths;
import io.millrace.sys.call.Os;
import io.millrace.sys.call.Posix;
import io.millrace.sys.call.SocketAddressCodec;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a socket is that other code opened, as the kernel says.
 *
 * @param family the address family in which its addresses are written
 * @param type SOCK_STREAM or another
 * @param listening whether connections can be accepted from it
 * @param internet its address, if it has one of IPv4 or IPv6
 * @param path its name, if it is a Unix socket with a path
 * @param abstractName its name, if it is a Unix socket with a name in Linux's abstract namespace
 */
public record SocketFacts(
        int family,
        int type,
        boolean listening,
        @Nullable InetSocketAddress internet,
        @Nullable Path path,
        @Nullable String abstractName) {
    private static final boolean BSD = Os.current().isBsd();
    private static final int SOL_SOCKET = BSD ? 0xffff : 1;
    private static final int SO_TYPE = BSD ? 0x1008 : 3;
    private static final int SO_ACCEPTCONN = BSD ? 0x2 : 30;
    /** Enough for a {@code struct sockaddr_un}, and less than the scratch has before its values. */
    private static final int NAME_BYTES = 112;

    private static final SocketAddressCodec CODEC = SocketAddressCodec.current();

    /** Returns null if it is no socket. The number must be open, and in use. */
    public static @Nullable SocketFacts of(int fd) throws ErrnoException {
        try (CallState state = CallState.borrow()) {
            int type = option(state, fd, SO_TYPE);
            if (type == -Errno.ENOTSOCK.code()) {
                return null;
            }
            Downcall.check("getsockopt(SO_TYPE)", fd, type);
            boolean listening = option(state, fd, SO_ACCEPTCONN) > 0;
            // The family by the name rather than by SO_DOMAIN, which macOS does not have.
            Downcall.check("getsockname", fd, Sockets.localName(state, fd, NAME_BYTES));
            long name = state.scratch();
            int family = CODEC.familyAt(MEMORY, name);
            boolean internet = family == SocketAddressCodec.INET || family == CODEC.inet6();
            byte[] unix = family == SocketAddressCodec.UNIX
                    ? CODEC.decodeUnix(MEMORY, name, Math.min(Posix.getInt(name + Sockets.VALUE), NAME_BYTES))
                    : new byte[0];
            boolean named = unix.length > 0;
            return new SocketFacts(
                    family,
                    type,
                    listening,
                    internet ? CODEC.decode(MEMORY, name) : null,
                    named && unix[0] != 0 ? NativePaths.path(unix) : null,
                    named && unix[0] == 0 ? new String(unix, 1, unix.length - 1, StandardCharsets.UTF_8) : null);
        }
    }

    /** Returns whether it accepts connections over IPv4 or IPv6. */
    public boolean isTcpListener() {
        return internet != null && type == Sockets.SOCK_STREAM && listening;
    }

    /** Returns whether it accepts connections of this machine. */
    public boolean isUnixListener() {
        return family == SocketAddressCodec.UNIX && type == Sockets.SOCK_STREAM && listening;
    }

    /** Returns whether it takes datagrams over IPv4 or IPv6. */
    public boolean isUdp() {
        return internet != null && type == Sockets.SOCK_DGRAM;
    }

    /** Returns the value, or {@code -errno}. */
    private static int option(CallState state, int fd, int option) {
        long at = state.scratch() + Sockets.VALUE;
        Posix.putInt(at, 0);
        Posix.putInt(at + 4, 4);
        int result = Sockets.getOption(state, fd, SOL_SOCKET, option, at, at + 4);
        return result < 0 ? result : Posix.getInt(at);
    }
}
