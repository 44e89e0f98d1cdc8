package io.millrace.examples;

import io.millrace.server.UdpServer;
import java.io.IOException;

/** A server for datagrams: every one back. */
public final class UdpEcho {
    private UdpEcho() {}

    /**
     * Serves until somebody presses Enter.
     *
     * @param args the port to receive on, or none for any
     * @throws IOException if it cannot receive there
     */
    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        try (UdpServer server = UdpServer.listen(port, (from, data) -> from.reply(data))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
