package io.millrace.examples;

import io.millrace.engine.OffLoop;
import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;

/** Keeps notes in files: {@link ServerSocketNotes}, migrated. See docs/howto/from-blocking-sockets.md. */
public final class DirectNotes implements AutoCloseable {
    private final DirectServer server;
    private final Notes notes;

    DirectNotes(int port, Path folder) throws IOException {
        this.notes = new Notes(folder);
        this.server = DirectServer.start(
                TcpServer.builder()
                        .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                        .maxConnections(1_000),
                this::serve);
    }

    int port() {
        return server.address().getPort();
    }

    private void serve(DirectSocket socket) throws Exception {
        socket.setReadTimeout(Duration.ofSeconds(60));
        for (String line = socket.readLine(8 << 10); line != null; line = socket.readLine(8 << 10)) {
            String request = line;
            socket.write(OffLoop.call(() -> notes.answer(request)) + "\n");
        }
    }

    @Override
    public void close() {
        server.shutdown(Duration.ofSeconds(5));
    }

    /**
     * Serves until Enter is pressed.
     *
     * @param args the port to listen on, and the folder of the notes
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        try (DirectNotes notes = new DirectNotes(Integer.parseInt(args[0]), Path.of(args[1]))) {
            System.out.println("listening on " + notes.port() + "; Enter ends it");
            System.in.read();
        }
    }
}
