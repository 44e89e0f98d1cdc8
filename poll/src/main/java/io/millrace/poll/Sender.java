package io.millrace.poll;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A counted way into a {@link Channel}. Any thread may send; closing the last sender disconnects the channel.
 *
 * @param <T> the messages
 */
public final class Sender<T> implements AutoCloseable {
    private final Channel<T> channel;
    private final AtomicBoolean closed = new AtomicBoolean();

    Sender(Channel<T> channel) {
        this.channel = channel;
    }

    /**
     * Sends a message; never blocks.
     *
     * @param item not null
     * @return {@link SendResult.Sent}, or the message back with the reason
     */
    public SendResult<T> send(T item) {
        return closed.get() ? new SendResult.Disconnected<>(item) : channel.send(item);
    }

    /**
     * Another sender of the same channel, counted by itself.
     *
     * @return a new sender, the caller's to close
     */
    public Sender<T> fork() {
        return channel.sender();
    }

    /** Gives the sender up. Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            channel.senderClosed();
        }
    }

    @Override
    public String toString() {
        return "sender of " + channel + (closed.get() ? ", closed" : "");
    }
}
