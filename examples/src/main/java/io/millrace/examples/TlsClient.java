package io.millrace.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpClient;
import io.millrace.server.tls.Tls;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** One word there and back, to a server whose certificate an authority of ours has issued. */
public final class TlsClient {
    private TlsClient() {}

    /**
     * Says hello to a server on this machine and prints its answer.
     *
     * @param args the authority's certificate, and the server's port
     * @throws Exception if nobody answers, or the server is not whom it should be
     */
    public static void main(String[] args) throws Exception {
        var answer = new CompletableFuture<String>();
        ConnectionHandler reader =
                (connection, data) -> answer.complete(UTF_8.decode(data).toString());
        Tls tls = Tls.builder().trust(Path.of(args[0])).build();
        try (TcpClient client = TcpClient.builder().tls(tls).open()) {
            Connection connection = client.connect("localhost", Integer.parseInt(args[1]), reader)
                    .join();
            connection.send("hello");
            System.out.println(answer.get(5, TimeUnit.SECONDS));
            System.out.println(connection.tls().orElseThrow().protocol());
        }
    }
}
