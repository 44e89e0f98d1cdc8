package io.millrace.examples;

import io.millrace.engine.Reactors;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** A server with settings: whole lines, limits, and loops that can be looked at. */
public final class LineServer {
    private LineServer() {}

    /**
     * Serves until somebody presses Enter, and then says what the loops were doing.
     *
     * @param args the port to listen on, or none for any
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        Framing lines = Framing.lines(1024).within(Duration.ofSeconds(30));
        try (Reactors reactors = Reactors.builder().name("lines").open();
                TcpServer server = TcpServer.builder()
                        .manager(reactors)
                        .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                        .maxConnections(10_000)
                        .idleTimeout(Duration.ofMinutes(5))
                        .start(lines.frames((connection, line) -> connection.send(lines.encode(line))))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
            System.out.print(reactors.dump());
        }
    }
}
