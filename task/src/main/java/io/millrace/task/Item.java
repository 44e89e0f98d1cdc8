package io.millrace.task;

/**
 * A value.
 *
 * @param value the value; null only if the producer has no other, like a stage of {@code Void}
 * @param <T> the type of the values
 */
public record Item<T>(T value) implements Outcome<T> {
    @Override
    public T orThrow() {
        return value;
    }
}
