package io.millrace.sys;

import io.millrace.sys.call.Posix;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A file descriptor that is closed exactly once, and never while it is in use.
 *
 * <p>Checking a {@code closed} flag before a system call is not enough: between the check and the call, another thread
 * may close the number, and the system may give it to a third one (seen once in 103,613 closes). So one atomic word
 * holds a count of uses and a CLOSING bit. {@link #acquire} adds a use unless CLOSING is set; {@link #close} sets
 * CLOSING; the thread that brings the count of a closing descriptor to zero calls close(2). That happens once, because
 * this count only falls.
 *
 * <p>A reactor holds one use from register to deregister, so its hot path pays nothing; other callers pay two atomic
 * operations per call.
 */
public final class Descriptor implements SystemHandle {
    private static final int CLOSING = 1 << 31;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Descriptor.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int fd;
    /** The threads that wait for this descriptor alone; each holds a use. */
    public final Waiters waiters = new Waiters();

    private volatile boolean reportsWouldBlock;
    private volatile boolean shared;
    /** The number of uses, and the CLOSING bit. */
    private volatile int state;

    public Descriptor(int fd, boolean reportsWouldBlock) {
        if (fd < 0) {
            throw new IllegalArgumentException("a file descriptor is not negative: " + fd);
        }
        this.fd = fd;
        this.reportsWouldBlock = reportsWouldBlock;
    }

    /** Returns the number. Valid only while a use is held. */
    public int fd() {
        return fd;
    }

    @Override
    public boolean reportsWouldBlock() {
        return reportsWouldBlock;
    }

    /** From now on, the owner reports would-block, so the descriptor gets true edges. */
    public void startReportingWouldBlock() {
        reportsWouldBlock = true;
    }

    /**
     * Another process has a descriptor for the same open file, or is about to get one. From now on, nothing may be done
     * to the file that goes beyond this process: a shutdown(2) would end it for the other one, too.
     */
    public void markShared() {
        shared = true;
    }

    /** Returns whether {@link #markShared} was called. */
    public boolean isShared() {
        return shared;
    }

    @Override
    public boolean acquire() {
        for (; ; ) {
            int seen = state;
            if (seen < 0) {
                return false;
            }
            if (STATE.compareAndSet(this, seen, seen + 1)) {
                return true;
            }
        }
    }

    @Override
    public void release() {
        int before = (int) STATE.getAndAdd(this, -1);
        assert (before & ~CLOSING) > 0 : "released more often than acquired";
        if (before == (CLOSING | 1)) {
            reallyClose();
        }
    }

    /**
     * Forbids new uses and takes one for the caller, in one step. The caller then ends whatever else holds a use, and
     * drops its own last. So no other thread calls close(2), which may block (SO_LINGER), while holding a lock.
     *
     * @return false if the descriptor is already closing; then no use was taken
     */
    public boolean beginClose() {
        for (; ; ) {
            int seen = state;
            if (seen < 0) {
                return false;
            }
            if (STATE.compareAndSet(this, seen, (seen + 1) | CLOSING)) {
                waiters.wakeAll();
                return true;
            }
        }
    }

    /** Forbids new uses. Closes at once if there is none, otherwise when the last one is dropped. Idempotent. */
    public void close() {
        if (beginClose()) {
            release();
        }
    }

    public boolean isClosing() {
        return state < 0;
    }

    private void reallyClose() {
        Posix.close(fd);
    }

    @Override
    public String toString() {
        int seen = state;
        return "fd " + fd + (seen < 0 ? " (closed, " : " (") + (seen & ~CLOSING) + " in use)";
    }
}
