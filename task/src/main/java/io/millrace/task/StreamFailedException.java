package io.millrace.task;

import java.io.Serial;

/** A child of an {@link IndexedStreamsUnordered} failed. Has the key of the child, and the failure as its cause. */
public final class StreamFailedException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** The key of the child. */
    private final long key;

    StreamFailedException(long key, Throwable cause) {
        super("stream " + (int) key + " failed: " + cause, cause);
        this.key = key;
    }

    /**
     * Returns the key of the child.
     *
     * @return the key that was returned when it was added
     */
    public long key() {
        return key;
    }
}
