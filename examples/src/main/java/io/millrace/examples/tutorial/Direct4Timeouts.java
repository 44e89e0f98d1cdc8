package io.millrace.examples.tutorial;

import io.millrace.server.Conversation;
import io.millrace.server.DirectServer;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** Step 4: nobody can stay for nothing. The steps after this one use its settings and its conversation. */
final class Direct4Timeouts {
    static final Conversation TALK = socket -> ChatTalk.talk(socket, Duration.ofMinutes(10));

    private Direct4Timeouts() {}

    static TcpServer.Builder settings(int port) {
        return TcpServer.builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .maxConnections(1_000)
                .maxConnectionsPerAddress(20)
                .waterMarks(32 << 10, 64 << 10, 256 << 10)
                .writeTimeout(Duration.ofSeconds(10));
    }

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        try (DirectServer server = DirectServer.start(settings(port), TALK)) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
