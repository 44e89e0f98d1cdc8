package io.millrace.engine.reactor;

import io.millrace.engine.vthread.CarriedThread;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The virtual threads of a reactor that other threads have resumed and that wait for their turn. It is also the item of
 * the run queue that runs the first of them, once for each.
 *
 * <p>They are not in the run queue themselves, so that they can be taken out while the reactor is blocked.
 */
final class ResumedThreads implements Runnable {
    private final ConcurrentLinkedQueue<CarriedThread> threads = new ConcurrentLinkedQueue<>();

    /** Adds a thread. {@link #run} or {@link #runOneElsewhere} must be called afterwards. Any thread. */
    void add(CarriedThread thread) {
        threads.add(thread);
    }

    /** Runs the first thread, unless it was taken out. On the reactor's thread. */
    @Override
    public void run() {
        CarriedThread first = threads.poll();
        if (first != null) {
            first.run();
        }
    }

    /** Takes out the first thread and runs it elsewhere. Returns false if there is none. Any thread. */
    boolean runOneElsewhere() {
        CarriedThread first = threads.poll();
        if (first == null) {
            return false;
        }
        first.runElsewhere();
        return true;
    }

    @Override
    public String toString() {
        return "a virtual thread that was resumed";
    }
}
