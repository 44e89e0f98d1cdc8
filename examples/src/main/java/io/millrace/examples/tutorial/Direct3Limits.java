package io.millrace.examples.tutorial;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** Step 3: nobody can take more than a share. */
final class Direct3Limits {
    private static final int LONGEST_NAME = 20;

    private Direct3Limits() {}

    private static void chat(DirectSocket socket) throws IOException {
        socket.write("Your name?\n");
        String name = readLine(socket);
        while (name != null && (name.isEmpty() || name.length() > LONGEST_NAME)) {
            socket.write("A name has 1 to " + LONGEST_NAME + " letters. Your name?\n");
            name = readLine(socket);
        }
        if (name == null) {
            return;
        }
        tell(socket, name + " is here");
        try {
            for (String line = readLine(socket); line != null; line = readLine(socket)) {
                tell(socket, name + ": " + line);
            }
        } finally {
            tell(socket, name + " has left");
        }
    }

    private static @Nullable String readLine(DirectSocket socket) throws IOException {
        String line = socket.readLine(1024);
        return line == null ? null : line.replaceAll("\\p{Cntrl}", "").strip();
    }

    private static void tell(DirectSocket socket, String line) {
        socket.connection().server().broadcast(UTF_8.encode(line + "\n"));
    }

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        TcpServer.Builder settings = TcpServer.builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .maxConnections(1_000)
                .maxConnectionsPerAddress(20)
                .waterMarks(32 << 10, 64 << 10, 256 << 10); // bytes that may wait for one guest
        try (DirectServer server = DirectServer.start(settings, Direct3Limits::chat)) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
