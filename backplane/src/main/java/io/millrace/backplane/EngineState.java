package io.millrace.backplane;

/** Whether the engine of a backplane can be reached. */
public enum EngineState {
    /** It answers. */
    CONNECTED,
    /** It cannot be reached; connecting is tried again and again. */
    AWAY
}
