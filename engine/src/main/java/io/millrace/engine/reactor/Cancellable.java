package io.millrace.engine.reactor;

import io.millrace.engine.CancelResult;
import io.millrace.engine.Key;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A task or alarm that can be cancelled: one atomic word with its state, which decides which thread may run it.
 *
 * <pre>
 * WAITING ──► RUNNING ──► DONE           by the reactor, around the callback; back to WAITING if periodic or rearmed
 *    │           └──► STOPPING ──► DONE  cancelled while it ran: a periodic one does not go back
 *    └──► RUNNING ──► DONE               by a canceller, around the callback with false
 * </pre>
 *
 * The thread that moves it from WAITING runs it, and no other thread does. So it runs once, with true or with false
 * (grpc-6).
 */
public abstract class Cancellable implements Key, Runnable {
    private static final int WAITING = 0;
    private static final int RUNNING = 1;
    private static final int STOPPING = 2;
    private static final int DONE = 3;

    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Cancellable.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    public final Reactor reactor;

    private volatile int state;
    /** Whether a thread waits for the end. */
    private volatile boolean awaited;
    /** The thread that runs it. A reader only compares it with its own thread, and knows whether that one wrote it. */
    private @Nullable Thread runner;

    Cancellable(Reactor reactor) {
        this.reactor = reactor;
    }

    /** Moves it from WAITING. Returns true to one caller, which must then call {@link #end} or {@link #endRun}. */
    final boolean begin() {
        if (state != WAITING || !STATE.compareAndSet(this, WAITING, RUNNING)) {
            return false;
        }
        runner = Thread.currentThread();
        return true;
    }

    /** Moves it to DONE. */
    final void end() {
        runner = null;
        // A volatile store before a volatile load; awaitEnd does the same in the opposite order. So one of the two sees
        // the other.
        state = DONE;
        tellWaiters();
    }

    /**
     * Ends one run of a periodic one. Returns true if it waits for the next run, false if it was cancelled meanwhile
     * and is over.
     */
    final boolean endRun() {
        runner = null;
        if (!STATE.compareAndSet(this, RUNNING, WAITING)) {
            end();
            return false;
        }
        tellWaiters();
        return true;
    }

    private void tellWaiters() {
        if (awaited) {
            synchronized (this) {
                notifyAll();
            }
        }
    }

    /** Returns CANCELLED if this call moved it from WAITING; then the caller must call {@link #end}. */
    final CancelResult tryCancel() {
        for (; ; ) {
            if (begin()) {
                return CancelResult.CANCELLED;
            }
            int seen = state;
            if (seen == DONE) {
                return CancelResult.DONE;
            }
            if (seen == STOPPING || STATE.compareAndSet(this, RUNNING, STOPPING)) {
                return CancelResult.RUNNING;
            }
        }
    }

    @SuppressWarnings("ReferenceEquality") // threads are compared by identity
    public final boolean isRunByThisThread() {
        return runner == Thread.currentThread();
    }

    final boolean isWaiting() {
        return state == WAITING;
    }

    /** Waits until it is not running. */
    public final void awaitEnd() throws InterruptedException {
        synchronized (this) {
            awaited = true;
            while (state == RUNNING || state == STOPPING) {
                wait();
            }
        }
    }
}
