package io.millrace.engine.reactor;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Tasks that arrive too late for a turn and must not be lost. They run at the end of the reactor's last turn. Finding
 * no more tasks and ending are one step, so a task is either taken by the reactor, or the thread that offers it is told
 * that nothing runs there any more.
 */
final class LateTasks {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    /** Whether nothing runs on the reactor any more. Guarded by this object, as are the tasks. */
    private boolean over;

    /** Offers a task. If this returns false, the caller must run the task itself. Any thread. */
    synchronized boolean offer(Runnable task) {
        if (over) {
            return false;
        }
        tasks.add(task);
        return true;
    }

    /** Returns the next task; if there is none, ends and returns null. Called on the reactor's thread. */
    synchronized @Nullable Runnable takeOrEnd() {
        Runnable next = tasks.poll();
        over = next == null;
        return next;
    }
}
