package io.millrace.cli;

import io.millrace.net.UnixAddress;
import io.millrace.server.ShutdownResult;
import io.millrace.server.TcpServer;
import io.millrace.server.UdpServer;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** A server that was started, of whatever kind, as far as the first line, the last line and the end are concerned. */
sealed interface Running {
    /** Returns where it listens. */
    String place();

    String backend();

    int loops();

    /** Returns what it has done. */
    String totals();

    /** Returns how many connections there are, in words. */
    String open();

    /** Lets nothing more in; completes when all connections have ended by themselves. */
    CompletableFuture<Void> drained();

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
            return count(server.connectionsOpened()) + ", " + server.bytesReceived() + " bytes in, "
                    + server.bytesSent() + " bytes out";
        }

        @Override
        public String open() {
            return count(server.context().connections().size());
        }

        private static String count(long connections) {
            return connections + (connections == 1 ? " connection" : " connections");
        }

        @Override
        public CompletableFuture<Void> drained() {
            return server.drained();
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
        public String open() {
            return "no connections";
        }

        @Override
        public CompletableFuture<Void> drained() {
            return CompletableFuture.completedFuture(null);
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
