package io.millrace.engine;

/** What an alarm runs, exactly once: it fired, or it will not. A periodic alarm's runs with true each time it fires. */
@FunctionalInterface
public interface AlarmCallback {
    /**
     * The alarm's end. Must not block: it runs on the thread that serves others too.
     *
     * @param fired true if the time has come, on a thread of the manager; false if it was cancelled, on the thread that cancelled it, or if
     *     the manager shut down first, on a thread of the manager
     */
    void alarm(boolean fired);
}
