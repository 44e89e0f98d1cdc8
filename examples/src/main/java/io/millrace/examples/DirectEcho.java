package io.millrace.examples;

import io.millrace.server.DirectServer;
import java.io.IOException;

/** Lines are sent back, by a virtual thread for each connection. */
public final class DirectEcho {
    private DirectEcho() {}

    /**
     * Serves until Enter is pressed.
     *
     * @param args the port to listen on
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        try (DirectServer server = DirectServer.listen(Integer.parseInt(args[0]), socket -> {
            for (String line = socket.readLine(1024); line != null; line = socket.readLine(1024)) {
                socket.write(line + "\n");
            }
        })) {
            System.out.println(server + "; " + server.threads() + "; Enter ends it");
            System.in.read();
        }
    }
}
