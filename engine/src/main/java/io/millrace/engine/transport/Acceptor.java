package io.millrace.engine.transport;

/** A listener from which a loop accepts. */
public interface Acceptor extends AutoCloseable {
    /**
     * Accepts some of the connections that are waiting, before {@link #close}. Called in several turns, so that no
     * single turn accepts too many. On the loop only.
     *
     * @return whether more may be waiting; false at some point, even if peers never stop connecting
     */
    default boolean drain() {
        return false;
    }

    /** Accepts the connections that are waiting, and closes the listener. On the loop only. Idempotent. */
    @Override
    void close();

    /**
     * Closes the listener and leaves the connections that are waiting to another process, which has it, too. On the loop
     * only. Idempotent.
     */
    void release();

    /** Stops accepting, even if the loop is blocked; {@link #close} follows when it no longer is. Any thread. */
    void cutOff();
}
