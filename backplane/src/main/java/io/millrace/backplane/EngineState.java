package io.millrace.backplane;

/** Whether the engine of a backplane can be reached. */
public enum EngineState {
    /** It has not answered yet, nor failed to: what is published waits. It is only in this state at its beginning. */
    CONNECTING,
    /** It answers. */
    CONNECTED,
    /** It cannot be reached; connecting is tried again and again. */
    AWAY
}
