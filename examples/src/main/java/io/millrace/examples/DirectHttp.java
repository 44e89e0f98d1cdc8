package io.millrace.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** HTTP/1.1 by hand: keeps connections open, and answers every request with what it asked for. */
public final class DirectHttp {
    private DirectHttp() {}

    /**
     * Serves until Enter is pressed.
     *
     * @param args the port to listen on
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0]));
        TcpServer.Builder settings = TcpServer.builder().address(address).maxConnections(10_000);
        try (DirectServer server = DirectServer.start(settings, DirectHttp::serve)) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }

    private static void serve(DirectSocket socket) throws IOException {
        while (!socket.isShuttingDown()) {
            socket.setReadTimeout(Duration.ofSeconds(60)); // between two requests
            String request = socket.readLine(8 << 10);
            if (request == null) {
                return;
            }
            socket.setTimeLimit(Duration.ofSeconds(10)); // for the rest of this one
            int length = 0;
            for (String line = socket.readLine(8 << 10); line != null && !line.isEmpty(); ) {
                if (line.regionMatches(true, 0, "Content-Length:", 0, 15)) {
                    length = Integer.parseInt(line.substring(15).strip());
                }
                line = socket.readLine(8 << 10);
            }
            if (length < 0 || length > 1 << 20) {
                socket.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                return;
            }
            byte[] body = socket.readExactly(length);
            byte[] answer = (request + ", with " + body.length + " bytes\n").getBytes(UTF_8);
            socket.write(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + answer.length + "\r\n\r\n");
            socket.write(answer);
            socket.setTimeLimit(Duration.ZERO);
        }
    }
}
