package io.millrace.server.connection;

import io.millrace.engine.internal.FailureLog;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks one after the other, in order, on an executor that has several threads. The counter holds how many tasks
 * are queued or running: the thread that raises it to 1 submits a drain, which continues until it is 0, or submits
 * another drain after {@value #SHARE} tasks, because others need the threads, too. So one thread runs at a time, sees
 * what the previous one did, and leaves nothing behind.
 */
public final class SerialExecutor implements Executor {
    private static final int SHARE = 16;

    private final Executor threads;
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger();
    /** The thread that runs a task now. Plain: a thread finds itself here only if it has stored itself and not cleared it since. */
    private @Nullable Thread running;

    public SerialExecutor(Executor threads) {
        this.threads = threads;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (count.getAndIncrement() == 0 && !handOver()) {
            drain();
        }
    }

    /**
     * Submits a drain. Returns false if the threads have ended, or no more can be started: then the rest runs on the
     * calling thread, rather than never.
     */
    private boolean handOver() {
        try {
            threads.execute(this::drain);
            return true;
        } catch (RejectedExecutionException | OutOfMemoryError e) {
            return false;
        }
    }

    /** Returns whether the calling thread is running one of the tasks. */
    @SuppressWarnings("ReferenceEquality") // identity is intended
    boolean isInside() {
        return running == Thread.currentThread();
    }

    /**
     * Runs tasks until the queue is empty. An interrupt left by one task must not reach the next, which may belong to
     * another connection, but the thread's owner must learn of it.
     */
    private void drain() {
        boolean interrupted = false;
        int ran = 0;
        do {
            Runnable task = tasks.poll();
            if (task != null) {
                running = Thread.currentThread();
                try {
                    task.run();
                } catch (Throwable e) {
                    FailureLog.report(task, e); // whatever was thrown, the other tasks must run
                }
                running = null;
                interrupted |= Thread.interrupted();
            }
            ran++;
        } while (count.decrementAndGet() > 0 && (ran % SHARE != 0 || !handOver()));
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
