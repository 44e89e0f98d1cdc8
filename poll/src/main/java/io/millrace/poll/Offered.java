package io.millrace.poll;

/**
 * What became of a message that was sent. A message that was not taken comes back.
 *
 * @param <T> the messages
 */
public sealed interface Offered<T> {
    /**
     * The message is in the channel.
     *
     * @param <T> the messages
     */
    record Sent<T>() implements Offered<T> {
        private static final Sent<?> INSTANCE = new Sent<>();
    }

    /**
     * The channel is bounded and full; try again after the receiver has taken something.
     *
     * @param item the message, which is still the caller's
     * @param <T> the messages
     */
    record Full<T>(T item) implements Offered<T> {}

    /**
     * Nobody will ever receive it: the receiver is closed, or the last sender was.
     *
     * @param item the message, which is still the caller's
     * @param <T> the messages
     */
    record Disconnected<T>(T item) implements Offered<T> {}

    /**
     * Whether the message was taken.
     *
     * @return true if it is in the channel
     */
    default boolean isSent() {
        return this instanceof Sent;
    }

    /**
     * The one {@link Sent}: nothing is allocated for a message that was taken.
     *
     * @param <T> the messages
     * @return the same one every time
     */
    @SuppressWarnings("unchecked")
    static <T> Offered<T> sent() {
        return (Offered<T>) Sent.INSTANCE;
    }
}
