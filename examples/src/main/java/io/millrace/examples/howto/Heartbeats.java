package io.millrace.examples.howto;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.Idle;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

/** A protocol with heartbeats: each side says something now and then, so that the other one knows that it is alive. */
public final class Heartbeats implements ConnectionHandler {
    private static final Framing LINES = Framing.lines(1024);

    private Heartbeats() {}

    @Override
    public void onData(Connection connection, ByteBuffer line) {
        if (line.hasRemaining()) { // an empty line is the peer's heartbeat
            connection.send(LINES.encode(line));
        }
    }

    @Override
    public void onIdle(Connection connection, Idle kind) {
        if (kind == Idle.WRITE) {
            connection.send("\n"); // nothing was sent for a while: say that we are here
        } else {
            connection.close(); // nothing was received for three times as long: the peer is not
        }
    }

    /**
     * Serves until somebody presses Enter.
     *
     * @param args the port to listen on, and how many milliseconds are between two heartbeats
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        Duration beat = Duration.ofMillis(Long.parseLong(args[1]));
        try (TcpServer server = TcpServer.builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])))
                .writeIdleTimeout(beat)
                .readIdleTimeout(beat.multipliedBy(3))
                .start(LINES.frames(new Heartbeats()))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
