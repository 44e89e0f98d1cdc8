package io.millrace.sys;

import java.io.IOException;

/**
 * The interface that a backend implements.
 *
 * <p><b>Control.</b> {@link #add}, {@link #modify} and {@link #remove} may come from any thread, even during a wait,
 * but one at a time: the caller holds a lock. If {@link #controlsAtOnce()}, the kernel is told directly; otherwise the
 * change is queued, takes effect when the next wait begins, and the caller wakes a sleeping waiter. Either way, the
 * arguments are checked before the call returns, and a call that throws has changed nothing.
 *
 * <p><b>Triggers.</b> {@link Bits#LEVEL} reports while ready; {@link Bits#EDGE} once per transition and again after
 * {@code modify}; {@link Bits#ONESHOT} once until {@code modify}. If the kernel has no edges, they are emulated: a bit
 * that was reported is not reported again until {@link #rearm} says that the direction was drained.
 *
 * <p><b>Wait.</b> One thread at a time. {@link #await} returns the number of events; {@link #key} and {@link
 * #readiness} read them until the next wait. If more than {@code maxEvents} sources are ready, later waits report the
 * rest, and none is starved. An interrupted system call counts as zero events. {@link #wake} makes the current wait
 * return, or the next one if there is none; several wakes count as one. A backend may report a wake as an event with
 * {@link KernelKey#WAKE}, which belongs to no source. After {@code close} it does nothing.
 *
 * <p><b>Empty interest.</b> A handle whose interest is 0 must not make every wait return, no matter what hang-up the
 * kernel reports.
 *
 * <p><b>Uses.</b> {@code add} takes a use of the handle; {@code remove} drops it when no wait can refer to the handle
 * any more: before it returns, or on the waiting thread when its wait is over. In {@code remove}, the caller makes sure
 * that this is not the last use. The waiting thread holds no lock when it drops a use, because dropping the last one
 * closes the descriptor, which may block.
 *
 * <p><b>Close.</b> Called by the waiting thread, or when there is none, after the last control call. Drops every use.
 */
public interface Selector extends AutoCloseable {
    /** Returns the backend's short name, as in {@code -Dmillrace.backend=}. */
    String name();

    Family family();

    boolean controlsAtOnce();

    void add(SystemHandle handle, long key, int interest, int trigger) throws IOException;

    void modify(SystemHandle handle, long key, int interest, int trigger) throws IOException;

    void remove(SystemHandle handle, long key) throws IOException;

    /** Returns whether triggers are emulated, so that {@link #rearm} matters. */
    boolean emulatesTriggers();

    /**
     * Called when the owner of {@code key} met would-block in these directions. Any thread, without the control lock.
     *
     * @return true if a sleeping waiter must be woken for it to take effect
     */
    boolean rearm(long key, int readiness);

    /**
     * Waits for events.
     *
     * @param timeoutNanos negative to wait for ever; 0 to not wait; otherwise the least time to wait, rounded up to
     *     what the kernel supports
     * @param maxEvents how many events to return at most, at least 1
     */
    int await(long timeoutNanos, int maxEvents) throws IOException;

    long key(int event);

    int readiness(int event);

    void wake();

    @Override
    void close();
}
