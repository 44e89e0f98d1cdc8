package io.millrace.sys;

import java.io.IOException;

/**
 * What a backend must supply, on one page.
 *
 * <p><b>Control.</b> {@link #add}, {@link #modify} and {@link #remove} come from any thread, also during a wait, but one at
 * a time: the caller holds a lock. If {@link #controlsAtOnce()} the kernel is told directly; otherwise the change is
 * queued, takes effect when the next wait begins, and the caller wakes a sleeping waiter. Either way the arguments are
 * checked before the call returns, and a call that throws changed nothing.
 *
 * <p><b>Triggers.</b> {@link Bits#LEVEL} reports while ready; {@link Bits#EDGE} once per transition and again after {@code
 * modify}; {@link Bits#ONESHOT} once until {@code modify}. Where the kernel has no edges they are emulated: a bit that was
 * reported is not reported again until {@link #rearm} says that the direction was drained.
 *
 * <p><b>Wait.</b> One thread at a time. {@link #await} returns the number of events; {@link #key} and {@link #readiness} read
 * them until the next wait. More ready sources than {@code maxEvents} are served by later waits, none starved. An
 * interrupted system call is zero events. {@link #wake} makes the current wait return, or the next one if there is none;
 * wakes coalesce. A backend may show one as an event with {@link KernelKey#WAKE}, which belongs to no source. After {@code close} it does nothing.
 *
 * <p><b>Empty interest.</b> A handle whose interest is 0 never makes a wait return for ever, whatever hang-up the kernel
 * holds.
 *
 * <p><b>Uses.</b> {@code add} takes a use of the handle, {@code remove} drops it when no wait can name the handle any more: before it returns, or by the
 * waiting thread when its wait is over. In {@code remove} the caller sees to it that this is not the last use; the waiting thread holds no lock
 * when it drops one, because the last one closes the descriptor, and that may wait.
 *
 * <p><b>Close.</b> By the waiting thread or when there is none, after the last control call. Releases every use.
 */
public interface Selector extends AutoCloseable {
    /** The backend's short name, as in {@code -Dmillrace.backend=}. */
    String name();

    Family family();

    boolean controlsAtOnce();

    void add(SystemHandle handle, long key, int interest, int trigger) throws IOException;

    void modify(SystemHandle handle, long key, int interest, int trigger) throws IOException;

    void remove(SystemHandle handle, long key) throws IOException;

    /** True if triggers are emulated, so that {@link #rearm} matters. */
    boolean emulatesTriggers();

    /**
     * The owner of {@code key} met would-block in these directions. From any thread, without the control lock.
     *
     * @return true if a sleeping waiter must be woken for it to take effect
     */
    boolean rearm(long key, int readiness);

    /**
     * Waits.
     *
     * @param timeoutNanos negative: for ever; 0: not at all; else at least so long (rounded up to what the kernel takes)
     * @param maxEvents how many events to return at most, at least 1
     */
    int await(long timeoutNanos, int maxEvents) throws IOException;

    long key(int event);

    int readiness(int event);

    void wake();

    @Override
    void close();
}
