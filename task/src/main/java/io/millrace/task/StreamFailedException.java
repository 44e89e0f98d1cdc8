package io.millrace.task;

import java.io.Serial;

/** A child of an {@link IndexedStreamsUnordered} failed: tells which, and has the failure as its cause. */
public final class StreamFailedException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1;

    /** Which child. */
    private final long key;

    StreamFailedException(long key, Throwable cause) {
        super("stream " + (int) key + " failed: " + cause, cause);
        this.key = key;
    }

    /**
     * Which child.
     *
     * @return as returned when it was added
     */
    public long key() {
        return key;
    }
}
