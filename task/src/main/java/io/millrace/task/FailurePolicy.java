package io.millrace.task;

/** What a child's failure means for the other children of a {@link FuturesUnordered}. */
public enum FailurePolicy {
    /** Nothing: the failure is one outcome among others. */
    COLLECT_ALL,

    /**
     * The failure is yielded, and all other children are cancelled and removed, including those that wait for room: the
     * set is at its end.
     */
    FIRST_FAILURE
}
