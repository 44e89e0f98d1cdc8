package io.millrace.cli;

import io.millrace.net.UnixAddress;
import io.millrace.server.ShutdownResult;
import io.millrace.server.TcpServer;
import io.millrace.server.UdpServer;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.time.Duration;

/** A server that was started, of whatever kind, as far as the first line, the last line and the end are concerned. */
sealed interface Running {
    /** Returns where it listens. */
    String place();

    String backend();

    int loops();

    /** Returns what it has done. */
    String totals();

    ShutdownResult shutdown(Duration atMost);

    /** One with connections. */
    record Stream(TcpServer server) implements Running {
        @Override
        public String place() {
            UnixAddress unix = server.unixAddress();
            return unix == null ? text(server.address()) : "unix:" + unix;
        }

        @Override
        public String backend() {
            return server.backend();
        }

        @Override
        public int loops() {
            return server.loopCount();
        }

        @Override
        public String totals() {
            long connections = server.connectionsOpened();
            return connections + (connections == 1 ? " connection, " : " connections, ") + server.bytesReceived()
                    + " bytes in, " + server.bytesSent() + " bytes out";
        }

        @Override
        public ShutdownResult shutdown(Duration atMost) {
            return server.shutdown(atMost);
        }
    }

    /** One with datagrams. */
    record Datagrams(UdpServer server) implements Running {
        @Override
        public String place() {
            return text(server.address());
        }

        @Override
        public String backend() {
            return server.backend();
        }

        @Override
        public int loops() {
            return server.loopCount();
        }

        @Override
        public String totals() {
            return server.datagramsReceived() + " datagrams in, " + server.datagramsSent() + " out";
        }

        @Override
        public ShutdownResult shutdown(Duration atMost) {
            return server.shutdown(atMost);
        }
    }

    private static String text(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return (address.getAddress() instanceof Inet6Address ? "[" + host + "]" : host) + ":" + address.getPort();
    }
}
