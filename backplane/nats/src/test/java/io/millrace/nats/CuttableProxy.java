package io.millrace.nats;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Passes connections on to a port of the loopback interface, until they are cut. */
final class CuttableProxy implements AutoCloseable {
    private final int target;
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();

    CuttableProxy(int target) throws IOException {
        this.target = target;
        Thread.ofVirtual().start(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket in = listener.accept();
                sockets.add(in);
                Socket out = new Socket(InetAddress.getLoopbackAddress(), target);
                sockets.add(out);
                Thread.ofVirtual().start(() -> pass(in, out));
                Thread.ofVirtual().start(() -> pass(out, in));
            } catch (IOException e) {
                cut(); // nobody is behind it, or it is closed
            }
        }
    }

    private void pass(Socket from, Socket to) {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException e) {
            // cut
        } finally {
            sockets.remove(from);
            sockets.remove(to);
        }
    }

    void cut() {
        for (Socket socket : sockets) {
            try {
                socket.close();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        cut();
    }
}
