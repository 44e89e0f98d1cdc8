package io.millrace.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.server.Connection;
import io.millrace.server.ConnectionHandler;
import io.millrace.server.Framing;
import io.millrace.server.TcpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/** A server whose answers take a while: other threads work on them, and they are sent in the order of the questions. */
public final class AnswersLater {
    private AnswersLater() {}

    /**
     * Serves until Enter is pressed.
     *
     * @param args the port; any free one by default
     * @throws Exception if it cannot listen
     */
    public static void main(String[] args) throws Exception {
        int port = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        Framing lines = Framing.lines(1024);
        try (TcpServer server = TcpServer.builder()
                .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                .start(connection -> lines.frames(new Session()))) {
            System.out.println(server + "; Enter ends it");
            System.in.read();
        }
    }

    /** Stands for a database or another server: the longer the question, the longer it takes. */
    private static CompletableFuture<String> lookUp(String question) {
        Executor later = CompletableFuture.delayedExecutor(10L * question.length(), TimeUnit.MILLISECONDS);
        return CompletableFuture.supplyAsync(() -> question.toUpperCase(Locale.ROOT), later);
    }

    private static final class Session implements ConnectionHandler {
        private static final int MOST = 100;

        private CompletableFuture<Void> answered = CompletableFuture.completedFuture(null);
        private int underWay;

        @Override
        public void onData(Connection connection, ByteBuffer line) {
            String question = UTF_8.decode(line).toString(); // now: the buffer is reused when this returns
            CompletableFuture<String> work = lookUp(question).exceptionally(failure -> "failed: " + failure);
            answered = answered.thenAcceptBothAsync(work, (before, answer) -> answer(connection, answer), connection);
            if (++underWay == MOST) {
                connection.pauseReads();
            }
        }

        /** On the connection's thread, as callbacks are: so there is no lock. */
        private void answer(Connection connection, String answer) {
            connection.send(answer + "\n");
            if (underWay-- == MOST) {
                connection.resumeReads();
            }
        }

        @Override
        public void onEndOfInput(Connection connection) {
            answered = answered.thenRunAsync(connection::close, connection); // not before everything is answered
        }
    }
}
