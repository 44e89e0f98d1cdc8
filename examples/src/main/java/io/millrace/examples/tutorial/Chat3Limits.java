package io.millrace.examples.tutorial;

import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Step 3: nobody can take more than a share. */
final class Chat3Limits {
    private Chat3Limits() {}

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        try (TcpServer server = TcpServer.builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .maxConnections(1_000)
                .maxConnectionsPerAddress(20)
                .waterMarks(32 << 10, 64 << 10, 256 << 10) // bytes that may wait for one guest
                .start(connection -> Framing.lines(1024).frames(new Guest()))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
