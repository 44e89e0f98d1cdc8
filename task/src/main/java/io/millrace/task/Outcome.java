package io.millrace.task;

/**
 * What a set yields: a value or a failure.
 *
 * {@snippet :
 * for (var outcome : set) {
 *     switch (outcome) {
 *         case Item(var page) -> index(page);
 *         case Failed(var cause, var child) -> log(child, cause);
 *     }
 * }
 * }
 *
 * @param <T> the type of the values
 */
public sealed interface Outcome<T> extends Step<T> permits Item, Failed {
    /**
     * Returns the value, or throws the failure.
     *
     * @return the value
     * @throws java.util.concurrent.CompletionException with the failure as its cause
     */
    T orThrow();
}
