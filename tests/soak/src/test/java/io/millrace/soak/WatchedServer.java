package io.millrace.soak;

import io.millrace.engine.Reactors;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** A program that echoes until its input ends. A byte 's' makes its handler sleep for 300 ms first, a byte 'c' compute for as long. */
final class WatchedServer {
    private static final long SLOW_NANOS = Duration.ofMillis(300).toNanos();

    private WatchedServer() {}

    public static void main(String... arguments) throws IOException {
        try (TcpServer server = TcpServer.builder()
                .reactors(Reactors.builder().reactors(1).name("watched"))
                .start((connection, data) -> {
                    slow((char) data.get(data.position()));
                    connection.send(data);
                })) {
            System.out.println(server.address().getPort());
            while (System.in.read() >= 0) {
                // until it is closed
            }
        }
    }

    private static void slow(char how) {
        long end = System.nanoTime() + SLOW_NANOS;
        while ((how == 's' || how == 'c') && System.nanoTime() - end < 0) {
            if (how == 's') {
                LockSupport.parkNanos(end - System.nanoTime());
            }
        }
    }
}
