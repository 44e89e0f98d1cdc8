package io.millrace.engine.reactor;

import io.millrace.engine.vthread.LoopThreads;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * The virtual threads on the JDK's scheduler that a reactor resumes: all of a turn together, at its end.
 *
 * <p>If the reactor unparked each of them by itself, each might wake one of the scheduler's threads, which soon sleeps
 * again: on a busy core that is two switches of threads for a message. So a virtual thread unparks them. It runs on one
 * of these threads already, and where it unparks others, they queue up behind it; if there are more cores, others of the
 * scheduler's threads are woken to help.
 *
 * <p><b>No wake-up is lost.</b> Each is taken out once: by that thread, by the reactor, or, while something blocks the
 * reactor, by the watchdog. The reactor may be blocked by a callback that waits for a lock which one of them holds.
 */
final class WakeUps implements Runnable {
    private final ConcurrentLinkedQueue<Thread> threads = new ConcurrentLinkedQueue<>();

    /** Used on the reactor's thread: whether {@link #run} is going to be called. */
    private boolean scheduled;

    /** Adds a thread. If it returns true, {@link #run} must be called at the end of the turn. On the reactor's thread. */
    boolean add(Thread thread) {
        threads.add(thread);
        boolean first = !scheduled;
        scheduled = true;
        return first;
    }

    /** Has all of them unparked. On the reactor's thread. */
    @Override
    public void run() {
        scheduled = false;
        Thread first = threads.poll();
        if (first == null || threads.isEmpty()) {
            LockSupport.unpark(first);
            return;
        }
        try {
            LoopThreads.elsewhere("millrace-wake-ups", () -> unparkAll(first)).start();
        } catch (Throwable e) {
            unparkAll(first); // there may be no memory for another thread
            throw e;
        }
    }

    private void unparkAll(Thread first) {
        LockSupport.unpark(first);
        unparkAll();
    }

    /** Unparks all of them. Any thread. */
    void unparkAll() {
        for (Thread next = threads.poll(); next != null; next = threads.poll()) {
            LockSupport.unpark(next);
        }
    }

    @Override
    public String toString() {
        return "virtual threads that are resumed";
    }
}
