package io.millrace.task;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionException;

/**
 * Everything that a set yielded.
 *
 * @param items the values, in the order in which they came
 * @param failures the causes, in the order in which they came
 * @param <T> the type of the values
 */
public record Collected<T>(List<T> items, List<Throwable> failures) {
    /** Copies the lists. */
    public Collected {
        // Not List.copyOf, because a stage of Void has null as its value.
        items = Collections.unmodifiableList(new ArrayList<>(items));
        failures = Collections.unmodifiableList(new ArrayList<>(failures));
    }

    /**
     * Returns the values, if nothing failed.
     *
     * @return the values, in the order in which they came
     * @throws CompletionException with the first failure as its cause, and the others suppressed
     */
    public List<T> orThrow() {
        if (failures.isEmpty()) {
            return items;
        }
        CompletionException thrown = new CompletionException(failures.getFirst());
        failures.stream().skip(1).forEach(thrown::addSuppressed);
        throw thrown;
    }
}
