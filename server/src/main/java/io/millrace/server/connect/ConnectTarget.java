package io.millrace.server.connect;

import io.millrace.net.UnixAddress;
import io.millrace.server.support.UnixPeers;
import java.net.InetSocketAddress;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a client connects to.
 *
 * @param address a host, resolved or not; or what stands in for a Unix socket
 * @param unix null for a host
 */
public record ConnectTarget(
        InetSocketAddress address, @Nullable UnixAddress unix) {
    public static ConnectTarget of(InetSocketAddress address) {
        return new ConnectTarget(Objects.requireNonNull(address, "address"), null);
    }

    public static ConnectTarget of(UnixAddress address) {
        return new ConnectTarget(UnixPeers.standIn(address), address);
    }

    /** Returns whether it is a name that must be looked up. */
    boolean isName() {
        return unix == null && address.isUnresolved();
    }

    /** For messages: without the resolver's name. */
    public String name() {
        return unix == null ? ConnectFailures.name(address) : address.getHostString();
    }

    @Override
    public String toString() {
        return unix == null ? address.toString() : address.getHostString();
    }
}
