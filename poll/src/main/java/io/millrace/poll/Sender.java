package io.millrace.poll;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A counted sender of a {@link Channel}. Any thread may send; closing the last sender disconnects the channel.
 *
 * <p><b>Nothing is sent after the end.</b> If a send is in progress during a close, the one that finishes last tells
 * the channel that this sender is gone. So a message that was sent successfully is received before {@link
 * Received.Disconnected}.
 *
 * @param <T> the type of the messages
 */
public final class Sender<T> implements AutoCloseable {
    private static final int CLOSED = 1 << 31;

    private final Channel<T> channel;
    /** How many sends are in progress, and whether the sender is closed. */
    private final AtomicInteger state = new AtomicInteger();

    Sender(Channel<T> channel) {
        this.channel = channel;
    }

    /**
     * Sends a message. Never blocks.
     *
     * @param item the message, not null
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
            channel.removeSender();
        }
    }

    /**
     * Creates another sender of the same channel, which is counted separately.
     *
     * @return a new sender, which the caller must close
     */
    public Sender<T> fork() {
        return channel.sender();
    }

    /**
     * Closes the sender. A send in progress on another thread still completes, and its message precedes the end.
     * Idempotent.
     */
    @Override
    public void close() {
        for (; ; ) {
            int seen = state.get();
            if (seen < 0) {
                return;
            }
            if (state.compareAndSet(seen, seen | CLOSED)) {
                if (seen == 0) {
                    channel.removeSender();
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
