package io.millrace.engine.reactor;

/**
 * The engine's object behind a source: the reactor calls it when the source is ready, and ends it in its last turn. It is stored with the source's registration, so the poll is the reactor's
 * list of its sinks. A sink is code of the engine; what users write is a handler.
 */
public interface EventSink {
    /**
     * Called when the source is ready, on the reactor's thread, while it takes the turn's snapshot. Adds what has to run to the run queue and runs no user code.
     *
     * @param bits the readiness, as {@link io.millrace.sys.Bits}
     */
    void onReady(int bits);

    /** Called in the reactor's last turn, on its thread, at least once: completes pending callbacks and closes what the engine owns (end-2). */
    void onReactorEnd();

    /** Returns whether this sink belongs to {@code reactor}. Used for sinks that a manager keeps outside the polls of its reactors. */
    default boolean isOf(Reactor reactor) {
        return true;
    }

    /**
     * Disconnects the peer with shutdown(2). Called at the deadline of a shutdown if a handler that does not return keeps the reactor from ending; {@link #onReactorEnd} follows when the
     * handler returns. Any thread.
     */
    default void cutOff() {}
}
