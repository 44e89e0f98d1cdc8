package io.millrace.engine.reactor;

import io.millrace.engine.CancelResult;
import io.millrace.engine.Key;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * What can be cancelled: one word that says how far it is, and the rule who may run it.
 *
 * <pre>
 * WAITING ──► RUNNING ──► DONE           by the reactor, around the callback; back to WAITING if it is periodic, or asked to
 *    │           └──► STOPPING ──► DONE  cancelled while it ran: a periodic one does not go back
 *    └──► RUNNING ──► DONE               by a canceller, around the callback with false
 * </pre>
 *
 * Whoever moves it from WAITING runs it; nobody else ever does. So it is run once, with true or with false (grpc-6).
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
    /** Whether somebody waits for the end. */
    private volatile boolean awaited;
    /** Who runs it. Read only to be compared with the reader's own thread, which knows whether it wrote it. */
    private @Nullable Thread runner;

    Cancellable(Reactor reactor) {
        this.reactor = reactor;
    }

    /** Moves it from WAITING: true for one caller, which must then call {@link #end} or {@link #endRun}. */
    final boolean begin() {
        if (state != WAITING || !STATE.compareAndSet(this, WAITING, RUNNING)) {
            return false;
        }
        runner = Thread.currentThread();
        return true;
    }

    /** It is over. */
    final void end() {
        runner = null;
        // A volatile store before a volatile load; awaitEnd does the same the other way round. So one of the two sees
        // the other.
        state = DONE;
        tellWaiters();
    }

    /** One run of a periodic one is over: true if it waits for the next; false if it was cancelled meanwhile and is over. */
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

    /** CANCELLED if this call moved it from WAITING; then the caller must call {@link #end}. */
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

    @SuppressWarnings("ReferenceEquality") // a thread is itself
    public final boolean isRunByThisThread() {
        return runner == Thread.currentThread();
    }

    final boolean isWaiting() {
        return state == WAITING;
    }

    /** Waits until it does not run. */
    public final void awaitEnd() throws InterruptedException {
        synchronized (this) {
            awaited = true;
            while (state == RUNNING || state == STOPPING) {
                wait();
            }
        }
    }
}
