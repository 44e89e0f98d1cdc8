package io.millrace.engine;

import io.millrace.poll.internal.Durations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Adapts an {@link EventManager} to {@link ScheduledExecutorService}.
 *
 * <p>It behaves like {@link java.util.concurrent.ScheduledThreadPoolExecutor}, as existing code expects: a fixed rate
 * makes up for missed times, an exception ends its series, an overdue task runs at once. The differences are:
 * <ul>
 *   <li>{@code shutdown} cancels delayed tasks, just as the manager cancels its alarms. Tasks that were submitted to
 *       run at once still run.
 *   <li>A cancelled task leaves the manager at once.
 *   <li>{@code shutdownNow} does not interrupt threads, because the manager's threads serve others, too. {@code
 *       cancel(true)} does interrupt the task, and the interrupt does not outlast it.
 *   <li>What a task passed to {@code execute} throws reaches the manager, which reports it.
 *   <li>{@code close} on a thread of the manager does not wait.
 * </ul>
 *
 * <p><b>Who runs a task.</b> The manager, {@code shutdownNow}, a refusal and {@code shutdown} may race for a task; each
 * must claim it with a compare-and-set before doing anything with it. A task is in a set from before the manager knows
 * it until it ends. A submitter adds it to the set and then reads the flag (for the second time, so that nothing is
 * accepted after a refusal). A thread that shuts down sets the flag and then goes through the set. So no task is
 * overlooked.
 */
final class ScheduledExecutorAdapter extends AbstractExecutorService implements ScheduledExecutorService {
    private final EventManager manager;
    private final AtomicLong sequence = new AtomicLong();
    private final Set<Immediate> immediate = ConcurrentHashMap.newKeySet();
    private final Set<ScheduledTask<?>> scheduled = ConcurrentHashMap.newKeySet();
    private volatile boolean shutdown;

    ScheduledExecutorAdapter(EventManager manager) {
        this.manager = manager;
    }

    EventManager manager() {
        return manager;
    }

    // ---- At once ----

    @Override
    public void execute(Runnable command) {
        Objects.requireNonNull(command, "command");
        refuseIfShutdown();
        Immediate task = new Immediate(command, sequence.getAndIncrement());
        immediate.add(task);
        try {
            refuseIfShutdown();
            manager.execute(task);
        } catch (RejectedExecutionException e) {
            // If it cannot be claimed, shutdownNow has claimed it and returns it to its caller; so it must not be
            // refused as well.
            if (task.claim()) {
                throw e;
            }
        }
    }

    private void refuseIfShutdown() {
        if (shutdown) {
            throw new RejectedExecutionException(this + " takes no more tasks");
        }
    }

    /** One call of {@code execute}. */
    private final class Immediate implements Runnable {
        private final Runnable command;
        private final long number;
        private final AtomicBoolean claimed = new AtomicBoolean();

        Immediate(Runnable command, long number) {
            this.command = command;
            this.number = number;
        }

        boolean claim() {
            immediate.remove(this);
            return claimed.compareAndSet(false, true);
        }

        @Override
        public void run() {
            if (!claim()) {
                return;
            }
            try {
                command.run();
            } finally {
                // A submitted task can be cancelled with an interrupt, which must not reach what the thread does next.
                Thread.interrupted();
            }
        }

        @Override
        public String toString() {
            return command.toString();
        }
    }

    // ---- Later ----

    @Override
    public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
        return schedule(Executors.callable(command), delay, unit);
    }

    @Override
    public <V> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
        return begin(new ScheduledTask<>(this, callable, unit.toNanos(delay), 0, sequence.getAndIncrement()));
    }

    @Override
    public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long initialDelay, long period, TimeUnit unit) {
        return begin(periodic(command, initialDelay, unit.toNanos(positive(period, "period")), unit));
    }

    @Override
    public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, long initialDelay, long delay, TimeUnit unit) {
        return begin(periodic(command, initialDelay, -unit.toNanos(positive(delay, "delay")), unit));
    }

    private ScheduledTask<?> periodic(Runnable command, long initialDelay, long periodNanos, TimeUnit unit) {
        return new ScheduledTask<>(
                this, Executors.callable(command), unit.toNanos(initialDelay), periodNanos, sequence.getAndIncrement());
    }

    private static long positive(long value, String what) {
        if (value <= 0) {
            throw new IllegalArgumentException("the " + what + " must be positive, not " + value);
        }
        return value;
    }

    private <V> ScheduledTask<V> begin(ScheduledTask<V> task) {
        refuseIfShutdown();
        scheduled.add(task);
        try {
            refuseIfShutdown();
            task.arm();
        } catch (RejectedExecutionException e) {
            // As in execute. A task that shutdown has cancelled meanwhile was accepted, too.
            if (task.claim() && task.cancel(false)) {
                throw e;
            }
        }
        return task;
    }

    void forget(ScheduledTask<?> task) {
        scheduled.remove(task);
    }

    // ---- Shutting down ----

    @Override
    public void shutdown() {
        shutdown = true;
        for (ScheduledTask<?> task : scheduled) {
            task.cancelIfDelayed();
        }
        manager.shutdown();
    }

    @Override
    public List<Runnable> shutdownNow() {
        shutdown = true;
        List<Runnable> neverRun = new ArrayList<>();
        // Claimed before they are sorted, because a task that may still run could change its time meanwhile.
        immediate.stream()
                .filter(Immediate::claim)
                .sorted(Comparator.comparingLong(task -> task.number))
                .map(task -> task.command)
                .forEach(neverRun::add);
        scheduled.stream().filter(ScheduledTask::takeAway).sorted().forEach(neverRun::add);
        manager.shutdown();
        return neverRun;
    }

    /** Returns whether a series continues after this run. */
    boolean continues() {
        return !shutdown;
    }

    @Override
    public boolean isShutdown() {
        return shutdown || manager.isShutdown();
    }

    @Override
    public boolean isTerminated() {
        return manager.isTerminated();
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return manager.awaitTermination(Duration.ofNanos(Math.clamp(unit.toNanos(timeout), 0, Durations.MAX_NANOS)));
    }

    @Override
    public void close() {
        if (manager.inManager()) {
            shutdown();
        } else {
            ScheduledExecutorService.super.close();
        }
    }

    @Override
    public String toString() {
        return "scheduled executor over " + manager + ", " + immediate.size() + " tasks queued, " + scheduled.size()
                + " scheduled" + (isTerminated() ? ", ended" : isShutdown() ? ", shut down" : "");
    }
}
