package io.millrace.task;

import java.util.Optional;

/**
 * A value and the child that it came from; or, once and without a value, the end of that child.
 *
 * @param key the key that was returned when the child was added
 * @param item the value; empty if the child has ended
 * @param <T> the type of the values
 */
public record Indexed<T>(long key, Optional<T> item) {
    /**
     * Returns the child's index, which is small and, unlike the key, reused after the child's end.
     *
     * @return 0 or more
     */
    public int index() {
        return (int) key;
    }
}
