package io.millrace.examples;

import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import io.millrace.task.Failed;
import io.millrace.task.FailurePolicy;
import io.millrace.task.FuturesUnordered;
import io.millrace.task.Item;
import io.millrace.task.Step;
import io.millrace.task.StreamSource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A set of futures and a socket on one thread: each connection sends one line; its answer is computed elsewhere, on a virtual thread of its own, and
 * comes back to the loop as an event like any other. The word {@code stop} ends the program.
 */
public final class SetBesideASocket {
    private static final long LISTENER = 1;
    private static final long ANSWERS = 2;
    private static final long FIRST_CLIENT = 3;

    private record Answer(TcpStream to, String text) {}

    private SetBesideASocket() {}

    /**
     * Answers lines with their length, until one says {@code stop}.
     *
     * @param args the port to listen on, or none for any
     * @throws IOException if the system refuses something
     */
    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        try (Poll poll = Poll.open();
                TcpListener listener = TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                FuturesUnordered<Answer> answers = FuturesUnordered.<Answer>builder()
                        .timeout(Duration.ofSeconds(10))
                        .onFailure(FailurePolicy.COLLECT_ALL)
                        .build();
                StreamSource<Answer> source = answers.toSource()) {
            poll.register(listener, LISTENER, Interest.READABLE, Trigger.LEVEL);
            poll.register(source, ANSWERS, Interest.READABLE, Trigger.LEVEL);
            System.out.println("port " + listener.localAddress().getPort());

            Clients clients = new Clients();
            Events events = Events.withCapacity(64);
            for (boolean running = true; running; ) {
                poll.poll(events);
                while (events.advance()) {
                    if (events.token() == LISTENER) {
                        TcpStream client = listener.accept();
                        if (client != null) {
                            poll.register(client, clients.add(client), Interest.READABLE, Trigger.LEVEL);
                        }
                    } else if (events.token() == ANSWERS) {
                        running &= deliver(source);
                    } else {
                        TcpStream client = clients.get(events.token());
                        String line = readLine(client);
                        poll.deregister(client);
                        answers.add(() -> answer(client, line)); // on a virtual thread; this one goes on polling
                    }
                }
            }
        }
    }

    /** Runs beside the loop, and may block. */
    private static Answer answer(TcpStream client, String line) {
        if (line.isEmpty()) {
            throw new IllegalArgumentException("nothing to answer");
        }
        return new Answer(client, line.equals("stop") ? "stopping" : line + " has " + line.length() + " letters");
    }

    /** Whatever is there now; false after the word that ends the program. */
    private static boolean deliver(StreamSource<Answer> source) throws IOException {
        boolean running = true;
        for (Step<Answer> step = source.poll(); ; step = source.poll()) {
            switch (step) {
                case Item<Answer>(Answer(TcpStream to, String text)) -> {
                    try (to) {
                        to.tryWrite(ByteBuffer.wrap((text + "\n").getBytes(StandardCharsets.UTF_8)));
                    }
                    System.out.println("answered: " + text);
                    running &= !text.equals("stopping");
                }
                case Failed<Answer> failed ->
                    System.out.println("failed: " + failed.cause().getMessage());
                case Step.Pending<Answer> pending -> {
                    return running;
                }
                case Step.Ended<Answer> ended -> {
                    return running;
                }
            }
        }
    }

    private static String readLine(TcpStream client) throws IOException {
        ByteBuffer line = ByteBuffer.allocate(1024);
        client.tryRead(line); // a line this short comes in one piece on the loopback
        return StandardCharsets.UTF_8.decode(line.flip()).toString().strip();
    }

    /** Connections by their token. */
    private static final class Clients {
        private final Map<Long, TcpStream> byToken = new HashMap<>();

        long add(TcpStream client) {
            long token = FIRST_CLIENT + byToken.size();
            byToken.put(token, client);
            return token;
        }

        TcpStream get(long token) {
            return Objects.requireNonNull(byToken.get(token), "unknown token");
        }
    }
}
