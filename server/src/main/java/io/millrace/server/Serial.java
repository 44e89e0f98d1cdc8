package io.millrace.server;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs tasks one after the other, in their order, on an executor that has several threads. The count says how many are in the queue or running: who makes it 1 has
 * the executor run, and who runs goes on until it is 0. So one thread runs at a time, sees what the last one did, and nothing is left behind.
 */
final class Serial implements Executor {
    private final Executor threads;
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger count = new AtomicInteger();

    Serial(Executor threads) {
        this.threads = threads;
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
        if (count.getAndIncrement() == 0) {
            try {
                threads.execute(this::drain);
            } catch (RejectedExecutionException e) {
                drain(); // The threads have ended: what is left is told here, rather than never.
            }
        }
    }

    private void drain() {
        do {
            Runnable task = tasks.poll();
            if (task != null) {
                try {
                    task.run();
                } catch (Throwable e) {
                    // Else the count would never be 0 again, and nothing behind this one would run.
                    FailureLog.standard().log(FailureLog.Kind.TASK, e, task, " failed; everything else goes on");
                }
            }
        } while (count.decrementAndGet() > 0);
    }
}
