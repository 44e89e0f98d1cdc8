package io.millrace.poll;

/**
 * The readiness of one source, as returned by a poll.
 *
 * @param token the token of the source
 * @param readiness what it is ready for, within its interest
 */
public record Event(long token, Readiness readiness) {
    /**
     * Returns whether a read would not block.
     *
     * @return true if so
     */
    public boolean isReadable() {
        return readiness.isReadable();
    }

    /**
     * Returns whether a write would not block.
     *
     * @return true if so
     */
    public boolean isWritable() {
        return readiness.isWritable();
    }

    /**
     * Returns whether an error is pending.
     *
     * @return true if so
     */
    public boolean isError() {
        return readiness.isError();
    }

    /**
     * Returns whether the peer will send no more.
     *
     * @return true if the backend reported it
     */
    public boolean isReadClosed() {
        return readiness.isReadClosed();
    }
}
