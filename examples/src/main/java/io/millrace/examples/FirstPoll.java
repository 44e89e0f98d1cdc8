package io.millrace.examples;

import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.poll.Channel;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Timer;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;

/** A timer, a channel and a socket on one poll: the first program of docs/sources.md. */
public final class FirstPoll {
    private FirstPoll() {}

    /**
     * Waits for a timer, a channel and a socket, until nothing happens for a while.
     *
     * @param args the port to listen on, or none for any
     * @throws IOException if the system refuses something
     */
    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        try (Poll poll = Poll.open();
                Timer<String> timer = Timer.withTick(Duration.ofMillis(10));
                Channel<String> channel = Channel.unbounded();
                TcpListener listener =
                        TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
            poll.register(timer, 1, Interest.READABLE, Trigger.EDGE);
            poll.register(channel, 2, Interest.READABLE, Trigger.LEVEL);
            poll.register(listener, 3, Interest.READABLE, Trigger.LEVEL);

            timer.set(Duration.ofMillis(200), "a timeout");
            Thread.ofVirtual().start(() -> channel.send("hello from another thread"));

            Events events = Events.withCapacity(1024);
            while (poll.poll(events, Duration.ofSeconds(1)) > 0) {
                while (events.advance()) { // the cursor; `for (Event event : events)` works too
                    switch ((int) events.token()) {
                        case 1 -> System.out.println(timer.poll());
                        case 2 -> System.out.println(channel.poll());
                        default -> {
                            try (TcpStream stream = listener.accept()) {
                                System.out.println("connected: " + stream);
                            }
                        }
                    }
                }
            }
        }
    }
}
