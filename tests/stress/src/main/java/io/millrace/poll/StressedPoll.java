package io.millrace.poll;

import io.millrace.sys.Family;
import io.millrace.sys.Selector;
import io.millrace.sys.SystemHandle;
import java.time.Duration;
import java.util.List;

/**
 * A poll over a kernel that is two flags: cheap enough to make ten thousand of them, which is what jcstress does.
 *
 * <p>A wait that may block ends when it is woken. If it is {@link #release released} instead, nobody woke it though somebody
 * had reason to: that is a lost wake-up, and it is remembered.
 */
final class StressedPoll implements Selector {
    private static final BackendReport REPORT = new BackendReport("flags", "a stress test asked for it", "", List.of());
    private static final Duration TICK = Duration.ofMillis(1);

    private volatile boolean woken;
    private volatile boolean released;
    private volatile boolean lostWakeUp;
    private final Poll poll = new Poll(this, REPORT, Clock.system(), TICK);

    Poll poll() {
        return poll;
    }

    /** The last thing that a waker does, after everything that should have woken the sleeper. */
    void release() {
        released = true;
    }

    boolean lostWakeUp() {
        return lostWakeUp;
    }

    @Override
    public int await(long timeoutNanos, int maxEvents) {
        if (timeoutNanos != 0) {
            while (!woken) {
                if (released && !woken) {
                    lostWakeUp = true;
                    break;
                }
                Thread.onSpinWait();
            }
        }
        woken = false;
        return 0;
    }

    @Override
    public void wake() {
        woken = true;
    }

    @Override
    public String name() {
        return "flags";
    }

    @Override
    public Family family() {
        return Family.DESCRIPTOR;
    }

    @Override
    public boolean controlsAtOnce() {
        return true;
    }

    @Override
    public void add(SystemHandle handle, long key, int interest, int trigger) {}

    @Override
    public void modify(SystemHandle handle, long key, int interest, int trigger) {}

    @Override
    public void remove(SystemHandle handle, long key) {}

    @Override
    public boolean emulatesTriggers() {
        return false;
    }

    @Override
    public boolean rearm(long key, int readiness) {
        return false;
    }

    @Override
    public long key(int event) {
        throw new IndexOutOfBoundsException("this kernel has no events");
    }

    @Override
    public int readiness(int event) {
        throw new IndexOutOfBoundsException("this kernel has no events");
    }

    @Override
    public void close() {}
}
