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
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Runs tasks and alarms on threads of its own: the part of gRPC's EventManager that knows nothing of descriptors.
 *
 * <p>{@link Reactors} is the one that Millrace brings. You may write another, e.g. over the event loop that your program has already, and give
 * it to {@link GlobalEventManager#register}: all that Millrace does then runs there. {@code EventManagerContract} in {@code millrace-testkit} is the
 * test suite that it must pass. {@link ReadinessEventManager} and {@link CompletionEventManager} add descriptors.
 *
 * <p><b>What it guarantees.</b> A task runs once, or is cancelled and never runs. An alarm's callback runs once: with true not before its
 * deadline, or with false. Both run on a thread of the manager, never inside the call that handed them over, except a cancelled alarm's, which runs
 * inside {@link #cancel}. A callback that throws is reported, and everything else goes on.
 *
 * <p><b>Threads.</b> Any thread may call anything, callbacks too. No lock is held while a callback runs. Callbacks must not block:
 * others wait behind them.
 *
 * <p><b>Ending.</b> {@link #shutdown} begins it. While somebody holds a reference ({@link #shutdownRef}) everything is still accepted.
 * When the last is gone, tasks that are queued run, alarms that are pending get false, and from then on calls are refused with a {@link
 * RejectedExecutionException}.
 */
public interface EventManager extends Executor, AutoCloseable {
    /**
     * The clock of its deadlines.
     *
     * @return the same one on every call
     */
    Clock clock();

    /**
     * The wall clock by which an {@link Instant} becomes a deadline, once, when it is handed over.
     *
     * @return the system's, unless the manager has another
     */
    default InstantSource wallClock() {
        return InstantSource.system();
    }

    // ---- Alarms ----

    /**
     * Runs a callback at a time. A time that has passed means the next turn, never this call.
     *
     * @param deadlineNanos nanoseconds of {@link #clock}
     * @param callback gets true not before that time
     * @param priority its class among what is due at once
     * @return to cancel it
     * @throws RejectedExecutionException if the manager has ended
     */
    AlarmKey schedule(long deadlineNanos, AlarmCallback callback, Priority priority);

    /**
     * Runs a callback after some time.
     *
     * @param delay from now; zero or less means the next turn
     * @param callback gets true not before that time
     * @param priority its class among what is due at once
     * @return to cancel it
     * @throws RejectedExecutionException if the manager has ended
     */
    default AlarmKey schedule(Duration delay, AlarmCallback callback, Priority priority) {
        return schedule(clock().nanoTime() + Durations.nanosOrZero(delay), callback, priority);
    }

    /**
     * Runs a callback after some time, with normal priority.
     *
     * @param delay from now; zero or less means the next turn
     * @param callback gets true not before that time
     * @return to cancel it
     * @throws RejectedExecutionException if the manager has ended
     */
    default AlarmKey schedule(Duration delay, AlarmCallback callback) {
        return schedule(delay, callback, Priority.NORMAL);
    }

    /**
     * Runs a callback at a time of day. The time is converted now: what happens to the wall clock later changes nothing.
     *
     * @param time by {@link #wallClock}
     * @param callback gets true not before that time
     * @param priority its class among what is due at once
     * @return to cancel it
     * @throws RejectedExecutionException if the manager has ended
     */
    default AlarmKey schedule(Instant time, AlarmCallback callback, Priority priority) {
        return schedule(Duration.between(wallClock().instant(), time), callback, priority);
    }

    /**
     * Runs a callback again and again, at a fixed rate. Times that a slow callback or a stalled thread has missed are left out, not made up
     * for. One time that throws is reported, and the next comes all the same. The callback gets true each time, and false once at the end: when it is cancelled while it does not run, or the manager ends.
     *
     * @param first from now to the first time
     * @param period from one time to the next, positive
     * @param callback gets true each time
     * @param priority its class among what is due at once
     * @return to cancel it; then it does not run again
     * @throws IllegalArgumentException if the period is not positive
     * @throws RejectedExecutionException if the manager has ended
     */
    AlarmKey scheduleEvery(Duration first, Duration period, AlarmCallback callback, Priority priority);

    // ---- Tasks ----

    /**
     * Runs a task as soon as its turn comes.
     *
     * @param task what to run
     * @param priority its class
     * @return to cancel it
     * @throws RejectedExecutionException if the manager has ended
     */
    TaskKey run(Runnable task, Priority priority);

    /**
     * Runs a task of normal priority as soon as its turn comes.
     *
     * @param task what to run
     * @return to cancel it
     * @throws RejectedExecutionException if the manager has ended
     */
    default TaskKey run(Runnable task) {
        return run(task, Priority.NORMAL);
    }

    /**
     * Runs several tasks, handed over together: with one wake-up, and those of a class in the order of the list.
     *
     * @param tasks each with its own priority
     * @return a key for each, in the order of the list
     * @throws RejectedExecutionException if the manager has ended; then none runs
     */
    List<TaskKey> runAll(List<Task> tasks);

    /**
     * The fast way in: runs a task of normal priority that cannot be cancelled.
     *
     * @param task what to run
     * @throws RejectedExecutionException if the manager has ended
     */
    @Override
    void execute(Runnable task);

    // ---- Cancelling ----

    /**
     * Cancels a task or an alarm if it has not begun. An alarm's callback then runs with false, here and now, on the calling thread.
     * After this returned CANCELLED or DONE, no callback of that key begins. What that callback throws is reported as from any other, and not thrown here. Called
     * from inside the callback it finds it RUNNING.
     *
     * @param key of this manager
     * @return what became of it
     * @throws IllegalArgumentException if the key is another manager's
     */
    CancelResult cancel(Key key);

    /**
     * Like {@link #cancel}, but if it is running, waits until it has ended. Called from inside that very callback it does not wait, and returns
     * {@link CancelResult#RUNNING}. Two callbacks that wait for each other wait for ever: prefer {@link #cancel} in callbacks.
     *
     * @param key of this manager
     * @return CANCELLED, DONE, or RUNNING from inside
     * @throws InterruptedException if interrupted while waiting; nothing is changed then
     * @throws IllegalArgumentException if the key is another manager's
     */
    CancelResult cancelAndWait(Key key) throws InterruptedException;

    // ---- Ending ----

    /**
     * Keeps the manager from ending until {@link #shutdownUnref}.
     *
     * @throws IllegalStateException if it has ended already
     */
    void shutdownRef();

    /**
     * Takes back one {@link #shutdownRef}. If it was the last and {@link #shutdown} was called, the manager ends.
     *
     * @throws IllegalStateException if there is no reference left to take back; nothing is changed
     */
    void shutdownUnref();

    /** Begins the end; does not wait for it. Idempotent, from any thread. */
    void shutdown();

    /**
     * Whether {@link #shutdown} was called.
     *
     * @return true from then on
     */
    boolean isShutdown();

    /**
     * Whether it has ended: no callback runs any more.
     *
     * @return true from then on
     */
    boolean isTerminated();

    /**
     * Waits until it has ended.
     *
     * @param atMost how long
     * @return false if the time is over and it has not ended
     * @throws InterruptedException if interrupted
     */
    boolean awaitTermination(Duration atMost) throws InterruptedException;

    /**
     * Shuts down and waits for the end, which references and running callbacks defer, for ten seconds at most; what has not ended by then is logged. Called from a callback of this manager it does not
     * wait. An interrupt does not cut it short: it is kept for the caller. Idempotent.
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
     * Whether the calling thread is one that runs this manager's callbacks.
     *
     * @return true inside its callbacks
     */
    boolean inManager();

    /**
     * This manager as a {@link java.util.concurrent.ScheduledExecutorService}, for code that wants one.
     *
     * @return a view: shutting it down shuts down the manager
     */
    default java.util.concurrent.ScheduledExecutorService asScheduledExecutor() {
        return new ScheduledExecutorAdapter(Objects.requireNonNull(this));
    }
}
