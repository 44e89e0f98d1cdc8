package io.millrace.bench.peers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/**
 * An echo server as most new ones are written: the JDK's blocking sockets, and a virtual thread for each connection.
 *
 * <p>{@code --port P} (0: the kernel chooses), {@code --loops N}: not used, for the JDK's scheduler has as many carriers as the process has processors. The buffer of a
 * conversation has the size of the one in {@code ./millrace serve echo --style direct}.
 */
public final class SocketEcho {
    private static final int BUFFER = 8192;
    private static final int BACKLOG = 4096;

    private SocketEcho() {}

    public static void main(String[] arguments) throws IOException {
        Options options = new Options(arguments, "SocketEcho [--port P] [--loops N]", "--port", "--loops");
        int port = (int) options.number("--port", 0, 0, 65_535);
        try (ServerSocket server = new ServerSocket()) {
            server.setReuseAddress(true);
            server.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), BACKLOG);
            System.out.printf(
                    "listening on 127.0.0.1:%d (JDK sockets, a virtual thread for each connection, %d carriers)%n",
                    server.getLocalPort(), Runtime.getRuntime().availableProcessors());
            accept(server);
        }
    }

    @SuppressWarnings("InfiniteLoopStatement")
    private static void accept(ServerSocket server) throws IOException {
        while (true) {
            Socket socket = server.accept();
            Thread.ofVirtual().start(() -> {
                try (socket) {
                    socket.setTcpNoDelay(true);
                    echo(socket);
                } catch (IOException e) {
                    // The peer has gone.
                }
            });
        }
    }

    private static void echo(Socket socket) throws IOException {
        InputStream in = socket.getInputStream();
        OutputStream out = socket.getOutputStream();
        byte[] buffer = new byte[BUFFER];
        for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
            out.write(buffer, 0, n);
        }
    }
}
