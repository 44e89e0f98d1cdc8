package io.millrace.task;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Polls something on an executor whenever it is woken: one run at a time, each sees what the one before wrote, and a wake-up during
 * a run leads to another. The base of every asynchronous consumer here.
 *
 * <p>The state goes IDLE → QUEUED → RUNNING → IDLE; a wake while RUNNING makes it AGAIN, which leads back to QUEUED. It begins as RUNNING, for the
 * thread that made it, which calls {@link #drive()}.
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

    /** One run; true if it was the last. */
    abstract boolean step();

    /** The executor refuses to run this: the last call, instead of a step. */
    abstract void refused(RejectedExecutionException reason);

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

    /** A step, by whoever made the state RUNNING. */
    final void drive() {
        for (; ; ) {
            if (step()) {
                state.set(OVER);
                return;
            }
            if (state.compareAndSet(RUNNING, IDLE)) {
                return;
            }
            // Woken meanwhile: behind whatever else the executor has to do.
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
            refused(reason);
        }
    }

    /** Keeps an executor that runs things inline from nesting one run in another: the outer one goes round again instead. */
    private static final class Bounce implements Runnable {
        private final Drive drive;
        private final Thread submitter = Thread.currentThread();
        // Both are the submitter's alone.
        private boolean submitting = true;
        private boolean inline;

        Bounce(Drive drive) {
            this.drive = drive;
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // identity is what is meant
        public void run() {
            if (Thread.currentThread() == submitter && submitting) {
                inline = true;
            } else {
                drive.run();
            }
        }

        /** After the executor took it: true if it ran inline, and the submitter has to do the work. */
        boolean submitted() {
            submitting = false;
            return inline;
        }
    }
}
