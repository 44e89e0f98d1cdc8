package io.millrace.poll;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A counted way into a {@link Channel}. Any thread may send; closing the last sender disconnects the channel.
 *
 * <p><b>Nothing is sent after the end.</b> A send that counted itself before the close lets the close wait for it: whichever of the two comes last tells the
 * channel that this sender is gone. So a send that succeeds is received before {@link Received.Disconnected}.
 *
 * @param <T> the messages
 */
public final class Sender<T> implements AutoCloseable {
    private static final int CLOSED = 1 << 31;

    private final Channel<T> channel;
    /** The sends under way, and whether it is closed. */
    private final AtomicInteger state = new AtomicInteger();

    Sender(Channel<T> channel) {
        this.channel = channel;
    }

    /**
     * Sends a message; never blocks.
     *
     * @param item not null
     * @return {@link Offered.Sent}, or the message back with the reason
     */
    public Offered<T> send(T item) {
        Objects.requireNonNull(item, "item");
        if (!begin()) {
            return new Offered.Disconnected<>(item);
        }
        try {
            return channel.send(item);
        } finally {
            end();
        }
    }

    /** Counts a send, unless the sender is closed. */
    private boolean begin() {
        for (; ; ) {
            int seen = state.get();
            if (seen < 0) {
                return false;
            }
            if (state.compareAndSet(seen, seen + 1)) {
                return true;
            }
        }
    }

    private void end() {
        if (state.decrementAndGet() == CLOSED) {
            channel.senderClosed();
        }
    }

    /**
     * Another sender of the same channel, counted by itself.
     *
     * @return a new sender, the caller's to close
     */
    public Sender<T> fork() {
        return channel.sender();
    }

    /** Gives the sender up. A send that is under way on another thread ends first: what it sends comes before the end. Idempotent. */
    @Override
    public void close() {
        for (; ; ) {
            int seen = state.get();
            if (seen < 0) {
                return;
            }
            if (state.compareAndSet(seen, seen | CLOSED)) {
                if (seen == 0) {
                    channel.senderClosed();
                }
                return;
            }
        }
    }

    @Override
    public String toString() {
        return "sender of " + channel + (state.get() < 0 ? ", closed" : "");
    }
}
