package io.millrace.server.connect;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;

/**
 * The order in which the addresses of a host are tried: see RFC 8305, section 4. The families take turns, so that one of them that leads nowhere costs one attempt before the other is tried. IPv6 comes first.
 */
final class AddressOrder {
    private AddressOrder() {}

    /** Each address once. Those of a family stay in the resolver's order. */
    static List<InetAddress> interleave(List<InetAddress> found) {
        ArrayDeque<InetAddress> six = new ArrayDeque<>();
        ArrayDeque<InetAddress> four = new ArrayDeque<>();
        for (InetAddress address : new LinkedHashSet<>(found)) {
            (address instanceof Inet6Address ? six : four).add(address);
        }
        List<InetAddress> order = new ArrayList<>();
        while (!six.isEmpty() || !four.isEmpty()) {
            moveFirst(six, order);
            moveFirst(four, order);
        }
        return order;
    }

    private static void moveFirst(ArrayDeque<InetAddress> from, List<InetAddress> to) {
        InetAddress first = from.poll();
        if (first != null) {
            to.add(first);
        }
    }
}
