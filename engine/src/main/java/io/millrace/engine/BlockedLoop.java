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

    /** What is between a loop and a handler, by the names of packages: on the class path there are no modules. */
    private static final List<String> OURS = List.of("engine.", "server.", "net.", "poll.", "sys.", "task.");

    /**
     * Returns whether a frame is of the program's own code: neither of the JDK nor of this library.
     *
     * @param frame a frame of a stack
     * @return true if it is the program's
     */
    public static boolean isOfTheProgram(StackTraceElement frame) {
        String module = frame.getModuleName();
        boolean jdk = module != null && (module.startsWith("java.") || module.startsWith("jdk."));
        String name = frame.getClassName();
        boolean ours = name.startsWith("io.millrace.") && OURS.stream().anyMatch(part -> name.startsWith(part, 12));
        return !jdk && !ours;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(reactor + " has been held for " + lasts.toMillis() + " ms by " + handler
                + "; move what blocks to a ComputePool or a virtual thread");
        stack.forEach(frame -> text.append("\n\tat ").append(frame));
        return text.toString();
    }
}
