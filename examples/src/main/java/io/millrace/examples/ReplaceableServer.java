package io.millrace.examples;

import io.millrace.server.Takeover;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A server that is replaced without refusing anybody: start it again with the same path, and the new one takes over. */
public final class ReplaceableServer {
    private ReplaceableServer() {}

    /**
     * Serves until it is replaced, and then until its connections have ended.
     *
     * @param args the path of the Unix socket at which the next one takes over, and the port to listen on
     * @throws IOException if it cannot take over or listen there
     */
    public static void main(String[] args) throws IOException {
        Path path = Path.of(args[0]);
        int port = Integer.parseInt(args[1]);
        try (Takeover takeover = Takeover.begin(path);
                TcpServer server = TcpServer.builder()
                        .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                        .takeover(takeover, "echo")
                        .start((connection, data) -> connection.send(data))) {
            takeover.complete(); // from here on, this process accepts, and no longer its predecessor
            System.out.println(server + ", process " + ProcessHandle.current().pid());

            long successor = takeover.handedOver().join(); // waits until it is replaced
            System.out.println("process " + successor + " has taken over");
            server.drained().completeOnTimeout(null, 30, TimeUnit.SECONDS).join(); // then close() ends what is left
        }
    }
}
