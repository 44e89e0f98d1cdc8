package io.millrace.engine;

/** The result of {@link EventManager#cancel}. */
public enum CancelResult {
    /** It had not started and never will. An alarm's callback has run with false, on the calling thread. */
    CANCELLED,
    /** It is running now. A periodic alarm does not run again after this. */
    RUNNING,
    /** It is over: it ran, or was cancelled before. */
    DONE
}
