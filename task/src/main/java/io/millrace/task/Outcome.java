package io.millrace.task;

/**
 * What a set yields: a value, or why there is none.
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
 * @param <T> the values
 */
public sealed interface Outcome<T> extends Step<T> permits Item, Failed {
    /**
     * The value, or the failure thrown.
     *
     * @return the value
     * @throws java.util.concurrent.CompletionException around the cause, if it failed
     */
    T orThrow();
}
