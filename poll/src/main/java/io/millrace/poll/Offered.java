package io.millrace.poll;

/**
 * The result of sending a message to a channel. A message that was not taken is handed back.
 *
 * @param <T> the type of the messages
 */
public sealed interface Offered<T> {
    /**
     * The message is in the channel.
     *
     * @param <T> the type of the messages
     */
    record Sent<T>() implements Offered<T> {
        private static final Sent<?> INSTANCE = new Sent<>();
    }

    /**
     * The channel is bounded and full; try again after the receiver has taken something.
     *
     * @param item the message, which was not taken
     * @param <T> the type of the messages
     */
    record Full<T>(T item) implements Offered<T> {}

    /**
     * The message can never be received: the receiver or the last sender is closed.
     *
     * @param item the message, which was not taken
     * @param <T> the type of the messages
     */
    record Disconnected<T>(T item) implements Offered<T> {}

    /**
     * Returns whether the message was taken.
     *
     * @return true if it is in the channel
     */
    default boolean isSent() {
        return this instanceof Sent;
    }

    /**
     * Returns the only {@link Sent}, so that nothing is allocated for a message that was taken.
     *
     * @param <T> the type of the messages
     * @return always the same one
     */
    @SuppressWarnings("unchecked")
    static <T> Offered<T> sent() {
        return (Offered<T>) Sent.INSTANCE;
    }
}
