package io.millrace.engine;

import io.millrace.engine.vthread.LoopThreads;

/**
 * Where virtual threads run that serve connections and handlers: those of a {@code DirectServer}, and with {@link
 * Dispatch#VIRTUAL}.
 *
 * <p>On a loop, a virtual thread continues on the thread that has seen its bytes, and wakes no other. A JVM allows this
 * only if it was started with {@code --add-opens java.base/java.lang=io.millrace.engine}, or {@code ALL-UNNAMED} on the
 * class path; otherwise the same code runs on the JDK's scheduler. The system property {@code millrace.loopThreads=false}
 * keeps them off the loops, too.
 *
 * @param onLoops whether they run on the threads of loops
 * @param reason why, or why not and what to do about it
 */
public record VirtualThreadReport(boolean onLoops, String reason) {
    /**
     * Returns what this JVM allows.
     *
     * @return the same for as long as the JVM runs
     */
    public static VirtualThreadReport probe() {
        LoopThreads.Probe probe = LoopThreads.probe();
        return new VirtualThreadReport(probe.isAvailable(), probe.reason());
    }

    @Override
    public String toString() {
        return "virtual threads: " + (onLoops ? "on the loops" : "on the JDK's scheduler") + " (" + reason + ")";
    }
}
