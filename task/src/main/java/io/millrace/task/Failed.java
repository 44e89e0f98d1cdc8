package io.millrace.task;

import java.util.Objects;
import java.util.concurrent.CompletionException;

/**
 * A failure of a child, in place of a value.
 *
 * {@snippet :
 * case Failed(var cause, var origin) -> log(origin + " failed", cause); // or Failed(var cause, _)
 * }
 *
 * @param cause what the child threw or failed with
 * @param origin which child of the set failed; filled in by the set
 * @param <T> the type of the values
 */
public record Failed<T>(Throwable cause, Origin origin) implements Outcome<T> {
    /** Requires a cause and an origin. */
    public Failed {
        Objects.requireNonNull(cause, "cause");
        Objects.requireNonNull(origin, "origin");
    }

    /**
     * Creates a failure that no set has yielded.
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
