package io.millrace.cli;

import io.millrace.net.Io;
import io.millrace.net.Net;
import io.millrace.net.TcpListener;
import io.millrace.net.TcpStream;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.PollHandler;
import io.millrace.poll.Readiness;
import io.millrace.poll.Trigger;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An echo server on the bare {@link Poll}: one thread, no engine.
 *
 * <p>A connection is level-triggered and gets one read per turn, so that a flood on one does not starve another. What its socket does
 * not take is kept, and until that is gone the connection waits to write and is not read: memory is bounded by one read buffer per
 * connection. A half-closed peer gets what is still owed before its connection is closed.
 */
final class EchoServer implements PollHandler, AutoCloseable {
    private static final long LISTENER = -1;
    private static final int BUFFER_BYTES = 64 * 1024;

    private final Poll poll;
    private final TcpListener listener;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    private final List<@Nullable Connection> connections = new ArrayList<>();
    private final Deque<Integer> freeTokens = new ArrayDeque<>();

    /** What was received and the socket has not taken back yet; null if nothing. */
    private static final class Connection {
        final TcpStream stream;

        @Nullable
        ByteBuffer owed;

        Connection(TcpStream stream) {
            this.stream = stream;
        }
    }

    EchoServer(Poll poll, InetSocketAddress address) throws IOException {
        this.poll = poll;
        this.listener = Net.of(poll).listen(address);
        poll.register(listener, LISTENER, Interest.READABLE, Trigger.LEVEL);
    }

    InetSocketAddress address() throws IOException {
        return listener.localAddress();
    }

    @Override
    public void ready(Poll from, long token, Readiness kind) {
        if (token == LISTENER) {
            accept();
            return;
        }
        Connection connection = connections.get((int) token);
        if (connection == null) {
            return;
        }
        try {
            serve(token, connection);
        } catch (IOException e) {
            close(token, connection); // reset by the peer: nobody is left to tell
        }
    }

    private void accept() {
        try {
            for (TcpStream stream = listener.accept(); stream != null; stream = listener.accept()) {
                stream.setNoDelay(true);
                long token = place(new Connection(stream));
                poll.register(stream, token, Interest.READABLE, Trigger.LEVEL);
            }
        } catch (IOException e) {
            System.err.println("millrace: cannot accept: " + e.getMessage());
        }
    }

    private long place(Connection connection) {
        Integer free = freeTokens.poll();
        if (free == null) {
            connections.add(connection);
            return (long) connections.size() - 1;
        }
        connections.set(free, connection);
        return free;
    }

    private void serve(long token, Connection connection) throws IOException {
        ByteBuffer owed = connection.owed;
        if (owed != null) {
            connection.stream.tryWrite(owed);
            if (owed.hasRemaining()) {
                return;
            }
            connection.owed = null;
            poll.reregister(connection.stream, token, Interest.READABLE, Trigger.LEVEL);
            return;
        }
        buffer.clear();
        int read = connection.stream.tryRead(buffer);
        if (read == Io.EOF) {
            close(token, connection);
        } else if (read > 0) {
            buffer.flip();
            connection.stream.tryWrite(buffer);
            if (buffer.hasRemaining()) {
                connection.owed =
                        ByteBuffer.allocate(buffer.remaining()).put(buffer).flip();
                poll.reregister(connection.stream, token, Interest.WRITABLE, Trigger.LEVEL);
            }
        }
    }

    private void close(long token, Connection connection) {
        connection.stream.close();
        connections.set((int) token, null);
        freeTokens.add((int) token);
    }

    @Override
    public void close() {
        listener.close();
        for (Connection connection : connections) {
            if (connection != null) {
                connection.stream.close();
            }
        }
    }
}
