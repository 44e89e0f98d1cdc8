package io.millrace.engine;

/** How a wait with a timeout ended: see {@link ReadinessDescriptor#notifyWhenReadableOrTimeout}. Exactly one of these, once. */
public enum NotifyOutcome {
    /** It became ready, or was forced. */
    BECAME_READY,
    /** The time was over first. */
    TIMED_OUT,
    /** The descriptor was closed or released first. */
    CLOSED
}
