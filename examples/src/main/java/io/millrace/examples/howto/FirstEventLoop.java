package io.millrace.examples.howto;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.engine.EventLoop;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.poll.Channel;
import io.millrace.poll.Interest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;

/** A socket, a channel and an alarm on an event loop: each has a handler. */
public final class FirstEventLoop {
    private FirstEventLoop() {}

    /**
     * Greets whoever connects, until a second has passed.
     *
     * @param args the port to listen on, or none for any
     * @throws IOException if the system refuses something
     */
    public static void main(String[] args) throws IOException {
        int port = args.length == 0 ? 0 : Integer.parseInt(args[0]);
        try (EventLoop loop = EventLoop.builder().workers(1).open();
                Channel<String> channel = Channel.unbounded();
                TcpListener listener =
                        TcpListener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
            loop.register(listener, 1, Interest.READABLE, (on, token, ready) -> {
                while (true) { // an edge: accept until there is nobody left
                    try (TcpStream stream = listener.accept()) {
                        if (stream == null) {
                            return;
                        }
                        stream.tryWrite(ByteBuffer.wrap("hello\n".getBytes(UTF_8)));
                    }
                }
            });
            loop.register(channel, 2, Interest.READABLE, (on, token, ready) -> {
                for (String message = channel.poll(); message != null; message = channel.poll()) {
                    System.out.println(message);
                }
            });
            loop.schedule(Duration.ofSeconds(1), fired -> loop.stop());

            System.out.println("listening on " + listener.localAddress().getPort());
            Thread.ofVirtual().start(() -> channel.send("hello from another thread"));
            loop.run(); // on this thread, until stop
        }
    }
}
