package io.millrace.cli.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("A session's peer")
class PeerTest {
    @Test
    @DisplayName("is named in the log as its connection is")
    void isNamedAsItsConnection() throws Exception {
        CompletableFuture<Connection> connected = new CompletableFuture<>();
        ConnectionHandler handler = new ConnectionHandler() {
            @Override
            public void onConnect(Connection connection) {
                connected.complete(connection);
            }

            @Override
            public void onData(Connection connection, ByteBuffer data) {
                // Nobody sends.
            }
        };
        try (TcpServer server = TcpServer.builder()
                        .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .start(handler);
                Socket socket = new Socket(
                        server.address().getAddress(), server.address().getPort())) {
            Connection connection = connected.get(20, TimeUnit.SECONDS);
            assertThat(new Peer.Of(connection)).hasToString(connection.toString());
            assertThat(connection.toString()).contains(String.valueOf(socket.getLocalPort()));
        }
    }
}
