package io.millrace.task;

import java.util.Objects;

/**
 * The child of a set that failed.
 *
 * @param key the key that was returned when the child was added; −1 if no set yielded the failure
 * @param child the child, whose text is most useful if it overrides {@code toString}
 */
public record Origin(long key, Object child) {
    /** The origin of a failure that was not yielded by a set. */
    static final Origin UNKNOWN = new Origin(-1, "unknown");

    /** Requires a child. */
    public Origin {
        Objects.requireNonNull(child, "child");
    }

    /**
     * Returns the child's index, which is small and, unlike the key, reused after the child's end.
     *
     * @return 0 or more, or −1 if no set yielded the failure
     */
    public int index() {
        return (int) key;
    }

    boolean isKnown() {
        return key != UNKNOWN.key; // no child has this key, because an index is not negative
    }

    @Override
    public String toString() {
        return isKnown() ? "child " + index() + ", " + Names.of(child) : "no set";
    }
}
