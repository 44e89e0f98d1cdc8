package io.millrace.engine;

/**
 * Called when an alarm fires, or when it will not fire any more; exactly once. A periodic alarm calls it with true each
 * time it fires.
 */
@FunctionalInterface
public interface AlarmCallback {
    /**
     * Called when the alarm fires or is cancelled. Must not block, because the thread serves others, too.
     *
     * @param fired true if the time has come, on a thread of the manager; false if it was cancelled, on the thread that
     *     cancelled it, or if the manager shut down first, on a thread of the manager
     */
    void onAlarm(boolean fired);
}
