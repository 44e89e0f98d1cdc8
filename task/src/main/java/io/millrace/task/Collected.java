package io.millrace.task;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionException;

/**
 * Everything that a set had to yield.
 *
 * @param items the values, in the order they came
 * @param failures the causes, in the order they came
 * @param <T> the values
 */
public record Collected<T>(List<T> items, List<Throwable> failures) {
    /** Keeps copies. */
    public Collected {
        // Not List.copyOf: a stage of Void has null as value.
        items = Collections.unmodifiableList(new ArrayList<>(items));
        failures = Collections.unmodifiableList(new ArrayList<>(failures));
    }

    /**
     * The values, if nothing failed.
     *
     * @return the values, in the order they came
     * @throws CompletionException around the first failure, with the others as suppressed
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
