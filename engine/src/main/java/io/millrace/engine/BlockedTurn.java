package io.millrace.engine;

import java.time.Duration;
import java.util.List;

/**
 * A turn of a reactor that takes too long: what the watchdog reports, once for each such turn, while it lasts.
 *
 * @param reactor whose turn it is
 * @param handler what is running: the handler and its source, the alarm or the task
 * @param lasts since the turn began
 * @param stack where the reactor's thread is
 */
public record BlockedTurn(String reactor, String handler, Duration lasts, List<StackTraceElement> stack) {
    /** Copies the stack. */
    public BlockedTurn {
        stack = List.copyOf(stack);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("the turn of " + reactor + " has lasted " + lasts.toMillis()
                + " ms; it is in " + handler + "; move what blocks to a ComputePool or a virtual thread");
        stack.forEach(frame -> text.append("\n\tat ").append(frame));
        return text.toString();
    }
}
