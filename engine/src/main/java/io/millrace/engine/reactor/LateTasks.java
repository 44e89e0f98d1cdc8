package io.millrace.engine.reactor;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * What came too late for a turn of a reactor and must not be lost: run at the end of its last turn. Taking the last one and ending are one step, so a task is either taken by the reactor, or its thread is told
 * that nothing runs there any more; a task between the two cannot be.
 */
final class LateTasks {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    /** Nothing runs on the reactor any more. Guarded by this, as the tasks are. */
    private boolean over;

    /** Any thread. False if it is over: then the caller must run it. */
    synchronized boolean offer(Runnable task) {
        if (over) {
            return false;
        }
        tasks.add(task);
        return true;
    }

    /** The reactor's thread. Null if there is none, and will be none. */
    synchronized @Nullable Runnable takeOrEnd() {
        Runnable next = tasks.poll();
        over = next == null;
        return next;
    }
}
