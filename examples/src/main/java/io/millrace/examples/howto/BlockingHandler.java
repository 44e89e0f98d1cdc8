package io.millrace.examples.howto;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.engine.Dispatch;
import io.millrace.engine.OffLoop;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Answers names of files in a directory with their length in characters; its handler blocks, and may. */
public final class BlockingHandler {
    private BlockingHandler() {}

    /**
     * Serves until somebody presses Enter.
     *
     * @param args the port to listen on, and the directory
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[1]);
        try (TcpServer server = TcpServer.builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])))
                .dispatch(Dispatch.VIRTUAL, 1)
                .start(Framing.lines(255).frames((connection, line) -> {
                    Path file = directory.resolve(
                            Path.of(UTF_8.decode(line).toString()).getFileName());
                    connection.send(OffLoop.call(() -> length(file)) + "\n");
                }))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }

    private static String length(Path file) throws IOException {
        try {
            return Files.readString(file).length() + " characters";
        } catch (NoSuchFileException e) {
            return "no such file";
        }
    }
}
