package io.millrace.engine.pool;

import io.millrace.engine.Priority;
import io.millrace.engine.internal.Deadline;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.internal.Threads;
import io.millrace.poll.Clock;
import io.millrace.poll.internal.Durations;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * A thread pool for work that would hold up an event loop. It runs urgent tasks first and can deliver the results back
 * to the loop.
 *
 * <pre>{@code
 * pool.submit(() -> render(page), Priority.HIGH, loop).thenAccept(html -> connection.send(html));
 * }</pre>
 *
 * <p><b>What it guarantees.</b> A task runs once on a thread of the pool, or it is cancelled and never runs. A free
 * thread takes the task of the highest {@link Priority}; tasks of the same priority start in the order in which they
 * were submitted. If a task throws, even an {@link Error}, its future fails and the failure is counted; the thread goes
 * on with the next task.
 *
 * <p><b>Starvation and ageing.</b> By default the order is strict: LOW tasks wait for as long as there is more urgent
 * work. With {@linkplain Builder#ageing ageing} by a step of <i>s</i>, a waiting task moves up one priority for each
 * <i>s</i> that it has waited, and among tasks of equal rank the one that was submitted first is next. This gives a
 * bound: once a task of level <i>p</i> has waited (4 − <i>p</i>) · <i>s</i>, no task that was submitted later starts
 * before it, not even a SYSTEM task. If it has to wait longer, it waits for older tasks only.
 *
 * <p><b>Cancelling.</b> Cancelling the future of a waiting task, or completing it in any other way, removes the task
 * from the queue. A task that is already running is not interrupted: it runs to its end and counts as completed or
 * failed, although its future is cancelled.
 *
 * <p><b>Threads.</b> Any thread may call any method, including from tasks. No lock is held while a task, a dependent
 * stage or one of your executors runs. A dependent stage that was added without an executor runs on the pool thread
 * that completed the future, on the thread that cancelled it, or on the thread that added the stage.
 *
 * <p><b>What it never does.</b> It never blocks a thread that submits a task: a bounded queue that is full refuses the
 * task. Its threads make no system calls while there is nothing to do.
 */
public final class ComputePool implements Executor, AutoCloseable {
    private final String name;
    private final int threads;
    private final int capacity;
    private final Clock clock;
    private final ComputeQueue queue;

    private ComputePool(Builder builder) {
        this.name = builder.name;
        this.threads = builder.threads;
        this.capacity = builder.queueCapacity;
        this.clock = builder.clock;
        this.queue = new ComputeQueue(clock, builder.stepNanos, capacity);
    }

    /**
     * Opens a pool with one thread per processor, an unbounded queue and no ageing.
     *
     * @return a running pool, which the caller must close
     */
    public static ComputePool open() {
        return builder().open();
    }

    /**
     * Returns a builder, for settings other than the defaults.
     *
     * @return a builder with the defaults
     */
    public static Builder builder() {
        return new Builder();
    }

    private void start(boolean daemon) {
        FailureLog.prepare();
        for (int i = 1; i <= threads; i++) {
            queue.addWorker();
            try {
                Worker worker = new Worker(name + "-" + i);
                worker.setDaemon(daemon);
                worker.start();
            } catch (Throwable e) { // out of memory, for example: do not leave the others behind
                queue.removeWorker();
                queue.shutdown();
                throw Threads.tooFew("compute pool " + name, i - 1, threads, e);
            }
        }
    }

    // ---- Submitting ----

    /**
     * Runs a task of normal priority.
     *
     * @param task what to compute
     * @param <T> the type of its result
     * @return a future for the result, or for what the task threw
     * @throws RejectedExecutionException if the queue is full or the pool is shut down; then the task does not run
     */
    public <T> CompletableFuture<T> submit(Callable<T> task) {
        return submit(task, Priority.NORMAL);
    }

    /**
     * Runs a task.
     *
     * @param task what to compute
     * @param priority its priority
     * @param <T> the type of its result
     * @return a future that is completed by the thread that ran the task
     * @throws RejectedExecutionException if the queue is full or the pool is shut down; then the task does not run
     */
    public <T> CompletableFuture<T> submit(Callable<T> task, Priority priority) {
        return enqueue(task, priority, null);
    }

    /**
     * Runs a task and delivers the result to a loop or another executor. If that executor refuses, the future fails on
     * the pool's thread with what the executor threw.
     *
     * @param task what to compute
     * @param priority its priority
     * @param completeOn where the future is completed, so that its dependent stages run there; a cancelled future is
     *     completed by the thread that cancels it
     * @param <T> its result
     * @return a future for the result; cancelling it cancels a task that has not started
     * @throws RejectedExecutionException if the queue is full or the pool is shut down; then the task does not run
     */
    public <T> CompletableFuture<T> submit(Callable<T> task, Priority priority, Executor completeOn) {
        return enqueue(task, priority, Objects.requireNonNull(completeOn, "completeOn"));
    }

    /**
     * Runs a task of normal priority.
     *
     * @param task what to do
     * @return a future that is completed with null, or with what the task threw
     * @throws RejectedExecutionException if the queue is full or the pool is shut down; then the task does not run
     */
    public CompletableFuture<Void> submit(Runnable task) {
        return submit(task, Priority.NORMAL);
    }

    /**
     * Runs a task.
     *
     * @param task what to do
     * @param priority its priority
     * @return a future that is completed with null, or with what the task threw, by the thread that ran the task
     * @throws RejectedExecutionException if the queue is full or the pool is shut down; then the task does not run
     */
    public CompletableFuture<Void> submit(Runnable task, Priority priority) {
        return enqueue(Executors.callable(task, null), priority, null);
    }

    /**
     * Runs a task and completes its future on a loop or another executor: see {@link #submit(Callable, Priority,
     * Executor)}.
     *
     * @param task what to do
     * @param priority its priority
     * @param completeOn where the future is completed
     * @return a future that is completed with null, or with what the task threw
     * @throws RejectedExecutionException if the queue is full or the pool is shut down; then the task does not run
     */
    public CompletableFuture<Void> submit(Runnable task, Priority priority, Executor completeOn) {
        return enqueue(Executors.callable(task, null), priority, Objects.requireNonNull(completeOn, "completeOn"));
    }

    /**
     * Runs a task of normal priority without a future. If the task throws, that is logged.
     *
     * @param task what to do
     * @throws RejectedExecutionException if the queue is full or the pool is shut down; then the task does not run
     */
    @Override
    public void execute(Runnable task) {
        Objects.requireNonNull(task, "task");
        var _ = enqueue(
                () -> {
                    try {
                        task.run();
                    } catch (Throwable e) {
                        report(task, e);
                        throw e;
                    }
                    return null;
                },
                Priority.NORMAL,
                null);
    }

    private void report(Runnable task, Throwable failure) {
        FailureLog.report(
                "a task of compute pool " + name + ", " + task.getClass().getName() + ",", failure);
    }

    private <T> CompletableFuture<T> enqueue(Callable<T> work, Priority priority, @Nullable Executor completeOn) {
        Objects.requireNonNull(work, "task");
        Objects.requireNonNull(priority, "priority");
        ComputeTask<T> task = new ComputeTask<>(queue, work, priority, completeOn);
        return switch (queue.add(task)) {
            case QUEUED -> task;
            case FULL ->
                throw new RejectedExecutionException("the queue of compute pool " + name + " is full with " + capacity
                        + " tasks; submit less, or give it a larger queueCapacity");
            case SHUT_DOWN ->
                throw new RejectedExecutionException("compute pool " + name + " is shut down and takes no more tasks");
        };
    }

    // ---- Properties ----

    /**
     * Returns what the pool has done and has still to do.
     *
     * @return a consistent snapshot
     */
    public ComputePoolMetrics metrics() {
        return queue.metrics();
    }

    /**
     * Returns whether the calling thread is one of the pool's.
     *
     * @return true inside its tasks
     */
    public boolean inPool() {
        return Thread.currentThread() instanceof Worker worker && worker.pool() == this;
    }

    /**
     * Returns how many threads the pool has.
     *
     * @return at least 1
     */
    public int threads() {
        return threads;
    }

    // ---- Shutting down ----

    /** Accepts no more tasks; those that are waiting still run. Does not wait for them. Idempotent. */
    public void shutdown() {
        queue.shutdown();
    }

    /**
     * Accepts no more tasks and cancels those that are waiting. Running tasks are neither interrupted nor waited for.
     * Idempotent.
     *
     * @return how many tasks this call cancelled
     */
    public int shutdownNow() {
        queue.shutdown();
        List<ComputeTask<?>> waiting = queue.waiting();
        int cancelled = 0;
        for (ComputeTask<?> task : waiting) {
            // A worker or another canceller may have been faster.
            if (task.cancel(false)) {
                cancelled++;
            }
        }
        return cancelled;
    }

    /**
     * Returns whether {@link #shutdown} was called.
     *
     * @return true from then on
     */
    public boolean isShutdown() {
        return queue.isShutdown();
    }

    /**
     * Returns whether the pool has ended: it is shut down, and no task is running.
     *
     * @return true from then on
     */
    public boolean isTerminated() {
        return queue.hasEnded();
    }

    /**
     * Waits until the pool has ended. A task must not wait for the end of its own pool.
     *
     * @param atMost how long to wait
     * @return false if the pool has not ended in that time
     * @throws InterruptedException if interrupted
     */
    public boolean awaitTermination(Duration atMost) throws InterruptedException {
        return queue.awaitEnd(Durations.nanosOrZero(atMost));
    }

    /**
     * Shuts down and waits until every submitted task has run, or until the deadline. Tasks that are left then still
     * run; {@link #shutdownNow} cancels those that wait. Called from one of the pool's threads, it does not wait. An
     * interrupt does not cut the wait short; the interrupt status is restored for the caller.
     *
     * @param atMost how long to wait
     * @return empty if every task has run; otherwise a human-readable list of what is left
     */
    public List<String> shutdown(Duration atMost) {
        shutdown();
        // A task of the pool must not wait for itself.
        if (inPool() ? isTerminated() : Deadline.after(clock, atMost).await(queue.end())) {
            return List.of();
        }
        ComputePoolMetrics now = metrics();
        return List.of("compute pool " + name + " runs " + now.active() + " tasks, and " + now.depth() + " wait");
    }

    /**
     * The same as {@link #shutdown(Duration)} with ten seconds; whatever is left then is logged, and still runs.
     * Idempotent.
     */
    @Override
    public void close() {
        List<String> left = shutdown(Deadline.OF_CLOSE);
        if (!left.isEmpty() && !inPool()) {
            FailureLog.warn("closed " + name + ", which has not ended in time: " + String.join("; ", left));
        }
    }

    @Override
    public String toString() {
        ComputePoolMetrics now = metrics();
        StringBuilder line = new StringBuilder("compute pool ").append(name);
        line.append(", ").append(now.active()).append(" of ").append(threads).append(" threads active, ");
        line.append(now.depth());
        if (capacity != Integer.MAX_VALUE) {
            line.append(" of ").append(capacity);
        }
        line.append(" queued");
        now.depths().forEach((priority, depth) -> {
            if (depth > 0) {
                line.append(' ').append(priority).append('=').append(depth);
            }
        });
        line.append(", ").append(now.submitted()).append(" submitted, ");
        line.append(now.completed()).append(" completed, ");
        line.append(now.failed()).append(" failed, ");
        line.append(now.cancelled()).append(" cancelled, ");
        line.append(now.rejected()).append(" rejected, ");
        line.append(now.executionTime().toMillis()).append(" ms of work");
        return line.append(isTerminated() ? ", ended" : isShutdown() ? ", shut down" : "")
                .toString();
    }

    private final class Worker extends Thread {
        /** Created beforehand: see {@link FailureLog}. */
        private final Object completing = "completing a task of compute pool " + ComputePool.this.name;

        Worker(String name) {
            super(name);
        }

        ComputePool pool() {
            return ComputePool.this;
        }

        @Override
        public void run() {
            try {
                for (ComputeTask<?> task = queue.take(); task != null; task = queue.take()) {
                    runOne(task);
                    // An interrupt left by one task must not reach the next.
                    Thread.interrupted();
                }
            } finally {
                queue.removeWorker();
            }
        }

        private void runOne(ComputeTask<?> task) {
            try {
                task.run(clock);
            } catch (Throwable e) {
                // Not thrown by the task: a dependent stage so deep that completing it overflowed the stack, or a lack
                // of memory, which must not end the worker.
                FailureLog.report(completing, e);
            }
        }
    }

    /** Collects the settings of a pool. Not thread-safe; it can open several pools. */
    public static final class Builder {
        private int threads = Runtime.getRuntime().availableProcessors();
        private String name = "compute";
        private boolean daemon;
        private long stepNanos;
        private int queueCapacity = Integer.MAX_VALUE;
        private Clock clock = Clock.system();

        private Builder() {}

        /**
         * Sets how many threads the pool has; the number never changes.
         *
         * @param count at least 1; one per processor by default
         * @return this
         */
        public Builder threads(int count) {
            if (count < 1) {
                throw new IllegalArgumentException("a compute pool needs at least 1 thread, not " + count);
            }
            this.threads = count;
            return this;
        }

        /**
         * Sets the name used in thread names, messages and {@code toString}.
         *
         * @param newName {@code compute} by default
         * @return this
         */
        public Builder name(String newName) {
            this.name = Objects.requireNonNull(newName, "name");
            return this;
        }

        /**
         * Sets whether the threads are daemon threads, which do not keep the JVM running.
         *
         * @param whether false by default, so the pool must be closed
         * @return this
         */
        public Builder daemon(boolean whether) {
            this.daemon = whether;
            return this;
        }

        /**
         * Lets waiting tasks move up, so that LOW work never starves: see {@link ComputePool} for the bound. Without
         * this, tasks do not age.
         *
         * @param step the waiting time after which a task counts as one priority higher; positive
         * @return this
         */
        public Builder ageing(Duration step) {
            this.stepNanos = Durations.positiveNanos(step, "the step of ageing");
            return this;
        }

        /**
         * Limits how many tasks may wait; further ones are refused.
         *
         * @param tasks at least 1; no limit by default
         * @return this
         */
        public Builder queueCapacity(int tasks) {
            if (tasks < 1) {
                throw new IllegalArgumentException(
                        "the queue of a compute pool must hold at least 1 task, not " + tasks);
            }
            this.queueCapacity = tasks;
            return this;
        }

        /**
         * Sets the clock for ageing and execution times.
         *
         * @param newClock the system's clock by default
         * @return this
         */
        public Builder clock(Clock newClock) {
            this.clock = Objects.requireNonNull(newClock, "clock");
            return this;
        }

        /**
         * Opens a pool and starts its threads.
         *
         * @return a running pool, which the caller must close
         */
        public ComputePool open() {
            ComputePool pool = new ComputePool(this);
            pool.start(daemon);
            return pool;
        }
    }
}
