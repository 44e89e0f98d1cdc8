package io.millrace.examples;

import io.millrace.server.ShutdownResult;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** A server that ends in order when the process is told to stop. */
public final class GracefulServer {
    private GracefulServer() {}

    /**
     * Serves until Ctrl-C or SIGTERM. Then it accepts nobody else, sends what is pending, and says how that went.
     *
     * @param args the port to listen on, or none for any
     * @throws IOException if it cannot listen there
     * @throws InterruptedException never: nobody interrupts this thread
     */
    public static void main(String[] args) throws IOException, InterruptedException {
        int port = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        TcpServer server = TcpServer.listen(port, (connection, data) -> connection.send(data));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            ShutdownResult result = server.shutdown(Duration.ofSeconds(5));
            System.out.println(result.drained() ? "everything was sent" : "cut off: " + result.cutOff());
        }));
        System.out.println(server + "; Ctrl-C or SIGTERM ends it");
        new CountDownLatch(1).await(); // loops are daemon threads: if main returned, the JVM would end
    }
}
