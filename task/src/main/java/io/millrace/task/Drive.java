package io.millrace.task;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs something on an executor whenever it is woken: one run at a time, each sees what the previous one wrote, and a
 * wake-up during a run leads to another. The base of every asynchronous consumer here.
 *
 * <p>The state goes IDLE → QUEUED → RUNNING → IDLE; a wake while RUNNING makes it AGAIN, which leads back to QUEUED. It
 * begins as RUNNING, for the thread that creates it, which calls {@link #drive()}.
 */
abstract class Drive implements Waker, Runnable {
    private static final int IDLE = 0;
    private static final int QUEUED = 1;
    private static final int RUNNING = 2;
    private static final int AGAIN = 3;
    private static final int OVER = 4;

    private final Executor executor;
    private final AtomicInteger state = new AtomicInteger(RUNNING);

    Drive(Executor executor) {
        this.executor = executor;
    }

    /** Performs one run. Returns true if it was the last. */
    abstract boolean step();

    /** Called instead of a step if the executor refuses to run this. It is the last call. */
    abstract void onRefused(RejectedExecutionException reason);

    @Override
    public final void wake() {
        for (; ; ) {
            int seen = state.get();
            if (seen == IDLE) {
                if (state.compareAndSet(IDLE, QUEUED)) {
                    submit(this);
                    return;
                }
            } else if (seen != RUNNING || state.compareAndSet(RUNNING, AGAIN)) {
                return;
            }
        }
    }

    @Override
    public final void run() {
        state.set(RUNNING);
        drive();
    }

    /** Performs a step. Called by the thread that made the state RUNNING. */
    final void drive() {
        for (; ; ) {
            if (step()) {
                state.set(OVER);
                return;
            }
            if (state.compareAndSet(RUNNING, IDLE)) {
                return;
            }
            // Woken meanwhile: goes behind other work of the executor.
            state.set(QUEUED);
            Bounce bounce = new Bounce(this);
            submit(bounce);
            if (!bounce.submitted()) {
                return;
            }
            state.set(RUNNING);
        }
    }

    private void submit(Runnable task) {
        try {
            executor.execute(task);
        } catch (RejectedExecutionException reason) {
            state.set(OVER);
            onRefused(reason);
        }
    }

    /** Keeps an executor that runs tasks inline from nesting runs: the outer run repeats instead. */
    private static final class Bounce implements Runnable {
        private final Drive drive;
        private final Thread submitter = Thread.currentThread();
        // Both are used by the submitting thread only.
        private boolean submitting = true;
        private boolean inline;

        Bounce(Drive drive) {
            this.drive = drive;
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // compares identity on purpose
        public void run() {
            if (Thread.currentThread() == submitter && submitting) {
                inline = true;
            } else {
                drive.run();
            }
        }

        /**
         * Called after the executor took it. Returns true if it ran inline, so that the submitter has to do the work.
         */
        boolean submitted() {
            submitting = false;
            return inline;
        }
    }
}
