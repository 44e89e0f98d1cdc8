package io.millrace.examples;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.nio.ByteBuffer;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Just enough HTTP/1.1 to send each body back: a framing for heads, and one for the body that follows. */
public final class HeadsAndBodies implements ConnectionHandler {
    private static final Framing HEAD =
            Framing.delimited("\r\n\r\n".getBytes(ISO_8859_1), 8192).within(Duration.ofSeconds(10));

    /** The head whose body is awaited. */
    private @Nullable String head;

    private HeadsAndBodies() {}

    @Override
    public void onConnect(Connection connection) {
        connection.setFraming(HEAD);
    }

    @Override
    public void onData(Connection connection, ByteBuffer frame) throws ProtocolException {
        if (head == null) {
            head = ISO_8859_1.decode(frame).toString();
            connection.setFraming(Framing.exactly(bodyLength(head)).within(Duration.ofSeconds(30)));
        } else {
            head = null;
            connection.setFraming(HEAD);
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: " + frame.remaining() + "\r\n\r\n");
            connection.send(frame);
        }
    }

    private static int bodyLength(String head) throws ProtocolException {
        for (String line : head.lines().toList()) {
            if (line.regionMatches(true, 0, "Content-Length:", 0, 15)) {
                String length = line.substring(15).strip();
                if (!length.matches("\\d{1,6}")) {
                    throw new ProtocolException("a body of " + length + " bytes; at most 999999 are taken");
                }
                return Integer.parseInt(length);
            }
        }
        return 0;
    }

    /**
     * Serves until somebody presses Enter.
     *
     * @param args the port to listen on, or none for any
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        try (TcpServer server = TcpServer.builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .start(connection -> new HeadsAndBodies())) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }
}
