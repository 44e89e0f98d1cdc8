package io.millrace.server.secure;

import io.millrace.engine.internal.FailureLog;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Where handshakes are computed: on virtual threads, a few at a time, so that a storm of them leaves the processors to
 * the connections that stand. Some more wait; whatever is beyond that is refused, because it would only time out. Any
 * thread.
 */
final class HandshakeGate {
    private final int mostRunning;
    private static final Object HANDSHAKE = "a TLS handshake";

    private final int mostWaiting;
    private final Consumer<Runnable> threads;
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    private int running;

    HandshakeGate(int mostRunning, int mostWaiting) {
        this(
                mostRunning,
                mostWaiting,
                what -> Thread.ofVirtual().name("millrace-tls").start(what));
    }

    /** @param threads starts a thread that runs what it is given */
    HandshakeGate(int mostRunning, int mostWaiting, Consumer<Runnable> threads) {
        this.mostRunning = mostRunning;
        this.mostWaiting = mostWaiting;
        this.threads = threads;
    }

    /** Runs a task soon. Returns false if too many are waiting. */
    synchronized boolean submit(Runnable task) {
        if (running < mostRunning) {
            // Counted once it has started, for which there may be no memory; it cannot end before this returns.
            threads.accept(() -> runAll(task));
            running++;
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
                FailureLog.report(HANDSHAKE, e);
            }
        }
    }

    /** Takes the next task, or gives the place up: in one step, so that no task is left to wait for nobody. */
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
