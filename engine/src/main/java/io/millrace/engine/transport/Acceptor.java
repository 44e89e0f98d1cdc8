package io.millrace.engine.transport;

/** A listener from which a loop accepts. */
public interface Acceptor extends AutoCloseable {
    /**
     * Accepts some of what has arrived, before {@link #close}: in one turn after the other, so that no turn accepts a storm. On the loop only.
     *
     * @return whether more may have arrived; false at some time, even if peers never cease to come
     */
    default boolean drain() {
        return false;
    }

    /** Accepts what has arrived, and closes the listener. On the loop only. Idempotent. */
    @Override
    void close();

    /** Lets nobody in any more, though the loop may be held up: its {@link #close} follows when it is not. Any thread. */
    void cutOff();
}
