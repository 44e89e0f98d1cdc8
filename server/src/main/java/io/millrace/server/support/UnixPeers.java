package io.millrace.server.support;

import io.millrace.net.ByteStream;
import io.millrace.net.TcpStream;
import io.millrace.net.UnixAddress;
import io.millrace.net.UnixStream;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * What stands in for the address of a Unix socket where an {@link InetSocketAddress} is promised: an unresolved one,
 * which no connection over TCP has, whose host is {@code unix:} and the path, and whose port is 0.
 */
public final class UnixPeers {
    private static final String PREFIX = "unix:";

    private UnixPeers() {}

    public static InetSocketAddress standIn(UnixAddress address) {
        return InetSocketAddress.createUnresolved(PREFIX + address, 0);
    }

    /** Returns whether an address stands in for one of a Unix socket. No host has such a name. */
    public static boolean isStandIn(InetSocketAddress address) {
        return address.isUnresolved() && address.getHostString().startsWith(PREFIX);
    }

    /** Returns the address of a stream's peer, which over a Unix socket has none of its own. */
    public static InetSocketAddress remote(ByteStream stream) {
        return switch (stream) {
            case TcpStream tcp -> tcp.remoteAddress();
            case UnixStream unix -> standIn(unix.address());
            default -> throw new IllegalArgumentException("cannot serve " + stream + ": it is not a socket");
        };
    }

    /** Returns where a stream's Unix socket is; null for one over TCP. */
    public static @Nullable UnixAddress addressOf(ByteStream stream) {
        return stream instanceof UnixStream unix ? unix.address() : null;
    }
}
