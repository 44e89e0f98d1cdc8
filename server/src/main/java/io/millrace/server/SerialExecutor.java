package io.millrace.server;

import io.millrace.engine.internal.FailureLog;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs tasks one after the other, in their order, on an executor that has several threads. The count says how many are in the queue or running: who makes it 1 has
 * the executor run, and who runs goes on until it is 0. So one thread runs at a time, sees what the last one did, and nothing is left behind.
 */
final class SerialExecutor implements Executor {
    private final Executor threads;
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger();

    SerialExecutor(Executor threads) {
        this.threads = threads;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (count.getAndIncrement() == 0) {
            try {
                threads.execute(this::drain);
            } catch (RejectedExecutionException | OutOfMemoryError e) {
                drain(); // The threads have ended, or there can be no more: what is left is told here, rather than
                // never.
            }
        }
    }

    /** An interrupt that a task leaves behind is not for the next one, which may be another connection's; but the thread's owner gets to know of it. */
    private void drain() {
        boolean interrupted = false;
        do {
            Runnable task = tasks.poll();
            if (task != null) {
                try {
                    task.run();
                } catch (Throwable e) {
                    FailureLog.report(task, e); // whatever it is, the next ones are not to wait for ever
                }
                interrupted |= Thread.interrupted();
            }
        } while (count.decrementAndGet() > 0);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
