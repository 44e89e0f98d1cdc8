package io.millrace.backplane;

import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Runs the tasks of one topic one after the other, in order, on the manager's threads: at most {@value #SHARE} in a row,
 * because others need the thread, too. When the manager has ended, nothing runs any more.
 */
final class TopicExecutor implements Executor {
    private static final int SHARE = 64;
    private static final System.Logger LOGGER = System.getLogger("io.millrace.backplane");

    private final Executor manager;
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private boolean scheduled;

    TopicExecutor(Executor manager) {
        this.manager = manager;
    }

    @Override
    public void execute(Runnable task) {
        synchronized (tasks) {
            tasks.add(task);
            if (scheduled) {
                return;
            }
            scheduled = true;
        }
        handOver();
    }

    private void handOver() {
        try {
            manager.execute(this::drain);
        } catch (RejectedExecutionException e) {
            synchronized (tasks) {
                tasks.clear(); // its subscribers have ended with the manager
            }
        }
    }

    private void drain() {
        for (int i = 0; i < SHARE; i++) {
            Runnable task;
            synchronized (tasks) {
                task = tasks.poll();
                if (task == null) {
                    scheduled = false;
                    return;
                }
            }
            try {
                task.run();
            } catch (Throwable e) {
                LOGGER.log(Level.ERROR, "a task of a topic failed; the others go on", e);
            }
        }
        handOver();
    }
}
