package app;

import io.millrace.engine.Reactors;
import io.millrace.server.DirectClient;
import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import io.millrace.server.TcpServer;
import io.millrace.task.FuturesUnordered;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

/** Starts an echo server and one in direct style on the class path, talks to them, and says what came back. */
final class OnTheClassPath {
    private OnTheClassPath() {}

    public static void main(String[] args) throws IOException {
        InetSocketAddress anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        try (Reactors reactors = Reactors.builder().reactors(1).open();
                TcpServer server = TcpServer.builder()
                        .manager(reactors)
                        .address(anyPort)
                        .start((connection, data) -> connection.send(data));
                Socket socket = new Socket(
                        server.address().getAddress(), server.address().getPort());
                FuturesUnordered<String> answers = FuturesUnordered.create()) {
            socket.getOutputStream().write("hello".getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readNBytes(5), StandardCharsets.US_ASCII);
            answers.add(CompletableFuture.completedFuture(answer));
            answers.forEach(outcome -> System.out.println("class path: " + outcome + " by " + server.backend()));
        }
        converse();
    }

    /** The same in direct style, on a virtual thread whose carrier is named in its description. */
    private static void converse() throws IOException {
        try (DirectServer server = DirectServer.listen(0, socket -> socket.write(Thread.currentThread() + "\n"));
                DirectClient client = DirectClient.open();
                DirectSocket socket = client.connect(server.address())) {
            System.out.println("class path: " + server.threads() + ", " + socket.readLine(1024));
        }
    }
}
