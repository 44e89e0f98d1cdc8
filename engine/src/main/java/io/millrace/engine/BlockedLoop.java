package io.millrace.engine;

import java.time.Duration;
import java.util.List;

/**
 * A reactor whose thread is held by one item for too long. The watchdog reports it once per item, while it lasts.
 *
 * @param reactor the name of the reactor
 * @param handler what is running: the handler and its source, the alarm, the task, or a step of the engine itself
 * @param lasts how long it has held the thread, not counting time in which the thread was not scheduled or the process
 *     was paused
 * @param stack the stack trace of the reactor's thread
 */
public record BlockedLoop(String reactor, String handler, Duration lasts, List<StackTraceElement> stack) {
    /** Copies the stack. */
    public BlockedLoop {
        stack = List.copyOf(stack);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(reactor + " has been held for " + lasts.toMillis() + " ms by " + handler
                + "; move what blocks to a ComputePool or a virtual thread");
        stack.forEach(frame -> text.append("\n\tat ").append(frame));
        return text.toString();
    }
}
