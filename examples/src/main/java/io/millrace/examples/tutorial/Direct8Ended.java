package io.millrace.examples.tutorial;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.engine.EventLoop;
import io.millrace.net.SignalSource;
import io.millrace.poll.Interest;
import io.millrace.server.Connection;
import io.millrace.server.DirectServer;
import io.millrace.server.ShutdownResult;
import java.io.IOException;
import java.time.Duration;

/** Step 8: Ctrl-C and SIGTERM end it in order. */
final class Direct8Ended {
    private Direct8Ended() {}

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        try (SignalSource signals = SignalSource.of("INT", "TERM");
                EventLoop loop = EventLoop.builder().workers(1).open();
                DirectServer server = DirectServer.start(Direct4Timeouts.settings(port), Direct4Timeouts.TALK)) {
            System.out.println(server + "; Ctrl-C ends it");
            loop.register(signals, 1, Interest.READABLE, (on, token, ready) -> {
                System.out.println("stopped by SIG" + signals.poll());
                on.stop();
            });
            loop.run(); // waits for a signal, on this thread; the server has loops of its own

            server.server().stopAccepting().join();
            server.context().broadcast(UTF_8.encode("The chat ends now.\n"));
            server.context().connections().forEach(Connection::close); // or their conversations would wait for lines
            ShutdownResult result = server.shutdown(Duration.ofSeconds(5));
            System.out.println(result.drained() ? "everything was sent" : "cut off: " + result.cutOff());
        }
    }
}
