package io.millrace.server.handover;

import io.millrace.net.Io;
import io.millrace.net.PassedDescriptor;
import io.millrace.net.UnixPeer;
import io.millrace.net.UnixStream;
import io.millrace.poll.Interest;
import io.millrace.poll.Notifier;
import io.millrace.poll.Readiness;
import io.millrace.poll.Source;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One end of a conversation about sockets: lines of text over a Unix socket, some of them with a descriptor. Calls wait,
 * for a bounded time, and are made by one platform thread.
 */
public final class HandoverTalk implements AutoCloseable {
    /** A description with its socket, which the receiver must use or close. */
    public record Handed(SocketLine line, PassedDescriptor socket) {}

    /** The other end said that it does not go on, and why. */
    public static final class RefusedException extends IOException {
        private static final long serialVersionUID = 1;

        RefusedException(String reason) {
            super(reason);
        }
    }

    private static final String FAILED = "failed ";
    private static final int LONGEST_LINE = 4096;

    private final UnixStream stream;
    private final List<PassedDescriptor> passed = new ArrayList<>();
    /** What was received and not read yet, from 0 to its position. */
    private final ByteBuffer received = ByteBuffer.allocate(LONGEST_LINE);

    public HandoverTalk(UnixStream stream) {
        this.stream = stream;
    }

    /** Returns who is at the other end. */
    public UnixPeer peer() throws IOException {
        return stream.peer();
    }

    // ---- Saying ----

    public void say(String line, Duration patience) throws IOException {
        say(line, null, patience);
    }

    /** Says a line, and passes the descriptor of a source with it. */
    public void say(String line, @Nullable Source passing, Duration patience) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
        long deadline = System.nanoTime() + patience.toNanos();
        Source unsent = passing;
        while (bytes.hasRemaining()) {
            int sent = unsent == null ? stream.tryWrite(bytes) : stream.tryWrite(bytes, unsent);
            if (sent == Io.WOULD_BLOCK) {
                await(Interest.WRITABLE, deadline, patience);
            } else {
                unsent = null; // it travels with the first byte
            }
        }
    }

    /** Says that this end does not go on. Does not fail: the other end may be gone. */
    public void refuse(String reason) {
        try {
            say(FAILED + reason.replaceAll("\\p{Cntrl}+", " "), Duration.ofSeconds(1));
        } catch (IOException | RuntimeException e) {
            System.getLogger("io.millrace").log(System.Logger.Level.DEBUG, "could not refuse a takeover", e);
        }
    }

    // ---- Hearing ----

    /**
     * Waits for a line.
     *
     * @return null if the other end closed instead
     * @throws RefusedException if the other end does not go on
     */
    public @Nullable String hear(Duration patience) throws IOException {
        long deadline = System.nanoTime() + patience.toNanos();
        for (; ; ) {
            String line = line();
            if (line != null) {
                if (line.startsWith(FAILED)) {
                    throw new RefusedException(line.substring(FAILED.length()));
                }
                return line;
            }
            int count = stream.tryRead(received, passed);
            if (count == Io.EOF) {
                return null;
            }
            if (count == Io.WOULD_BLOCK) {
                await(Interest.READABLE, deadline, patience);
            }
        }
    }

    /** Waits for the description of a socket and the socket. */
    public Handed hearSocket(Duration patience) throws IOException {
        String line = hear(patience);
        if (line == null) {
            throw new IOException("it ended while it passed its sockets");
        }
        SocketLine described = SocketLine.parse(line);
        if (passed.size() != 1) {
            throw new IOException("it passed " + passed.size() + " descriptors with the line “" + line + "”");
        }
        PassedDescriptor socket = passed.removeFirst();
        if (socket.kind() != described.kind().descriptor()) {
            socket.close();
            throw new IOException("it passed " + socket.kind().description() + " with the line “" + line + "”");
        }
        return new Handed(described, socket);
    }

    private @Nullable String line() throws IOException {
        for (int i = 0; i < received.position(); i++) {
            if (received.get(i) == '\n') {
                String line = new String(received.array(), 0, i, StandardCharsets.UTF_8);
                received.flip().position(i + 1);
                received.compact();
                return line;
            }
        }
        if (!received.hasRemaining()) {
            throw garbage(new String(received.array(), 0, 40, StandardCharsets.UTF_8));
        }
        return null;
    }

    static IOException garbage(String line) {
        return new IOException(
                "it does not speak the protocol of takeovers: “" + line.replaceAll("\\p{Cntrl}", "?") + "”");
    }

    private void await(Interest interest, long deadline, Duration patience) throws IOException {
        long left = deadline - System.nanoTime();
        try {
            if (left <= 0
                    || Notifier.waitFor(stream, interest, Duration.ofNanos(left))
                            .equals(Readiness.NONE)) {
                throw new SocketTimeoutException("it said nothing for " + patience.toMillis() + " ms");
            }
        } catch (UncheckedIOException e) {
            throw new IOException("the conversation was ended: " + e.getMessage(), e);
        }
    }

    /** Has a call that waits fail, and all further ones. Any thread. */
    public void interrupt() {
        stream.close();
    }

    /** Ends the conversation, and closes descriptors that nobody asked for. */
    @Override
    public void close() {
        stream.close();
        passed.forEach(PassedDescriptor::close);
    }

    @Override
    public String toString() {
        return "talk on " + stream;
    }
}
