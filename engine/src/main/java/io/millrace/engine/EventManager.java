package io.millrace.engine;

import io.millrace.engine.internal.Deadline;
import io.millrace.engine.internal.FailureLog;
import io.millrace.poll.Clock;
import io.millrace.poll.internal.Durations;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks and alarms on its own threads: the part of gRPC's EventManager that does not involve descriptors.
 *
 * <p>{@link Reactors} is Millrace's implementation. You can write your own, for example on the event loop that your
 * program already has, and pass it to {@link GlobalEventManager#register}; everything in Millrace then runs there. It
 * must pass the test suite {@code EventManagerContract} in {@code millrace-testkit}. {@link ReadinessEventManager} and
 * {@link CompletionEventManager} add descriptors.
 *
 * <p><b>What it guarantees.</b> A task runs once, or is cancelled and never runs. The callback of an alarm runs once:
 * with true, at its deadline or later, or with false if the alarm was cancelled or the manager ended. Both run on a
 * thread of the manager, never inside the call that submitted them. The one exception is a cancelled alarm, whose
 * callback runs inside {@link #cancel}. If a callback throws, that is reported, and everything else goes on.
 *
 * <p><b>Threads.</b> Any thread may call any method, including from callbacks. No lock is held while a callback runs.
 * Callbacks must not block, because others wait behind them.
 *
 * <p><b>Ending.</b> {@link #shutdown} starts the end. As long as a reference is held ({@link #shutdownRef}), everything
 * is still accepted. When the last reference is gone, queued tasks run, pending alarms get false, and from then on all
 * calls throw a {@link RejectedExecutionException}.
 */
public interface EventManager extends Executor, AutoCloseable {
    /**
     * Returns the clock by which deadlines are measured.
     *
     * @return always the same one
     */
    Clock clock();

    /**
     * Returns the wall clock, by which an {@link Instant} is converted to a deadline when it is passed in.
     *
     * @return the system's wall clock, unless the manager has another one
     */
    default InstantSource wallClock() {
        return InstantSource.system();
    }

    // ---- Alarms ----

    /**
     * Runs a callback at a given time. If that time has passed, the callback runs in the next turn, never inside this
     * call.
     *
     * @param deadlineNanos the time in nanoseconds of {@link #clock}
     * @param callback called with true at that time or later
     * @param priority its priority among everything that is due
     * @return a key to cancel it
     * @throws RejectedExecutionException if the manager has ended
     */
    AlarmKey schedule(long deadlineNanos, AlarmCallback callback, Priority priority);

    /**
     * Runs a callback after a delay.
     *
     * @param delay from now; zero or less means the next turn
     * @param callback called with true after that time
     * @param priority its priority among everything that is due
     * @return a key to cancel it
     * @throws RejectedExecutionException if the manager has ended
     */
    default AlarmKey schedule(Duration delay, AlarmCallback callback, Priority priority) {
        return schedule(clock().nanoTime() + Durations.nanosOrZero(delay), callback, priority);
    }

    /**
     * Runs a callback after a delay, with normal priority.
     *
     * @param delay from now; zero or less means the next turn
     * @param callback called with true after that time
     * @return a key to cancel it
     * @throws RejectedExecutionException if the manager has ended
     */
    default AlarmKey schedule(Duration delay, AlarmCallback callback) {
        return schedule(delay, callback, Priority.NORMAL);
    }

    /**
     * Runs a callback at a time of day. The time is converted to a deadline now; later changes of the wall clock have
     * no effect.
     *
     * @param time a time of {@link #wallClock}
     * @param callback called with true at that time or later
     * @param priority its priority among everything that is due
     * @return a key to cancel it
     * @throws RejectedExecutionException if the manager has ended
     */
    default AlarmKey schedule(Instant time, AlarmCallback callback, Priority priority) {
        return schedule(Duration.between(wallClock().instant(), time), callback, priority);
    }

    /**
     * Runs a callback repeatedly, at a fixed rate. Times that were missed because a callback was slow or the thread was
     * held up are skipped, not made up for. If the callback throws, that is reported, and the next time comes
     * nevertheless. The callback gets true each time, and false once at the end, when it is cancelled while it is not
     * running or when the manager ends.
     *
     * @param first the delay from now to the first time
     * @param period the time between two calls, positive
     * @param callback called with true each time
     * @param priority its priority among everything that is due
     * @return a key to cancel it
     * @throws IllegalArgumentException if the period is not positive
     * @throws RejectedExecutionException if the manager has ended
     */
    AlarmKey scheduleEvery(Duration first, Duration period, AlarmCallback callback, Priority priority);

    /**
     * Returns a future that the manager completes after a delay, on one of its threads. Cancelling the future cancels
     * the alarm; the end of the manager cancels the future. To keep the timeouts of a set of futures on this manager,
     * build the set with {@code alarms(Delays.of(manager::after))}.
     *
     * @param delay from now; zero or less means the next turn
     * @return a future
     * @throws RejectedExecutionException if the manager has ended
     */
    default CompletableFuture<@Nullable Void> after(Duration delay) {
        return AlarmFuture.of(this, callback -> schedule(delay, callback), this::cancel);
    }

    // ---- Tasks ----

    /**
     * Runs a task as soon as its turn comes.
     *
     * @param task what to run
     * @param priority its priority
     * @return a key to cancel it
     * @throws RejectedExecutionException if the manager has ended
     */
    TaskKey run(Runnable task, Priority priority);

    /**
     * Runs a task of normal priority as soon as its turn comes.
     *
     * @param task what to run
     * @return a key to cancel it
     * @throws RejectedExecutionException if the manager has ended
     */
    default TaskKey run(Runnable task) {
        return run(task, Priority.NORMAL);
    }

    /**
     * Runs several tasks that are submitted together: with a single wake-up, and with tasks of the same priority in the
     * order of the list.
     *
     * @param tasks each with its own priority
     * @return a key for each, in the same order
     * @throws RejectedExecutionException if the manager has ended; then none of them runs
     */
    List<TaskKey> runAll(List<Task> tasks);

    /**
     * Runs a task of normal priority that cannot be cancelled. This is the fastest way to submit a task.
     *
     * @param task what to run
     * @throws RejectedExecutionException if the manager has ended
     */
    @Override
    void execute(Runnable task);

    // ---- Cancelling ----

    /**
     * Cancels a task or an alarm that has not started. The callback of a cancelled alarm then runs with false, on the
     * calling thread, before this returns. After this has returned CANCELLED or DONE, no callback of that key starts.
     * If the callback throws, that is reported like any other failure and not thrown here. Called from inside its own
     * callback, it returns RUNNING.
     *
     * @param key a key of this manager
     * @return what became of it
     * @throws IllegalArgumentException if the key belongs to another manager
     */
    CancelResult cancel(Key key);

    /**
     * Like {@link #cancel}, but if the callback is running, waits until it has returned. Called from inside that same
     * callback, it does not wait and returns {@link CancelResult#RUNNING}. Two callbacks that wait for each other wait
     * for ever, so prefer {@link #cancel} in callbacks.
     *
     * @param key a key of this manager
     * @return CANCELLED or DONE, or RUNNING from inside the callback
     * @throws InterruptedException if interrupted while waiting; nothing is changed then
     * @throws IllegalArgumentException if the key belongs to another manager
     */
    CancelResult cancelAndWait(Key key) throws InterruptedException;

    // ---- Ending ----

    /**
     * Keeps the manager from ending until {@link #shutdownUnref} is called.
     *
     * @throws IllegalStateException if it has already ended
     */
    void shutdownRef();

    /**
     * Releases one {@link #shutdownRef}. If it was the last one and {@link #shutdown} was called, the manager ends.
     *
     * @throws IllegalStateException if there is no reference to release; nothing is changed
     */
    void shutdownUnref();

    /** Starts to end the manager, without waiting. Idempotent; any thread may call it. */
    void shutdown();

    /**
     * Returns whether {@link #shutdown} was called.
     *
     * @return true from then on
     */
    boolean isShutdown();

    /**
     * Returns whether the manager has ended, so that no callback is running any more.
     *
     * @return true from then on
     */
    boolean isTerminated();

    /**
     * Waits until the manager has ended.
     *
     * @param atMost how long to wait
     * @return false if it has not ended in that time
     * @throws InterruptedException if interrupted
     */
    boolean awaitTermination(Duration atMost) throws InterruptedException;

    /**
     * Shuts down and waits for the end for at most ten seconds; references that are held and callbacks that are running
     * delay it. Whatever has not ended by then is logged. Called from a callback of this manager, it does not wait. An
     * interrupt does not cut the wait short; the interrupt status is restored for the caller. Idempotent.
     */
    @Override
    default void close() {
        shutdown();
        if (inManager()) {
            return;
        }
        boolean interrupted = false;
        long deadline = System.nanoTime() + Deadline.OF_CLOSE.toNanos();
        for (long left = deadline - System.nanoTime();
                left > 0 && !isTerminated();
                left = deadline - System.nanoTime()) {
            try {
                awaitTermination(Duration.ofNanos(left));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (!isTerminated()) {
            FailureLog.warn("closed " + this + ", which has not ended within " + Deadline.OF_CLOSE.toSeconds()
                    + " s: something it runs does not return, or a reference (shutdownRef) is held");
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Returns whether the calling thread is one that runs this manager's callbacks.
     *
     * @return true inside its callbacks
     */
    boolean inManager();

    /**
     * Returns this manager as a {@link java.util.concurrent.ScheduledExecutorService}, for code that needs one.
     *
     * @return a view; shutting it down shuts down the manager
     */
    default java.util.concurrent.ScheduledExecutorService asScheduledExecutor() {
        return new ScheduledExecutorAdapter(Objects.requireNonNull(this));
    }
}
