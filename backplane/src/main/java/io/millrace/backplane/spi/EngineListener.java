package io.millrace.backplane.spi;

/** Learns whether an engine can be reached. One call at a time; neither blocks. */
public interface EngineListener {
    /** Called when it is connected, at first and after each time it was away. */
    void onConnected();

    /**
     * Called once when it cannot be reached, at first or after it was connected. Tries that fail after this are not
     * told.
     *
     * @param reason why
     */
    void onAway(Throwable reason);
}
