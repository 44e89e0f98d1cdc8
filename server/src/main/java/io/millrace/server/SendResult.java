package io.millrace.server;

/** What happened to bytes that were passed to {@code send}. */
public enum SendResult {
    /** The bytes were taken and go out in order. */
    QUEUED,
    /**
     * The bytes were taken, but more than the high-water mark is waiting now: stop sending until {@link
     * ConnectionHandler#onWritable}.
     */
    ABOVE_HIGH_WATER,
    /**
     * The bytes were not taken: the connection or its output is closed or being closed, or this call closed it because
     * too much is waiting.
     */
    CLOSED,
    /** The bytes were not taken: there is no connection with this id. */
    UNKNOWN
}
