package io.millrace.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.KeptConnection;
import io.millrace.server.Reconnect;
import io.millrace.server.TcpClient;
import java.nio.ByteBuffer;
import java.time.Duration;

/** A client that says hello whenever it is connected, and connects again whenever the connection has ended. */
public final class StayingConnected {
    private StayingConnected() {}

    /**
     * Stays connected to a server until Enter is pressed.
     *
     * @param args the server's port on this machine
     * @throws Exception if it cannot begin
     */
    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(args[0]);
        Reconnect policy = Reconnect.backoff(Duration.ofMillis(100), Duration.ofSeconds(30));
        try (TcpClient client = TcpClient.open();
                KeptConnection kept = client.keepConnected("localhost", port, new Greeter(), policy)) {
            System.in.read(); // Enter ends it
            System.out.println(kept);
        }
    }

    private static final class Greeter implements ConnectionHandler {
        @Override
        public void onConnect(Connection connection) {
            connection.send("hello\n");
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            System.out.print(UTF_8.decode(data));
        }
    }
}
