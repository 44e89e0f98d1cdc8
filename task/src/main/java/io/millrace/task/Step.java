package io.millrace.task;

/**
 * The result of one poll: an {@link Outcome} ({@link Item} or {@link Failed}), {@link Pending}, or {@link Ended}.
 *
 * @param <T> the type of the values
 */
public sealed interface Step<T> permits Outcome, Step.Pending, Step.Ended {
    /**
     * Nothing yet: the waker will be called, or has been.
     *
     * @param <T> the type of the values
     */
    record Pending<T>() implements Step<T> {
        private static final Pending<?> INSTANCE = new Pending<>();
    }

    /**
     * A stream is over, or a set is empty.
     *
     * @param <T> the type of the values
     */
    record Ended<T>() implements Step<T> {
        private static final Ended<?> INSTANCE = new Ended<>();
    }

    /**
     * Returns a step with a value.
     *
     * @param value the value; null only if the producer has no other, like a stage of {@code Void}
     * @param <T> the type of the values
     * @return the step
     */
    static <T> Item<T> item(T value) {
        return new Item<>(value);
    }

    /**
     * Returns a step with a failure.
     *
     * @param cause why it failed
     * @param <T> the type of the values
     * @return the step
     */
    static <T> Failed<T> failed(Throwable cause) {
        return new Failed<>(cause);
    }

    /**
     * Returns the step that means nothing yet.
     *
     * @param <T> the type of the values
     * @return always the same object
     */
    @SuppressWarnings("unchecked") // holds no value
    static <T> Step<T> pending() {
        return (Step<T>) Pending.INSTANCE;
    }

    /**
     * Returns the step that means the end.
     *
     * @param <T> the type of the values
     * @return always the same object
     */
    @SuppressWarnings("unchecked") // holds no value
    static <T> Step<T> ended() {
        return (Step<T>) Ended.INSTANCE;
    }
}
