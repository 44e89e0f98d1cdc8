package io.millrace.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.poll.Events;
import io.millrace.poll.Interest;
import io.millrace.poll.Poll;
import io.millrace.poll.Source;
import io.millrace.poll.Trigger;
import io.millrace.sys.selector.Backends;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;

/**
 * A backend, sources of the family that fits it, and the waiting that tests do: one poll, one source at a time, and a
 * deadline far beyond what any of them needs. Closes what it made.
 */
final class Rig implements AutoCloseable {
    /** The backends that the tests run on. poll(2) and NIO emulate edges, so they show whether a drained direction is told of. */
    enum Backend {
        EPOLL,
        POLL,
        NIO;

        Rig rig() {
            String name = name().toLowerCase(Locale.ROOT);
            assumeTrue(
                    Backends.all().stream()
                            .anyMatch(provider -> provider.name().equals(name) && provider.refusal() == null),
                    () -> "there is no " + name + " here");
            return new Rig(Poll.builder().backend(name).open());
        }
    }

    static final InetSocketAddress ANY_PORT = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    static final Duration DEADLINE = Duration.ofSeconds(20);

    final Poll poll;
    final Net net;
    private final Events events = Events.withCapacity(16);
    private final Deque<AutoCloseable> made = new ArrayDeque<>();

    private Rig(Poll poll) {
        this.poll = poll;
        this.net = Net.of(poll);
    }

    /** Both ends of a connection through loopback. */
    record Ends(TcpStream client, TcpStream server) {}

    Ends connection() throws IOException {
        try (TcpListener listener = net.listen(ANY_PORT)) {
            TcpStream client = keep(net.connect(listener.localAddress()));
            TcpStream server = accept(listener);
            finishConnect(client);
            return new Ends(client, server);
        }
    }

    TcpListener listener() throws IOException {
        return keep(net.listen(ANY_PORT));
    }

    Pipe pipe() throws IOException {
        return keep(net.pipe());
    }

    <T extends AutoCloseable> T keep(T source) {
        made.push(source);
        return source;
    }

    TcpStream accept(TcpListener listener) throws IOException {
        for (; ; ) {
            TcpStream stream = listener.accept();
            if (stream != null) {
                return keep(stream);
            }
            await(listener, Interest.READABLE);
        }
    }

    void finishConnect(ByteStream stream) throws IOException {
        while (!stream.finishConnect()) {
            await(stream, Interest.WRITABLE);
        }
    }

    /** Reads once, as soon as there is something: a count or EOF. */
    int read(ByteStream stream, ByteBuffer into) throws IOException {
        for (; ; ) {
            int read = stream.tryRead(into);
            if (read != Io.WOULD_BLOCK) {
                return read;
            }
            await(stream, Interest.READABLE);
        }
    }

    void readFully(ByteStream stream, ByteBuffer into) throws IOException {
        while (into.hasRemaining()) {
            assertThat(read(stream, into)).as("the stream ended early").isPositive();
        }
    }

    void writeFully(ByteStream stream, ByteBuffer from) throws IOException {
        while (from.hasRemaining()) {
            if (stream.tryWrite(from) == Io.WOULD_BLOCK) {
                await(stream, Interest.WRITABLE);
            }
        }
    }

    /** Waits until the kernel reports it; it must not be registered. */
    void await(Source source, Interest interest) {
        poll.register(source, 1, interest, Trigger.LEVEL);
        try {
            assertThat(poll.poll(events, DEADLINE))
                    .as("nothing happened in time")
                    .isPositive();
        } finally {
            poll.deregister(source);
        }
    }

    /** What the next poll reports of the one registered source. */
    boolean reports(Duration within) {
        return poll.poll(events, within) > 0;
    }

    @Override
    public void close() {
        while (!made.isEmpty()) {
            try {
                made.pop().close();
            } catch (Exception e) {
                throw new AssertionError("closing a source failed", e);
            }
        }
        poll.close();
    }
}
