package io.millrace.bench.peers;

import io.millrace.engine.Reactors;
import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.DirectClient;
import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import io.millrace.server.TcpClient;
import io.millrace.server.TcpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * A server that has to ask another one for each request: it reads a question of 64 bytes, passes it on to a server of this machine, waits for the answer, and sends that back. Each
 * connection has one of its own to that server.
 *
 * <p>{@code --downstream PORT}, {@code --style}:
 * <ul>
 *   <li>{@code sockets}: the JDK's blocking sockets on virtual threads
 *   <li>{@code direct}: Millrace in direct style, on the loops
 *   <li>{@code direct-elsewhere}: the same, with the virtual threads on the JDK's scheduler
 *   <li>{@code callbacks}: Millrace with callbacks
 * </ul>
 * {@code --port P} (0: the kernel chooses), {@code --loops N}.
 */
public final class Downstream {
    private static final int QUESTION = 64;
    private static final int BACKLOG = 4096;

    private Downstream() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        String usage =
                "Downstream --downstream PORT --style sockets|direct|direct-elsewhere|callbacks [--port P] [--loops N]";
        Options options = new Options(arguments, usage, "--downstream", "--style", "--port", "--loops");
        InetAddress here = InetAddress.getByName("127.0.0.1");
        InetSocketAddress address = new InetSocketAddress(here, (int) options.number("--port", 0, 0, 65_535));
        InetSocketAddress behind = new InetSocketAddress(here, (int) options.number("--downstream", 0, 1, 65_535));
        int loops = (int) options.number("--loops", 1, 1, 64);
        String style = options.text("--style", "");
        switch (style) {
            case "sockets" -> sockets(address, behind);
            case "direct" -> direct(loops, true, address, behind);
            case "direct-elsewhere" -> direct(loops, false, address, behind);
            case "callbacks" -> callbacks(loops, address, behind);
            default -> throw options.refuse("no style " + style);
        }
    }

    private static void listening(int port, String what) {
        System.out.printf("listening on 127.0.0.1:%d (%s)%n", port, what);
    }

    // ---- The JDK's ----

    @SuppressWarnings("InfiniteLoopStatement")
    private static void sockets(InetSocketAddress address, InetSocketAddress behind) throws IOException {
        try (ServerSocket server = new ServerSocket()) {
            server.bind(address, BACKLOG);
            listening(server.getLocalPort(), "JDK sockets, a virtual thread for each connection");
            while (true) {
                Socket socket = server.accept();
                Thread.ofVirtual().start(() -> {
                    try (socket;
                            Socket down = new Socket(behind.getAddress(), behind.getPort())) {
                        talk(socket, down);
                    } catch (IOException e) {
                        // One of the two has gone.
                    }
                });
            }
        }
    }

    private static void talk(Socket socket, Socket down) throws IOException {
        socket.setTcpNoDelay(true);
        down.setTcpNoDelay(true);
        InputStream questions = socket.getInputStream();
        OutputStream replies = socket.getOutputStream();
        InputStream answers = down.getInputStream();
        OutputStream asks = down.getOutputStream();
        byte[] buffer = new byte[QUESTION];
        while (questions.readNBytes(buffer, 0, QUESTION) == QUESTION) {
            asks.write(buffer);
            if (answers.readNBytes(buffer, 0, QUESTION) < QUESTION) {
                return;
            }
            replies.write(buffer);
        }
    }

    // ---- Direct style ----

    private static void direct(int loops, boolean onLoops, InetSocketAddress address, InetSocketAddress behind)
            throws IOException, InterruptedException {
        Reactors reactors = Reactors.builder().reactors(loops).open();
        DirectClient client =
                DirectClient.open(TcpClient.builder().manager(reactors).loopThreads(onLoops));
        DirectServer server = DirectServer.start(
                TcpServer.builder().manager(reactors).loopThreads(onLoops).address(address), socket -> {
                    try (DirectSocket down = client.connect(behind)) {
                        talk(socket, down);
                    }
                });
        listening(server.address().getPort(), "millrace, direct style, " + server.threads());
        new CountDownLatch(1).await();
    }

    private static void talk(DirectSocket socket, DirectSocket down) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(QUESTION);
        while (socket.read(buffer) >= 0) {
            if (buffer.hasRemaining()) {
                continue;
            }
            down.write(buffer.flip());
            down.readFully(buffer.clear());
            socket.write(buffer.flip());
            buffer.clear();
        }
    }

    // ---- Callbacks ----

    private static void callbacks(int loops, InetSocketAddress address, InetSocketAddress behind)
            throws IOException, InterruptedException {
        Reactors reactors = Reactors.builder().reactors(loops).open();
        TcpClient client = TcpClient.builder().manager(reactors).open();
        TcpServer server =
                TcpServer.builder().manager(reactors).address(address).start(new Asking(client, behind));
        listening(server.address().getPort(), "millrace, callbacks");
        new CountDownLatch(1).await();
    }

    /** No question is read before there is somebody to ask. */
    private record Asking(TcpClient client, InetSocketAddress behind) implements ConnectionHandler {
        @Override
        public void onConnect(Connection connection) {
            connection.pauseReads();
            var unused = client.connect(behind, new Answering(connection), connection)
                    .whenComplete((down, failure) -> {
                        if (failure != null) {
                            connection.abort();
                        } else {
                            connection.setAttachment(down);
                            connection.resumeReads();
                        }
                    });
        }

        @Override
        public void onData(Connection connection, ByteBuffer data) {
            if (connection.attachment() instanceof Connection down) {
                down.send(data);
            }
        }

        @Override
        public void onDisconnect(Connection connection) {
            if (connection.attachment() instanceof Connection down) {
                down.close();
            }
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            if (connection != null) {
                connection.abort();
            }
        }
    }

    private record Answering(Connection asked) implements ConnectionHandler {
        @Override
        public void onData(Connection connection, ByteBuffer data) {
            asked.send(data);
        }

        @Override
        public void onError(@Nullable Connection connection, Throwable failure) {
            asked.abort();
        }
    }
}
