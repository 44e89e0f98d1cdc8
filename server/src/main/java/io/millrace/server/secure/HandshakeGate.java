package io.millrace.server.secure;

import io.millrace.engine.internal.FailureLog;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Where handshakes are computed: on virtual threads, a few at a time, so that a storm of them leaves the processors to
 * the connections that stand. Some more wait; whatever is beyond that is refused, because it would only time out. Any
 * thread.
 */
final class HandshakeGate {
    private final int mostRunning;
    private final int mostWaiting;
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    private int running;

    HandshakeGate(int mostRunning, int mostWaiting) {
        this.mostRunning = mostRunning;
        this.mostWaiting = mostWaiting;
    }

    /** Runs a task soon. Returns false if too many are waiting. */
    synchronized boolean submit(Runnable task) {
        if (running < mostRunning) {
            running++;
            Thread.ofVirtual().name("millrace-tls").start(() -> runAll(task));
            return true;
        }
        if (waiting.size() < mostWaiting) {
            waiting.add(task);
            return true;
        }
        return false;
    }

    private void runAll(Runnable first) {
        for (Runnable task = first; task != null; task = next()) {
            try {
                task.run();
            } catch (Throwable e) {
                FailureLog.report("a TLS handshake", e);
            }
        }
    }

    private synchronized @Nullable Runnable next() {
        Runnable task = waiting.poll();
        if (task == null) {
            running--;
        }
        return task;
    }

    @Override
    public synchronized String toString() {
        return running + " are computed and " + waiting.size() + " wait";
    }
}
