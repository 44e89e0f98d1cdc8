package io.millrace.examples.tutorial;

import io.millrace.server.DirectServer;
import java.io.IOException;

/** Step 1: every byte back. */
final class Direct1Echo {
    private Direct1Echo() {}

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        try (DirectServer server =
                DirectServer.listen(port, socket -> socket.inputStream().transferTo(socket.outputStream()))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
