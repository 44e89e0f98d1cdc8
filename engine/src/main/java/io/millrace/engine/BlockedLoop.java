package io.millrace.engine;

import java.time.Duration;
import java.util.List;

/**
 * A reactor that is held by one item for too long: what the watchdog reports, once for each such item, while it lasts.
 *
 * @param reactor which
 * @param handler what is running: the handler and its source, the alarm or the task; or a step of the engine's own
 * @param lasts how long it has held the thread, without the time for which the thread was not let run and for which the process stood still
 * @param stack where the reactor's thread is
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
