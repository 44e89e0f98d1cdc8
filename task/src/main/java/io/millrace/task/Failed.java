package io.millrace.task;

import java.util.Objects;
import java.util.concurrent.CompletionException;

/**
 * Why there is no value, and whose it would have been.
 *
 * {@snippet :
 * case Failed(var cause, var origin) -> log(origin + " failed", cause); // or Failed(var cause, _)
 * }
 *
 * @param cause what the child threw, or failed with
 * @param origin which child of the set; a child that fails need not say it, the set does
 * @param <T> the values
 */
public record Failed<T>(Throwable cause, Origin origin) implements Outcome<T> {
    /** Requires a cause and an origin. */
    public Failed {
        Objects.requireNonNull(cause, "cause");
        Objects.requireNonNull(origin, "origin");
    }

    /**
     * A failure that no set has yielded.
     *
     * @param cause what the child failed with
     */
    public Failed(Throwable cause) {
        this(cause, Origin.UNKNOWN);
    }

    @Override
    public T orThrow() {
        throw new CompletionException(cause);
    }
}
