package io.millrace.poll;

import io.millrace.sys.Family;
import io.millrace.sys.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A kernel that is a monitor: a wait ends when something was reported to it or when it is woken, never by time. So a model checker can
 * run a whole {@link Poll} over it, a lost wake-up is a deadlock, and a unit test can see what the poll asks of its backend.
 */
final class ModelKernel implements Selector {
    private boolean woken;
    private int awaits;
    private int wakes;
    private long lastTimeoutNanos;
    private final List<String> changes = new ArrayList<>();
    private final List<long[]> reported = new ArrayList<>();
    private List<long[]> delivered = List.of();

    Poll poll() {
        return poll(Clock.system());
    }

    Poll poll(Clock clock) {
        return new Poll(
                this, new BackendReport("model", "a test asked for it", "", List.of()), clock, Duration.ofMillis(1));
    }

    /** The next wait ends with this event. */
    synchronized void report(long key, int readiness) {
        reported.add(new long[] {key, readiness});
        notifyAll();
    }

    synchronized int awaits() {
        return awaits;
    }

    /** How often it was woken: each is a system call on a real kernel. */
    synchronized int wakes() {
        return wakes;
    }

    /** Of the last wait: negative is for ever. */
    synchronized long lastTimeoutNanos() {
        return lastTimeoutNanos;
    }

    /** The control calls so far, as {@code modify 1 EDGE}: the interest's bits and the trigger's code. */
    synchronized List<String> changes() {
        return List.copyOf(changes);
    }

    @Override
    public String name() {
        return "model";
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
    public synchronized void add(io.millrace.sys.SystemHandle handle, long key, int interest, int trigger) {
        changes.add("add " + interest + " " + trigger);
    }

    @Override
    public synchronized void modify(io.millrace.sys.SystemHandle handle, long key, int interest, int trigger) {
        changes.add("modify " + interest + " " + trigger);
    }

    @Override
    public synchronized void remove(io.millrace.sys.SystemHandle handle, long key) {
        changes.add("remove");
    }

    @Override
    public boolean emulatesTriggers() {
        return false;
    }

    @Override
    public boolean rearm(long key, int readiness) {
        return false;
    }

    @Override
    public synchronized int await(long timeoutNanos, int maxEvents) {
        awaits++;
        lastTimeoutNanos = timeoutNanos;
        while (timeoutNanos != 0 && !woken && reported.isEmpty()) {
            try {
                wait();
            } catch (InterruptedException e) {
                throw new AssertionError("nobody interrupts a poll", e);
            }
        }
        woken = false;
        int count = Math.min(maxEvents, reported.size());
        delivered = List.copyOf(reported.subList(0, count));
        reported.subList(0, count).clear();
        return count;
    }

    @Override
    public long key(int event) {
        return delivered.get(event)[0];
    }

    @Override
    public int readiness(int event) {
        return (int) delivered.get(event)[1];
    }

    @Override
    public synchronized void wake() {
        wakes++;
        woken = true;
        notifyAll();
    }

    @Override
    public void close() {}
}
