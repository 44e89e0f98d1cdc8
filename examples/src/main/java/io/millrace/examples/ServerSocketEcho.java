package io.millrace.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** The JDK's sockets on virtual threads: where docs/direct.md begins. Its successor is {@link DirectEcho}. */
public final class ServerSocketEcho {
    private ServerSocketEcho() {}

    /**
     * Serves until the process is ended.
     *
     * @param args the port to listen on
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        try (ServerSocket server = new ServerSocket(Integer.parseInt(args[0]), 1024, loopback)) {
            System.out.println("listening on " + server.getLocalPort());
            while (true) {
                Socket socket = server.accept();
                Thread.startVirtualThread(() -> echo(socket));
            }
        }
    }

    private static void echo(Socket socket) {
        try (socket) {
            var in = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                socket.getOutputStream().write((line + "\n").getBytes(UTF_8));
            }
        } catch (IOException e) {
            System.err.println("a connection failed: " + e);
        }
    }
}
