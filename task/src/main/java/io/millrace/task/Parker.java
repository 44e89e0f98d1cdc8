package io.millrace.task;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A waker for a thread that waits. One thread at a time waits; any thread wakes it.
 *
 * <p>The thread is published before its last read of the signal; the signal is set before the waker reads the thread.
 * So one of the two sees the other. A waker makes a system call only if a thread sleeps.
 */
final class Parker implements Waker {
    private static final VarHandle SIGNALLED;

    static {
        try {
            SIGNALLED = MethodHandles.lookup().findVarHandle(Parker.class, "signalled", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile boolean signalled;
    private volatile @Nullable Thread sleeper;

    @Override
    public void wake() {
        if (!(boolean) SIGNALLED.getAndSet(this, true)) {
            LockSupport.unpark(sleeper);
        }
    }

    /** Waits for a wake-up since the last return from this method. */
    void await() throws InterruptedException {
        if (!signalled) {
            sleeper = Thread.currentThread();
            try {
                while (!signalled) {
                    LockSupport.park(this);
                    if (Thread.interrupted()) {
                        throw new InterruptedException("interrupted while waiting for the next result");
                    }
                }
            } finally {
                sleeper = null;
            }
        }
        signalled = false;
    }
}
