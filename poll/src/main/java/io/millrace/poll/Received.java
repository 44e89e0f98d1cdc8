package io.millrace.poll;

/**
 * The result of receiving from a channel.
 *
 * @param <T> the type of the messages
 */
public sealed interface Received<T> {
    /**
     * A message was received.
     *
     * @param value the message
     * @param <T> the type of the messages
     */
    record Item<T>(T value) implements Received<T> {}

    /**
     * There is no message now; there may be one later.
     *
     * @param <T> the type of the messages
     */
    record Empty<T>() implements Received<T> {
        private static final Empty<?> INSTANCE = new Empty<>();
    }

    /**
     * There will be no more messages: the last sender is closed and everything was received.
     *
     * @param <T> the type of the messages
     */
    record Disconnected<T>() implements Received<T> {
        private static final Disconnected<?> INSTANCE = new Disconnected<>();
    }

    /**
     * Returns the only {@link Empty}.
     *
     * @param <T> the type of the messages
     * @return always the same one
     */
    @SuppressWarnings("unchecked")
    static <T> Received<T> empty() {
        return (Received<T>) Empty.INSTANCE;
    }

    /**
     * Returns the only {@link Disconnected}.
     *
     * @param <T> the type of the messages
     * @return always the same one
     */
    @SuppressWarnings("unchecked")
    static <T> Received<T> disconnected() {
        return (Received<T>) Disconnected.INSTANCE;
    }
}
