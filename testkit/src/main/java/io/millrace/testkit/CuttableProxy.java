package io.millrace.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Passes connections on to a port of the loopback interface, until they are cut. */
public final class CuttableProxy implements AutoCloseable {
    private final int target;
    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    /** Answers that are longer than this are dropped. */
    private volatile int longest = Integer.MAX_VALUE;

    /**
     * Makes one that listens.
     *
     * @param target where to pass connections on to
     * @throws IOException if it cannot listen
     */
    public CuttableProxy(int target) throws IOException {
        this.target = target;
        Thread.ofVirtual().start(this::accept);
    }

    /**
     * Returns where it listens.
     *
     * @return a port of the loopback interface
     */
    public int port() {
        return listener.getLocalPort();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket in = listener.accept();
                sockets.add(in);
                Socket out = new Socket(InetAddress.getLoopbackAddress(), target);
                sockets.add(out);
                Thread.ofVirtual().start(() -> pass(in, out, false));
                Thread.ofVirtual().start(() -> pass(out, in, true));
            } catch (IOException e) {
                cut(); // nobody is behind it, or it is closed
            }
        }
    }

    private void pass(Socket from, Socket to, boolean answers) {
        byte[] bytes = new byte[8192];
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                if (!answers || read <= longest) {
                    out.write(bytes, 0, read);
                }
            }
        } catch (IOException e) {
            // cut
        } finally {
            sockets.remove(from);
            sockets.remove(to);
        }
    }

    /**
     * Drops what the target answers, or no longer does. A connection that has lost something this way can only be cut.
     *
     * @param on whether to drop
     */
    public void mute(boolean on) {
        longest = on ? 0 : Integer.MAX_VALUE;
    }

    /**
     * Drops long answers.
     *
     * @param bytes how long an answer may be
     */
    public void muteAbove(int bytes) {
        longest = bytes;
    }

    /**
     * Returns how many connections there are.
     *
     * @return on the side of the clients
     */
    public int connections() {
        return sockets.size() / 2;
    }

    /** Ends all connections. New ones are passed on. */
    public void cut() {
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
