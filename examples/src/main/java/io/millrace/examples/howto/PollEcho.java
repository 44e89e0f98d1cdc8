package io.millrace.examples.howto;

import io.millrace.net.Io;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/** An echo server on a poll: what {@link NioEcho} becomes. */
public final class PollEcho {
    private static final long LISTENER = 0;

    private record Client(TcpStream stream, ByteBuffer buffer) {}

    private final Poll poll;
    private final Map<Long, Client> clients = new HashMap<>();
    private long lastToken;

    private PollEcho(Poll poll) {
        this.poll = poll;
    }

    /**
     * Serves for ever.
     *
     * @param args the port to listen on
     * @throws IOException if it cannot listen there
     */
    public static void main(String[] args) throws IOException {
        try (Poll poll = Poll.open();
                TcpListener listener = TcpListener.bind(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(args[0])))) {
            poll.register(listener, LISTENER, Interest.READABLE, Trigger.LEVEL);
            System.out.println("listening on " + listener.localAddress().getPort());
            new PollEcho(poll).serve(listener);
        }
    }

    private void serve(TcpListener listener) throws IOException {
        Events events = Events.withCapacity(1024);
        while (true) {
            poll.poll(events);
            while (events.advance()) {
                if (events.token() == LISTENER) {
                    TcpStream stream = listener.accept();
                    if (stream != null) {
                        clients.put(++lastToken, new Client(stream, ByteBuffer.allocateDirect(8192)));
                        poll.register(stream, lastToken, Interest.READABLE, Trigger.LEVEL);
                    }
                } else {
                    echo(events.token());
                }
            }
        }
    }

    /** Reads only when everything was written that was read before. */
    private void echo(long token) {
        Client client = clients.get(token);
        if (client == null) {
            return;
        }
        TcpStream stream = client.stream();
        ByteBuffer buffer = client.buffer();
        try {
            if (buffer.position() == 0 && stream.tryRead(buffer) == Io.EOF) {
                clients.remove(token);
                stream.close(); // also ends the registration
                return;
            }
            stream.tryWrite(buffer.flip());
            buffer.compact();
            Interest next = buffer.position() == 0 ? Interest.READABLE : Interest.WRITABLE;
            poll.reregister(stream, token, next, Trigger.LEVEL);
        } catch (IOException e) {
            System.err.println("ended: " + e);
            clients.remove(token);
            stream.close();
        }
    }
}
