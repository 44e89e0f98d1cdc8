package io.millrace.examples;

import io.millrace.net.UnixAddress;
import io.millrace.server.DirectClient;
import io.millrace.server.DirectSocket;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** A server and a client at a Unix socket. */
public final class UnixEcho {
    private UnixEcho() {}

    /**
     * Asks once, and ends.
     *
     * @param args the path of the socket
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        Path path = Path.of(args[0]);
        UnixAddress address = UnixAddress.of(path);
        try (TcpServer server = TcpServer.builder()
                        .address(address)
                        .socketPermissions(PosixFilePermissions.fromString("rw-rw----"))
                        .start((connection, data) -> connection.send(data));
                DirectClient client = DirectClient.open();
                DirectSocket socket = client.connect(address)) {
            socket.write("hello\n");
            System.out.println(socket.readLine(100) + " from " + server);
        }
    }
}
