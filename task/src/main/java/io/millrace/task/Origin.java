package io.millrace.task;

import java.util.Objects;

/**
 * Which child of a set failed.
 *
 * @param key as returned when the child was added; −1 if no set yielded the failure
 * @param child the child, whose text says more if it has a {@code toString} of its own
 */
public record Origin(long key, Object child) {
    /** Of a failure that has not come through a set. */
    static final Origin UNKNOWN = new Origin(-1, "unknown");

    /** Requires a child. */
    public Origin {
        Objects.requireNonNull(child, "child");
    }

    /**
     * The child's index: small, and reused after the child's end, unlike the key.
     *
     * @return from 0, or −1 if no set yielded the failure
     */
    public int index() {
        return (int) key;
    }

    boolean isKnown() {
        return key != UNKNOWN.key; // which no child has: an index is not negative
    }

    @Override
    public String toString() {
        return isKnown() ? "child " + index() + ", " + Names.of(child) : "no set";
    }
}
