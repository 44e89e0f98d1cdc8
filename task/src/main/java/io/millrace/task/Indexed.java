package io.millrace.task;

import java.util.Optional;

/**
 * A value and which child it came from; or, once and without a value, that the child has ended.
 *
 * @param key as returned when the child was added
 * @param item the value; empty if the child has ended
 * @param <T> the values
 */
public record Indexed<T>(long key, Optional<T> item) {
    /**
     * The child's index: small, and reused after the child's end, unlike the key.
     *
     * @return from 0
     */
    public int index() {
        return (int) key;
    }
}
