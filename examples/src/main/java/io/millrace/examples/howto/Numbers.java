package io.millrace.examples.howto;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.SendResult;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/** Sends numbers to everyone who connects, no faster than they are read. */
public final class Numbers {
    private Numbers() {}

    private static final class Session implements ConnectionHandler {
        private static final int ONE_TURN = 1_000;

        private final long last;
        private long next = 1;

        Session(long last) {
            this.last = last;
        }

        @Override
        public void onConnect(Connection connection) {
            sendMore(connection);
        }

        @Override
        public void onWritable(Connection connection) {
            sendMore(connection);
        }

        private void sendMore(Connection connection) {
            for (int i = 0; i < ONE_TURN; i++) {
                if (next > last) {
                    connection.close(); // when everything is sent
                    return;
                }
                if (connection.send(next++ + "\n") != SendResult.QUEUED) {
                    return; // above the high-water mark: onWritable continues; or closed
                }
            }
            connection.execute(() -> sendMore(connection)); // after other connections had their turn
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {}
    }

    /**
     * Serves until somebody presses Enter.
     *
     * @param args the port to listen on, and the last number to send
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        long last = Long.parseLong(args[1]);
        try (TcpServer server = TcpServer.builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])))
                .start(connection -> new Session(last))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
