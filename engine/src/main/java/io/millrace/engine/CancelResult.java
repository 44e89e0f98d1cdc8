package io.millrace.engine;

/** What {@link EventManager#cancel} found. */
public enum CancelResult {
    /** It had not begun, and now never will. An alarm's callback has run with false, on this thread. */
    CANCELLED,
    /** It is running now. A periodic alarm does not run again after this. */
    RUNNING,
    /** It is over: it ran, or was cancelled before. */
    DONE
}
