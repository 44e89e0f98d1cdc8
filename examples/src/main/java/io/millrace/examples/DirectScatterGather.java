package io.millrace.examples;

import io.millrace.engine.OffLoop;
import io.millrace.server.DirectClient;
import io.millrace.server.DirectServer;
import io.millrace.server.DirectSocket;
import io.millrace.task.Failed;
import io.millrace.task.FuturesUnordered;
import io.millrace.task.Item;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;

/** Asks several servers at once, passes their answers on as they come, and writes down that it did. */
public final class DirectScatterGather {
    private DirectScatterGather() {}

    /**
     * Serves until Enter is pressed.
     *
     * @param args the port to listen on, and the ports of the servers to ask
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        Journal journal = new Journal();
        try (DirectClient client = DirectClient.open();
                DirectServer server = DirectServer.listen(Integer.parseInt(args[0]), socket -> {
                    for (String line = socket.readLine(1024); line != null; line = socket.readLine(1024)) {
                        gather(socket, client, args, line);
                        String question = line;
                        int number = OffLoop.call(() -> journal.insert(question)); // blocks its thread: not on a loop
                        socket.write("entry " + number + "\n");
                    }
                })) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }

    private static void gather(DirectSocket socket, DirectClient client, String[] args, String question)
            throws IOException, InterruptedException {
        try (var answers = FuturesUnordered.<String>create()) {
            for (int i = 1; i < args.length; i++) {
                answers.add(ask(client, Integer.parseInt(args[i]), question));
            }
            for (var answer = answers.next(); answer != null; answer = answers.next()) { // as they come; parks
                switch (answer) {
                    case Item(String text) -> socket.write(text + "\n");
                    case Failed<String> failed ->
                        socket.write("failed: " + failed.cause().getMessage() + "\n");
                }
            }
        }
    }

    /** Asks one server, on a virtual thread of its own. */
    private static CompletableFuture<String> ask(DirectClient client, int port, String question) {
        CompletableFuture<String> answer = new CompletableFuture<>();
        Thread.startVirtualThread(() -> {
            try (DirectSocket socket = client.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
                socket.write(question + "\n");
                answer.complete(socket.readLine(1024));
            } catch (IOException e) {
                answer.completeExceptionally(e);
            }
        });
        return answer;
    }

    /** In place of a database, whose driver blocks the thread that calls it. */
    private static final class Journal {
        private int entries;

        synchronized int insert(String text) {
            return text.isEmpty() ? entries : ++entries;
        }
    }
}
