package io.millrace.examples;

import io.millrace.engine.Reactors;
import io.millrace.server.TcpServer;
import io.millrace.server.tls.Tls;
import io.millrace.server.tls.TlsWatch;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;

/** An echo server with TLS that takes new certificates into use when their files change. */
public final class TlsServer {
    private TlsServer() {}

    /**
     * Serves until somebody presses Enter.
     *
     * @param args the certificate with its authorities, its key, and the port to listen on
     * @throws IOException if a file cannot be used, or it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        Tls tls = Tls.server(Path.of(args[0]), Path.of(args[1]));
        try (Reactors reactors = Reactors.open();
                TlsWatch watch = TlsWatch.start(tls, reactors);
                TcpServer server = TcpServer.builder()
                        .manager(reactors)
                        .address(new InetSocketAddress(Integer.parseInt(args[2])))
                        .tls(tls)
                        .start((connection, data) -> connection.send(data))) {
            System.out.println(server + " with " + watch + "; Enter ends it");
            System.in.read();
        }
    }
}
