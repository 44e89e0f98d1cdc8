package io.millrace.server;

/** What became of bytes that were to be sent. */
public enum SendResult {
    /** They were taken, and go out in order. */
    QUEUED,
    /** They were taken; but more waits now than the high-water mark says: stop until {@link ConnectionHandler#onWritable}. */
    ABOVE_HIGH_WATER,
    /** They were not taken: the connection or its output is closed or being closed, or is now because too much waits. */
    CLOSED,
    /** They were not taken: the server has no connection with this id. */
    UNKNOWN
}
