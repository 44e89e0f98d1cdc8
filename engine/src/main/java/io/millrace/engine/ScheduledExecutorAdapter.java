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
 * Any {@link EventManager} as a {@link ScheduledExecutorService}.
 *
 * <p>It behaves as {@link java.util.concurrent.ScheduledThreadPoolExecutor} does, which is what existing code expects: a fixed rate makes up
 * for missed times, an exception ends its series, a task that is overdue runs at once. Different are:
 *
 * <ul>
 *   <li>{@code shutdown} drops what is delayed, as the manager drops its alarms, and cancels it. What was submitted to run at once still runs.
 *   <li>A cancelled task leaves the manager at once.
 *   <li>{@code shutdownNow} interrupts nobody: the manager's threads have others to serve. {@code cancel(true)} does interrupt the task, and
 *       the interrupt ends with it.
 *   <li>What a task given to {@code execute} throws reaches the manager, which reports it.
 *   <li>{@code close} on a thread of the manager does not wait.
 * </ul>
 *
 * <p><b>Who runs a task.</b> The manager, {@code shutdownNow}, a refusal and {@code shutdown} may race for a task; each must claim it (one
 * compare-and-set) before it does anything with it. A task is in a set from before the manager knows it until it ends. The submitter adds it
 * and then looks at the flag (once more: it looked before, so that nothing is accepted after a refusal); the one who shuts down sets the flag
 * and then looks through the set: so none is overlooked.
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
            // Not claimed: then shutdownNow has, and hands it to its caller. It cannot be refused as well.
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

    /** One call of execute. */
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
                // What is submitted can be cancelled with an interrupt. It must not reach what the thread does next.
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
            // As in execute. A task that shutdown cancelled meanwhile was accepted, too.
            if (task.claim() && task.cancel(false)) {
                throw e;
            }
        }
        return task;
    }

    void ended(ScheduledTask<?> task) {
        scheduled.remove(task);
    }

    // ---- Ending ----

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
        // Claimed first, then sorted: what may still run could change its time meanwhile.
        immediate.stream()
                .filter(Immediate::claim)
                .sorted(Comparator.comparingLong(task -> task.number))
                .map(task -> task.command)
                .forEach(neverRun::add);
        scheduled.stream().filter(ScheduledTask::takeAway).sorted().forEach(neverRun::add);
        manager.shutdown();
        return neverRun;
    }

    /** Whether a series goes on after this run. */
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
