package io.millrace.examples;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import io.millrace.server.tls.Tls;
import io.millrace.server.tls.TlsSession;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** A server that greets its clients by the names in their certificates. */
public final class MutualTls {
    private MutualTls() {}

    /**
     * Serves until somebody presses Enter.
     *
     * @param args the certificate with its authorities, its key, the authority that has issued the clients'
     *     certificates, and the port to listen on
     * @throws IOException if a file cannot be used, or it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        Tls tls = Tls.builder()
                .certificate(Path.of(args[0]), Path.of(args[1]))
                .trust(Path.of(args[2]))
                .clientCertificates(Tls.ClientCertificates.NEED)
                .build();
        ConnectionHandler greeter = new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                TlsSession session = connection.tls().orElseThrow();
                connection.send("hello "
                        + session.peerCertificates()
                                .getFirst()
                                .getSubjectX500Principal()
                                .getName() + "\n");
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {}
        };
        try (TcpServer server = TcpServer.builder()
                .address(new InetSocketAddress(Integer.parseInt(args[3])))
                .tls(tls)
                .start(greeter)) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
