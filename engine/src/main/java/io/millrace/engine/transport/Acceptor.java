package io.millrace.engine.transport;

/** A listener from which a loop accepts. */
public interface Acceptor extends AutoCloseable {
    /** Accepts what has arrived, and closes the listener. On the loop only. Idempotent. */
    @Override
    void close();

    /** Lets nobody in any more, though the loop may be held up: its {@link #close} follows when it is not. Any thread. */
    void cutOff();
}
