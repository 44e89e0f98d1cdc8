package io.millrace.poll;

/**
 * What a receiver found.
 *
 * @param <T> the messages
 */
public sealed interface Received<T> {
    /**
     * A message.
     *
     * @param value the message
     * @param <T> the messages
     */
    record Item<T>(T value) implements Received<T> {}

    /**
     * Nothing now; there may be something later.
     *
     * @param <T> the messages
     */
    record Empty<T>() implements Received<T> {
        private static final Empty<?> INSTANCE = new Empty<>();
    }

    /**
     * Nothing now or ever: the last sender is closed and everything was received.
     *
     * @param <T> the messages
     */
    record Disconnected<T>() implements Received<T> {
        private static final Disconnected<?> INSTANCE = new Disconnected<>();
    }

    /**
     * The one {@link Empty}.
     *
     * @param <T> the messages
     * @return the same one every time
     */
    @SuppressWarnings("unchecked")
    static <T> Received<T> empty() {
        return (Received<T>) Empty.INSTANCE;
    }

    /**
     * The one {@link Disconnected}.
     *
     * @param <T> the messages
     * @return the same one every time
     */
    @SuppressWarnings("unchecked")
    static <T> Received<T> disconnected() {
        return (Received<T>) Disconnected.INSTANCE;
    }
}
