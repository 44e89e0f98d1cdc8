package io.millrace.engine.transport;

/** What a bridge to another library has behind a source on a reactor: see {@link ReactorServerLoop#watch}. */
public interface WatchSink {
    /**
     * Called when the source is ready, as an item of the reactor's run queue. If it does not become ready in between, it
     * may be called in vain.
     *
     * @param bits the readiness, as {@link io.millrace.sys.Bits}
     */
    void onReady(int bits);

    /** Called in the reactor's last turn, on its thread: closes what belongs to the source. */
    void onLoopEnd();

    /** Disconnects the peer, because a handler keeps the reactor from ending. Any thread. */
    default void cutOff() {}
}
