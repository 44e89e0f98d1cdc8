package io.millrace.engine.transport;

import io.millrace.engine.Priority;
import io.millrace.engine.reactor.EventSink;
import io.millrace.net.Io;
import io.millrace.net.UdpSocket;
import io.millrace.poll.Interest;
import io.millrace.poll.Trigger;
import io.millrace.poll.internal.KernelHandle;
import io.millrace.sys.Bits;
import io.millrace.sys.Descriptor;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/**
 * A UDP socket on a reactor: receives datagrams in batches, shows each to its sink, and sends the answers of a batch
 * together. Used on the loop only, except for the counts.
 *
 * <p><b>Fairness.</b> {@value #BATCHES} batches in a turn, then other sources have their turn.
 *
 * <p><b>Back pressure.</b> While the system does not take answers, nothing is received: what comes meanwhile waits in the
 * kernel's buffer, and is lost when that is full, as always with UDP.
 */
public final class DatagramTransport implements EventSink, Runnable {
    private static final int BATCHES = 4;
    /** No receive buffer holds more datagrams than this. Any that come after as many came after the end began. */
    private static final int DRAINED = 1 << 16;

    private static final long RETRY_NANOS = 50_000_000;

    private static final VarHandle COUNTS = MethodHandles.arrayElementVarHandle(long[].class);
    // Apart from each other and from other objects by a cache line or more would be of no use: one thread writes.
    private static final int RECEIVED = 0;
    private static final int BYTES_IN = 1;
    private static final int SENT = 2;
    private static final int BYTES_OUT = 3;
    private static final int DROPPED = 4;
    private static final int TRUNCATED = 5;

    private final ReactorServerLoop loop;
    private final UdpSocket socket;
    private final DatagramSink sink;
    private final DatagramCalls calls;
    private final KernelHandle handle;
    private final int longest;
    private final long[] counts = new long[6];

    private int pending;
    private boolean queued;
    private boolean readable;
    /** Whether the system did not take all answers. */
    private boolean blocked;
    /** Whether an alarm will try again. */
    private boolean waiting;

    private boolean closed;
    /** How many were received since the end began; negative before it. */
    private int drained = -1;

    private final CompletableFuture<Void> ended = new CompletableFuture<>();

    /** The datagram that the sink is shown. */
    private int current;

    private ByteBuffer data = ByteBuffer.allocate(0);

    DatagramTransport(ReactorServerLoop loop, UdpSocket socket, DatagramSink sink, int longest) {
        this.loop = loop;
        this.socket = socket;
        this.sink = sink;
        this.longest = longest;
        this.handle = (KernelHandle) socket.handle();
        this.calls = handle.system() instanceof Descriptor descriptor
                ? new DatagramCalls.Batched(descriptor.fd(), longest)
                : new DatagramCalls.Single(socket, longest);
    }

    /** Any thread. */
    void register() {
        loop.reactor.register(socket, 0, this, Interest.READ_WRITE, Trigger.EDGE);
    }

    @Override
    public void onReady(int bits) {
        pending |= bits;
        queue();
    }

    private void queue() {
        if (!queued) {
            queued = true;
            loop.reactor.add(this, Priority.NORMAL);
        }
    }

    @Override
    public void run() {
        queued = false;
        int bits = pending;
        pending = 0;
        if (closed) {
            return;
        }
        readable |= (bits & (Bits.READABLE | Bits.READ_CLOSED | Bits.ERROR)) != 0;
        if (blocked && (bits & (Bits.WRITABLE | Bits.ERROR)) != 0) {
            blocked = false;
            flush();
        }
        for (int i = 0; i < BATCHES && readable && !blocked && !waiting && !closed; i++) {
            receive();
        }
        if (closed) {
            return;
        }
        if (drained >= 0 && !blocked && (!readable || drained >= DRAINED)) {
            close();
        } else if (readable && !blocked && !waiting) {
            queue();
        }
    }

    private void receive() {
        int received;
        try {
            received = calls.receive();
        } catch (ClosedChannelException e) {
            close();
            return;
        } catch (IOException e) {
            sink.onFailed(e);
            retryLater();
            return;
        }
        if (calls.isDrained(received)) {
            readable = false;
            handle.markDrained(Bits.READABLE);
        }
        if (drained >= 0) {
            drained += received;
        }
        long bytes = 0;
        for (int i = 0; i < received && !closed; i++) {
            current = i;
            data = calls.data(i);
            bytes += data.remaining();
            if (calls.wasTruncated(i)) {
                count(TRUNCATED, 1);
            } else {
                sink.onDatagram(this);
            }
        }
        count(RECEIVED, received);
        count(BYTES_IN, bytes);
        if (!closed) {
            flush();
        }
    }

