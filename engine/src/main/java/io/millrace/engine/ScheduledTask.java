package io.millrace.engine;

import io.millrace.poll.internal.Durations;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A task or a series of a {@link ScheduledExecutorAdapter}. It has one alarm of the manager at a time; the next one is
 * set when a run has ended. So runs never overlap, and a fixed rate makes up for missed times, which the manager's own
 * periodic alarms do not.
 *
 * <p>It waits, runs and, if it is a series, waits again; {@link #claim} takes it while it waits.
 */
final class ScheduledTask<V> extends FutureTask<V> implements RunnableScheduledFuture<V> {
    private static final int WAITING = 0;
    private static final int CLAIMED = 1;
    /** Claimed for good. */
    private static final int TAKEN_AWAY = 2;

    private final ScheduledExecutorAdapter executor;
    private final EventManager manager;
    /** As in the JDK's executor: 0 for one run, positive for a fixed rate, negative for a fixed delay. */
    private final long periodNanos;

    private final long number;
    private final boolean delayed;
    private volatile long deadline;
    private final AtomicInteger state = new AtomicInteger(WAITING);
    private final AtomicReference<@Nullable Armed> armed = new AtomicReference<>();

    /** The alarm of one round. */
    private record Armed(long round, AlarmKey key) {}

    /** How often it was armed. Used by one thread at a time; passed on by the manager with the alarm. */
    private long round;

    ScheduledTask(
            ScheduledExecutorAdapter executor, Callable<V> callable, long delayNanos, long periodNanos, long number) {
        super(callable);
        this.executor = executor;
        this.manager = executor.manager();
        this.periodNanos = Math.clamp(periodNanos, -Durations.MAX_NANOS, Durations.MAX_NANOS);
        this.number = number;
        this.delayed = delayNanos > 0 || periodNanos != 0;
        this.deadline = manager.clock().nanoTime() + Math.clamp(delayNanos, -Durations.MAX_NANOS, Durations.MAX_NANOS);
    }

    /** Submits it to the manager for its next run. */
    void arm() {
        if (!delayed) {
            manager.execute(() -> onAlarm(true));
            return;
        }
        long myRound = ++round;
        Armed mine = new Armed(myRound, manager.schedule(deadline, this::onAlarm, Priority.NORMAL));
        // A manager with several threads may have run it and armed it again before we get here; then the newer key
        // stays.
        armed.accumulateAndGet(mine, (old, young) -> old != null && old.round > mine.round ? old : young);
        if (isDone() || state.get() == TAKEN_AWAY) { // before the key was known
            disarm();
        }
    }

    private void disarm() {
        Armed present = armed.get();
        if (present != null) {
            manager.cancel(present.key);
        }
    }

    private void onAlarm(boolean fired) {
        if (!claim()) {
            return; // shutdownNow has claimed it
        }
        if (!fired) {
            cancel(false);
            return;
        }
        boolean again;
        try {
            again = runOnce();
        } finally {
            if (isCancelled()) {
                // It may have been cancelled with an interrupt, which must not reach what the thread does next.
                Thread.interrupted();
            }
        }
        if (again) {
            next();
        }
    }

    private boolean runOnce() {
        if (isPeriodic()) {
            return super.runAndReset();
        }
        super.run();
        return false;
    }

    private void next() {
        deadline = periodNanos > 0 ? deadline + periodNanos : manager.clock().nanoTime() - periodNanos;
        state.set(WAITING);
        try {
            // Read after the state is set, as when it was first armed: so either this sees the flag, or shutdownNow
            // sees it waiting.
            if (executor.continues()) {
                arm();
                return;
            }
        } catch (RejectedExecutionException e) {
            // The manager has ended, and with it the series.
        }
        if (claim()) {
            cancel(false);
        }
    }

    /** Claims it. A caller that gets true may run it, cancel it or hand it out; no other thread will. */
    boolean claim() {
        return state.compareAndSet(WAITING, CLAIMED);
    }

    /** Cancels it for shutdown. If it is running, it is cancelled after the run. */
    void cancelIfDelayed() {
        if (delayed && claim()) {
            cancel(false);
        }
    }

    /** Takes it from the manager for shutdownNow, without cancelling it, as the JDK's executor does. */
    boolean takeAway() {
        if (!state.compareAndSet(WAITING, TAKEN_AWAY)) {
            return false;
        }
        executor.forget(this);
        disarm();
        return !isDone();
    }

    /** Runs once, for the caller of shutdownNow. */
    @Override
    public void run() {
        runOnce();
    }

    @Override
    protected void done() {
        executor.forget(this);
        if (isCancelled()) {
            disarm();
        }
    }

    @Override
    public boolean isPeriodic() {
        return periodNanos != 0;
    }

    @Override
    public long getDelay(TimeUnit unit) {
        return unit.convert(deadline - manager.clock().nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
        if (other == this) {
            return 0;
        }
        if (other instanceof ScheduledTask<?> task) {
            int byDeadline = Long.signum(deadline - task.deadline);
            return byDeadline != 0 ? byDeadline : Long.compare(number, task.number);
        }
        return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
    }
}
