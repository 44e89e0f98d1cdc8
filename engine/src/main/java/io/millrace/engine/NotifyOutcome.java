package io.millrace.engine;

/** The result of a wait with a timeout: see {@link ReadinessDescriptor#notifyWhenReadableOrTimeout}. */
public enum NotifyOutcome {
    /** The descriptor became ready, or was forced to be. */
    BECAME_READY,
    /** The time was over first. */
    TIMED_OUT,
    /** The descriptor was closed or released first. */
    CLOSED
}
