package io.millrace.examples;

import io.millrace.server.TcpServer;
import java.io.IOException;

/** The README's server: every byte back. */
public final class EchoServer {
    private EchoServer() {}

    /**
     * Serves until somebody presses Enter.
     *
     * @param args the port to listen on, or none for any
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        try (TcpServer server = TcpServer.listen(port, (connection, data) -> connection.send(data))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
