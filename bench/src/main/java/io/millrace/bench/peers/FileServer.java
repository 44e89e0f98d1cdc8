package io.millrace.bench.peers;

import io.millrace.engine.Reactors;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Millrace's answer to {@code echo_epoll --file}: every 8 bytes received are answered with the whole file, by {@link Connection#sendFile}. The file is opened for each answer, as a server of many
 * files would, and as the peer in C does it.
 *
 * <p>{@code --file PATH}, {@code --port P} (0: the kernel chooses), {@code --loops N}, {@code --backend NAME}.
 */
public final class FileServer implements ConnectionHandler {
    private static final int REQUEST = 8;

    private final Path file;

    private FileServer(Path file) {
        this.file = file;
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        String usage = "FileServer --file PATH [--port P] [--loops N] [--backend NAME]";
        Options options = new Options(arguments, usage, "--file", "--port", "--loops", "--backend");
        int port = (int) options.number("--port", 0, 0, 65_535);
        int loops = (int) options.number("--loops", 1, 1, 64);
        Path file = Path.of(options.text("--file", ""));
        if (!Files.isRegularFile(file) || Files.size(file) == 0) {
            throw options.refuse("--file needs a file that is not empty");
        }
        Reactors.Builder reactors = Reactors.builder().reactors(loops);
        String backend = options.text("--backend", "");
        if (!backend.isEmpty()) {
            reactors.backend(backend);
        }
        TcpServer server = TcpServer.builder()
                .reactors(reactors)
                .address(new InetSocketAddress("127.0.0.1", port))
                .start(new FileServer(file));
        System.out.printf(
                "listening on 127.0.0.1:%d (millrace sendFile)%n",
                server.address().getPort());
        new CountDownLatch(1).await();
    }

    @Override
    public void onConnect(Connection connection) {
        connection.setAttachment(new long[1]);
    }

    @Override
    public void onData(Connection connection, ByteBuffer data) throws IOException {
        long[] asked = (long[]) connection.attachment();
        asked[0] += data.remaining();
        for (; asked[0] >= REQUEST; asked[0] -= REQUEST) {
            connection.sendFile(file);
        }
    }

    @Override
    public void onError(@Nullable Connection connection, Throwable failure) {
        System.err.println(connection + ": " + failure);
        if (connection != null) {
            connection.abort();
        }
    }
}
