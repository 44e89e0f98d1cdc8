package io.millrace.server.support;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/**
 * Asks whether a port is free, for those who are about to share it with nobody but themselves.
 *
 * <p>It is asked by a socket that is bound and never listens. One that listened would take the connections of clients
 * that wait for the server to come up, and reset them when it is closed.
 */
public final class PortCheck {
    private PortCheck() {}

    /**
     * Returns whether a listener without SO_REUSEPORT could be bound.
     *
     * @param address where to; not port 0
     * @return false if not, for whatever reason, such as a name that is unknown: listening tells which
     */
    public static boolean isFree(InetSocketAddress address) {
        InetAddress host = address.getAddress();
        if (host == null) {
            return false;
        }
        // The wildcard address of either family means both, as it does for a listener; so it needs a socket of both.
        boolean onlyFour = host instanceof Inet4Address && !host.isAnyLocalAddress();
        try (SocketChannel probe = onlyFour ? SocketChannel.open(StandardProtocolFamily.INET) : SocketChannel.open()) {
            probe.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            probe.bind(host.isAnyLocalAddress() ? new InetSocketAddress(address.getPort()) : address);
            return true;
        } catch (IOException e) {
            return false;
        }
    }
}
