package io.millrace.examples.tutorial;

import io.millrace.console.Console;
import io.millrace.server.DirectServer;
import java.io.IOException;

/** Step 7: you can see what it is doing. */
final class Direct7Watched {
    private Direct7Watched() {}

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        try (DirectServer server = DirectServer.start(Direct4Timeouts.settings(port), Direct4Timeouts.TALK);
                Console console = Console.builder().add("chat", server).open()) {
            System.out.println(server + "; Enter ends it");
            System.out.println("console on " + console.url());
            System.in.read();
            System.out.println(server.metrics());
        }
    }
}
