package io.millrace.sys;

import io.millrace.sys.call.Posix;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A file descriptor that is closed exactly once and never while somebody uses it.
 *
 * <p>Checking a {@code closed} flag before a system call is not enough: between the check and the call another thread may
 * close the number and a third one be given it (seen once in 103,613 closes). So there is a count of uses and a CLOSING
 * bit in one word. {@link #acquire} adds a use unless CLOSING is set; {@link #close} sets CLOSING; whoever brings a closing
 * word's count to zero runs close(2), once, because the count of a closing word only falls.
 *
 * <p>A reactor holds one use from register to deregister, so its hot path pays nothing; other callers pay two atomic
 * operations a call.
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
    /** Whoever waits for this one alone; each of them holds a use. */
    public final Waiters waiters = new Waiters();

    private volatile boolean reportsWouldBlock;
    /** The uses taken, and the CLOSING bit. */
    private volatile int state;

    public Descriptor(int fd, boolean reportsWouldBlock) {
        if (fd < 0) {
            throw new IllegalArgumentException("a file descriptor is not negative: " + fd);
        }
        this.fd = fd;
        this.reportsWouldBlock = reportsWouldBlock;
    }

    /** The number. Valid only while a use is held. */
    public int fd() {
        return fd;
    }

    @Override
    public boolean reportsWouldBlock() {
        return reportsWouldBlock;
    }

    /** The owner turned out to tell of would-block: from now on it gets true edges. */
    public void startReportingWouldBlock() {
        reportsWouldBlock = true;
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
     * No new use from now on, and one for the caller, taken in the same step. The caller ends what else holds one, and drops its own last: then
     * nobody before it runs close(2), which may wait (SO_LINGER), while holding a lock.
     *
     * @return false if the descriptor is closing already; no use was taken then
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

    /** No new use from now on; closed at once if there is none, else by whoever drops the last one. Idempotent. */
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
