package io.millrace.poll;

/**
 * One source that is ready.
 *
 * @param token the token it is registered under
 * @param readiness what it is ready for, within its interest
 */
public record Event(long token, Readiness readiness) {
    /**
     * Whether a read would not block.
     *
     * @return true if so
     */
    public boolean isReadable() {
        return readiness.isReadable();
    }

    /**
     * Whether a write would not block.
     *
     * @return true if so
     */
    public boolean isWritable() {
        return readiness.isWritable();
    }

    /**
     * Whether an error is pending.
     *
     * @return true if so
     */
    public boolean isError() {
        return readiness.isError();
    }

    /**
     * Whether the peer will send no more.
     *
     * @return true if the backend said so
     */
    public boolean isReadClosed() {
        return readiness.isReadClosed();
    }
}
