package io.millrace.task;

import java.util.Objects;
import java.util.concurrent.CompletionException;

/**
 * Why there is no value.
 *
 * @param cause what the child threw, or failed with
 * @param <T> the values
 */
public record Failed<T>(Throwable cause) implements Outcome<T> {
    /** Requires a cause. */
    public Failed {
        Objects.requireNonNull(cause, "cause");
    }

    @Override
    public T orThrow() {
        throw new CompletionException(cause);
    }
}
