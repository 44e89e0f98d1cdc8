package io.millrace.examples.tutorial;

import io.millrace.server.TcpServer;
import java.io.IOException;

/** Step 1: every byte back. */
final class Chat1Echo {
    private Chat1Echo() {}

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        try (TcpServer server = TcpServer.listen(port, (connection, data) -> connection.send(data))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
