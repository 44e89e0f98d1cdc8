package io.millrace.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpClient;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** The README's client: one word there and back. */
public final class EchoClient {
    private EchoClient() {}

    /**
     * Says hello to a server and prints its answer.
     *
     * @param args the server's port on this machine
     * @throws Exception if nobody answers
     */
    public static void main(String[] args) throws Exception {
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
        var answer = new CompletableFuture<String>();
        ConnectionHandler reader =
                (connection, data) -> answer.complete(UTF_8.decode(data).toString());
        try (TcpClient client = TcpClient.open()) {
            client.connect(address, reader).join().send("hello");
            System.out.println(answer.get(5, TimeUnit.SECONDS));
        }
    }
}
