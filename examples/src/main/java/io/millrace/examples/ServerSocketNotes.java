package io.millrace.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;

/**
 * Keeps notes in files, with the JDK's sockets on virtual threads: where docs/howto/from-blocking-sockets.md begins. Its successor is {@link
 * DirectNotes}.
 */
public final class ServerSocketNotes implements AutoCloseable {
    private final ServerSocket server;
    private final Notes notes;
    private final Semaphore places = new Semaphore(1_000);
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    ServerSocketNotes(int port, Path folder) throws IOException {
        this.server = new ServerSocket(port, 1024, InetAddress.getLoopbackAddress());
        this.notes = new Notes(folder);
        Thread.startVirtualThread(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    private void accept() {
        try {
            while (true) {
                places.acquire();
                Socket socket = server.accept();
                open.add(socket);
                Thread.startVirtualThread(() -> {
                    try (socket) {
                        serve(socket);
                    } catch (IOException e) {
                        System.err.println("a connection failed: " + e);
                    } finally {
                        open.remove(socket);
                        places.release();
                    }
                });
            }
        } catch (IOException | InterruptedException e) {
            // closed
        }
    }

    private void serve(Socket socket) throws IOException {
        socket.setSoTimeout(60_000);
        BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream(), UTF_8));
        OutputStream out = socket.getOutputStream();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.write((notes.answer(line) + "\n").getBytes(UTF_8));
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket socket : open) {
            socket.close();
        }
    }

    /**
     * Serves until Enter is pressed.
     *
     * @param args the port to listen on, and the folder of the notes
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        try (ServerSocketNotes notes = new ServerSocketNotes(Integer.parseInt(args[0]), Path.of(args[1]))) {
            System.out.println("listening on " + notes.port() + "; Enter ends it");
            System.in.read();
        }
    }
}
