package io.millrace.examples.tutorial;

import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** Step 4: nobody can stay for nothing. The steps after this one use its settings and its handler. */
final class Chat4Timeouts {
    private Chat4Timeouts() {}

    static TcpServer.Builder settings(int port) {
        return TcpServer.builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .maxConnections(1_000)
                .maxConnectionsPerAddress(20)
                .waterMarks(32 << 10, 64 << 10, 256 << 10)
                .readIdleTimeout(Duration.ofMinutes(10)) // says nothing
                .writeTimeout(Duration.ofSeconds(10)); // does not take what it is sent
    }

    static ConnectionHandler guest() {
        return Framing.lines(1024)
                .within(Duration.ofSeconds(30)) // from the first byte of a line to its last
                .frames(new Guest());
    }

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        try (TcpServer server = settings(port).start(connection -> guest())) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