    /** A failure may last, and no edge tells of its end. */
    private void retryLater() {
        waiting = true;
        loop.schedule(RETRY_NANOS, fired -> {
            waiting = false;
            if (fired) {
                queue();
            }
        });
    }

    private void flush() {
        while (calls.waiting() > 0) {
            int before = calls.waiting();
            long bytesBefore = calls.bytesSent();
            try {
                calls.flush();
                int left = calls.waiting();
                count(SENT, before - left);
                if (left > 0) {
                    blocked = true;
                    handle.markDrained(Bits.WRITABLE);
                    return;
                }
            } catch (ClosedChannelException e) {
                close();
                return;
            } catch (IOException e) {
                count(DROPPED, 1);
                count(SENT, before - calls.waiting() - 1);
                sink.onFailed(e);
            } finally {
                count(BYTES_OUT, calls.bytesSent() - bytesBefore);
            }
        }
    }

    // ---- The datagram that the sink is shown ----

    /**
     * Returns its bytes.
     *
     * @return from 0 to the limit; until the sink returns
     */
    public ByteBuffer data() {
        return data;
    }

    /**
     * Returns its sender.
     *
     * @return the same object as for the one before, if it is the same sender
     */
    public InetSocketAddress sender() {
        return calls.sender(current);
    }

    /**
     * Sends an answer to its sender, together with others.
     *
     * @param answer all that remains
     * @return false if the system does not take any more now; then it is dropped
     * @throws IllegalArgumentException if it is too long
     */
    public boolean answer(ByteBuffer answer) {
        if (answer.remaining() > longest) {
            throw new IllegalArgumentException("cannot send " + answer.remaining() + " bytes: a datagram of this server"
                    + " has at most " + longest + "; raise maxDatagram, or send less");
        }
        if (closed) {
            return false;
        }
        if (calls.answer(current, answer)) {
            return true;
        }
        if (!blocked) {
            flush();
        }
        if (!closed && calls.answer(current, answer)) {
            return true;
        }
        count(DROPPED, 1);
        return false;
    }

    /**
     * Sends a datagram, at once.
     *
     * @param to where to
     * @param bytes all that remains
     * @return false if the system does not take it now; then it is dropped
     */
    public boolean send(InetSocketAddress to, ByteBuffer bytes) {
        int length = bytes.remaining();
        try {
            if (!closed && socket.trySendTo(bytes, to) != Io.WOULD_BLOCK) {
                count(SENT, 1);
                count(BYTES_OUT, length);
                return true;
            }
        } catch (IOException e) {
            sink.onFailed(e);
        }
        count(DROPPED, 1);
        return false;
    }

    // ---- Ending ----

    /**
     * Shows what has arrived, sends the answers, and closes.
     *
     * @return completes when it is closed
     */
    public CompletableFuture<Void> drain() {
        if (!closed && drained < 0) {
            drained = 0;
            readable = true;
            queue();
        }
        return ended;
    }

    /** Closes the socket. What waits to be sent is dropped. Idempotent. */
    public void close() {
        if (!closed) {
            closed = true;
            count(DROPPED, calls.waiting());
            socket.close();
            ended.complete(null);
        }
    }

    @Override
    public void onReactorEnd() {
        if (!closed) {
            flush();
            close();
            sink.onLoopEnd();
        }
    }

    // ---- Counts; any thread ----

    private void count(int which, long more) {
        COUNTS.setOpaque(counts, which, counts[which] + more);
    }

    private long count(int which) {
        return (long) COUNTS.getOpaque(counts, which);
    }

    /**
     * Returns how many datagrams were received.
     *
     * @return with those that were too long
     */
    public long received() {
        return count(RECEIVED);
    }

    /**
     * Returns how many bytes were received.
     *
     * @return of all datagrams
     */
    public long bytesReceived() {
        return count(BYTES_IN);
    }

    /**
     * Returns how many datagrams were sent.
     *
     * @return as the system took them
     */
    public long sent() {
        return count(SENT);
    }

    /**
     * Returns how many bytes were sent.
     *
     * @return of all datagrams
     */
    public long bytesSent() {
        return count(BYTES_OUT);
    }

    /**
     * Returns how many datagrams were to be sent and were not.
     *
     * @return because the system did not take them, or refused
     */
    public long dropped() {
        return count(DROPPED);
    }

    /**
     * Returns how many datagrams were too long, and not shown.
     *
     * @return a part of those that were received
     */
    public long truncated() {
        return count(TRUNCATED);
    }

    @Override
    public String toString() {
        return sink + " on " + socket + " " + Arrays.toString(counts);
    }
}
