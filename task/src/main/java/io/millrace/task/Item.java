package io.millrace.task;

/**
 * A value.
 *
 * @param value the value; null only where the producer has no other, as a stage of {@code Void}
 * @param <T> the values
 */
public record Item<T>(T value) implements Outcome<T> {
    @Override
    public T orThrow() {
        return value;
    }
}
