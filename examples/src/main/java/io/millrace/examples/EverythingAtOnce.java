package io.millrace.examples;

import io.millrace.net.ChildProcess;
import io.millrace.net.FdSource;
import io.millrace.net.FileEvent;
import io.millrace.net.FileWatch;
import io.millrace.net.SignalSource;
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
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/**
 * One thread waits in one place for a socket, a timer, a channel, stdin, a change of a file, Ctrl-C and the end of a child.
 *
 * <p>Start it with a directory to watch; then connect to the port that it prints, type a line, make a file in that directory, kill the child, and press
 * Ctrl-C, in any order. It tells what happened, and ends with Ctrl-C.
 */
public final class EverythingAtOnce {
    private static final long SOCKET = 1;
    private static final long TIMER = 2;
    private static final long CHANNEL = 3;
    private static final long STDIN = 4;
    private static final long FILE = 5;
    private static final long SIGNAL = 6;
    private static final long CHILD = 7;

    private EverythingAtOnce() {}

    /**
     * Runs until Ctrl-C.
     *
     * @param args the directory to watch; the present one if there is none
     * @throws IOException if the system refuses something
     */
    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args.length == 0 ? "." : args[0]);
        try (Poll poll = Poll.open();
                TcpListener listener = TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                Timer<String> timer = Timer.withTick(Duration.ofMillis(10));
                Channel<String> channel = Channel.unbounded();
                FdSource stdin = FdSource.stdin();
                FileWatch watch = FileWatch.open();
                SignalSource signals = SignalSource.of("INT");
                ChildProcess child = ChildProcess.builder("sleep", "600").start()) {
            watch.watch(directory, FileEvent.Kind.CREATED);
            poll.register(listener, SOCKET, Interest.READABLE, Trigger.LEVEL);
            poll.register(timer, TIMER, Interest.READABLE, Trigger.LEVEL);
            poll.register(channel, CHANNEL, Interest.READABLE, Trigger.LEVEL);
            poll.register(stdin, STDIN, Interest.READABLE, Trigger.LEVEL);
            poll.register(watch, FILE, Interest.READABLE, Trigger.LEVEL);
            poll.register(signals, SIGNAL, Interest.READABLE, Trigger.LEVEL);
            poll.register(child, CHILD, Interest.READABLE, Trigger.ONESHOT);

            timer.set(Duration.ofMillis(100), "100 ms are over");
            Thread.ofVirtual().start(() -> channel.send("hello from another thread"));
            System.out.println("port " + listener.localAddress().getPort() + ", child " + child.pid());

            Events events = Events.withCapacity(16);
            ByteBuffer line = ByteBuffer.allocate(1024);
            for (boolean running = true; running; ) {
                poll.poll(events);
                while (events.advance()) {
                    switch ((int) events.token()) {
                        case (int) SOCKET -> greet(listener);
                        case (int) TIMER -> System.out.println("timer: " + timer.poll());
                        case (int) CHANNEL -> System.out.println("channel: " + channel.poll());
                        case (int) STDIN -> {
                            if (stdin.tryRead(line.clear()) > 0) {
                                System.out.print("stdin: " + StandardCharsets.UTF_8.decode(line.flip()));
                            } else {
                                poll.deregister(stdin); // closed by whoever wrote to it
                            }
                        }
                        case (int) FILE -> {
                            FileEvent event = watch.poll();
                            if (event != null) {
                                System.out.println("file: " + event);
                            }
                        }
                        case (int) CHILD -> System.out.println("child: " + child.poll());
                        default -> {
                            System.out.println("signal: " + signals.poll());
                            running = false;
                        }
                    }
                }
            }
        }
    }

    private static void greet(TcpListener listener) throws IOException {
        try (TcpStream stream = listener.accept()) {
            if (stream != null) {
                System.out.println(
                        "socket: " + stream.remoteAddress().getAddress().getHostAddress());
                stream.tryWrite(ByteBuffer.wrap("hello\n".getBytes(StandardCharsets.UTF_8)));
            }
        }
    }
}
