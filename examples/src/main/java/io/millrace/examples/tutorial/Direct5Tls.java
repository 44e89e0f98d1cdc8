package io.millrace.examples.tutorial;

import io.millrace.server.DirectServer;
import io.millrace.server.tls.Tls;
import java.io.IOException;
import java.nio.file.Path;

/** Step 5: nobody else can read it. */
final class Direct5Tls {
    private Direct5Tls() {}

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        Tls tls = Tls.builder()
                .keyStore(Path.of("chat.p12"), "changeit".toCharArray())
                .build();
        try (DirectServer server =
                DirectServer.start(Direct4Timeouts.settings(port).tls(tls), Direct4Timeouts.TALK)) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
