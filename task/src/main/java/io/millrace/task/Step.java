package io.millrace.task;

/**
 * What one poll found: an {@link Outcome} ({@link Item} or {@link Failed}), {@link Pending}, or {@link Ended}.
 *
 * @param <T> the values
 */
public sealed interface Step<T> permits Outcome, Step.Pending, Step.Ended {
    /**
     * Nothing yet: the waker will be called, or has been.
     *
     * @param <T> the values
     */
    record Pending<T>() implements Step<T> {
        private static final Pending<?> INSTANCE = new Pending<>();
    }

    /**
     * A stream is over, or a set is empty.
     *
     * @param <T> the values
     */
    record Ended<T>() implements Step<T> {
        private static final Ended<?> INSTANCE = new Ended<>();
    }

    /**
     * Here is a value.
     *
     * @param value the value; null only where the producer has no other, as a stage of {@code Void}
     * @param <T> the values
     * @return the step
     */
    static <T> Item<T> item(T value) {
        return new Item<>(value);
    }

    /**
     * It did not work out.
     *
     * @param cause why
     * @param <T> the values
     * @return the step
     */
    static <T> Failed<T> failed(Throwable cause) {
        return new Failed<>(cause);
    }

    /**
     * Nothing yet.
     *
     * @param <T> the values
     * @return always the same object
     */
    @SuppressWarnings("unchecked") // holds no value
    static <T> Step<T> pending() {
        return (Step<T>) Pending.INSTANCE;
    }

    /**
     * There will be no more.
     *
     * @param <T> the values
     * @return always the same object
     */
    @SuppressWarnings("unchecked") // holds no value
    static <T> Step<T> ended() {
        return (Step<T>) Ended.INSTANCE;
    }
}
