package io.millrace.server.connection;

/** The handler of a connection that has a thread of its own. The graceful end lets that thread finish until its deadline. */
public interface Conversing {
    /** Called on the loop: the end has begun, and waits for the thread. */
    void onShutdown();

    /** The deadline has passed: interrupts the thread. Any thread. */
    void cutShort();

    /** Returns whether the calling thread is the one. */
    boolean isCurrentThread();

    /** Returns its connection. */
    StreamConnection connection();
}
