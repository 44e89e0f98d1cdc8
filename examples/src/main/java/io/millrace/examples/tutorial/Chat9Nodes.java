package io.millrace.examples.tutorial;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.backplane.Backplane;
import io.millrace.engine.EventLoop;
import io.millrace.engine.Reactors;
import io.millrace.net.SignalSource;
import io.millrace.poll.Interest;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Step 9: one room on several nodes. */
final class Chat9Nodes {
    private Chat9Nodes() {}

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        String url = args.length < 2 ? "memory:" : args[1];
        CompletableFuture<TcpServer> started = new CompletableFuture<>();
        try (SignalSource signals = SignalSource.of("INT", "TERM");
                EventLoop loop = EventLoop.builder().workers(1).open();
                Reactors reactors = Reactors.open();
                Backplane backplane = Backplane.open(url, reactors);
                SharedRoom room = new SharedRoom(backplane, () -> started.join().context());
                TcpServer server =
                        Chat4Timeouts.settings(port).manager(reactors).start(connection -> NodeGuest.in(room))) {
            started.complete(server);
            System.out.println(server + "; Ctrl-C ends it");
            loop.register(signals, 1, Interest.READABLE, (on, token, ready) -> {
                System.out.println("stopped by SIG" + signals.poll());
                on.stop();
            });
            loop.run();

            server.context().broadcast(UTF_8.encode("This node ends now. Please come back.\n"));
            System.out.println(server.shutdown(Duration.ofSeconds(5)));
        }
    }
}
