package io.millrace.examples.tutorial;

import io.millrace.server.TcpServer;
import io.millrace.server.tls.Tls;
import java.io.IOException;
import java.nio.file.Path;

/** Step 5: nobody else can read it. */
final class Chat5Tls {
    private Chat5Tls() {}

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        Tls tls = Tls.builder()
                .keyStore(Path.of("chat.p12"), "changeit".toCharArray())
                .build();
        try (TcpServer server = Chat4Timeouts.settings(port).tls(tls).start(connection -> Chat4Timeouts.guest())) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
