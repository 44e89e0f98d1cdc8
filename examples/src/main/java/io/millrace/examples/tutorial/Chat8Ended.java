package io.millrace.examples.tutorial;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.engine.EventLoop;
import io.millrace.net.SignalSource;
import io.millrace.poll.Interest;
import io.millrace.server.ShutdownResult;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.time.Duration;

/** Step 8: Ctrl-C and SIGTERM end it in order. */
final class Chat8Ended {
    private Chat8Ended() {}

    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 7007 : Integer.parseInt(args[0]);
        try (SignalSource signals = SignalSource.of("INT", "TERM");
                EventLoop loop = EventLoop.builder().workers(1).open();
                TcpServer server = Chat4Timeouts.settings(port).start(connection -> Chat4Timeouts.guest())) {
            System.out.println(server + "; Ctrl-C ends it");
            loop.register(signals, 1, Interest.READABLE, (on, token, ready) -> {
                System.out.println("stopped by SIG" + signals.poll());
                on.stop();
            });
            loop.run(); // waits for a signal, on this thread; the server has loops of its own

            server.context().broadcast(UTF_8.encode("The chat ends now.\n"));
            ShutdownResult result = server.shutdown(Duration.ofSeconds(5));
            System.out.println(result.drained() ? "everything was sent" : "cut off: " + result.cutOff());
        }
    }
}
