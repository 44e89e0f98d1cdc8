package io.millrace.engine.reactor;

/** What a reactor carries: the owner of a source that is registered with its poll, which is the reactor's list of them. */
public interface EventSink {
    /**
     * The source is ready. On the reactor's thread, while the turn's snapshot is made: puts what is to be run into the run queue, and runs no user code.
     *
     * @param bits as {@link io.millrace.sys.Bits}
     */
    void onReady(int bits);

    /** The reactor is in its last turn, and this ends with it: whoever waits is told, and what the engine owns is closed (end-2). On the reactor's thread, once or more. */
    void onReactorEnd();

    /** Whether it belongs to a reactor. Asked of those that a manager lists beside the polls of its reactors. */
    default boolean isOf(Reactor reactor) {
        return true;
    }

    /**
     * The reactor should have ended, but is held up by a handler that does not return, and keeps the descriptor until it does. So the peer is cut off by shutdown(2); the rest follows in
     * {@link #onReactorEnd}. Any thread.
     */
    default void cutOff() {}
}
