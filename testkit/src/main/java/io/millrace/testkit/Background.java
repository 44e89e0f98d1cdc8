package io.millrace.testkit;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A second thread of a test. What it throws is thrown again by {@link #result}, so a failed assertion on it fails the
 * test.
 *
 * <p>It is a daemon thread: a test that hangs does not keep the JVM alive.
 *
 * @param <T> the type of what the thread computes
 */
public final class Background<T> {
    /** Work that may fail. */
    @FunctionalInterface
    public interface Work {
        /**
         * Runs on the other thread.
         *
         * @throws Exception if it fails
         */
        void run() throws Exception;
    }

    private final FutureTask<T> task;
    private final Thread thread;

    private Background(Callable<T> work) {
        this.task = new FutureTask<>(work);
        this.thread = Thread.ofPlatform().name("testkit-background").daemon().start(task);
    }

    /**
     * Starts a thread that computes something.
     *
     * @param work what to compute
     * @param <T> the type of the result
     * @return the running thread
     */
    public static <T> Background<T> call(Callable<T> work) {
        return new Background<>(work);
    }

    /**
     * Starts a thread.
     *
     * @param work what to do
     * @return the running thread; its result is true
     */
    public static Background<Boolean> run(Work work) {
        return new Background<>(() -> {
            work.run();
            return true;
        });
    }

    /**
     * Returns the thread itself.
     *
     * @return a daemon thread
     */
    public Thread thread() {
        return thread;
    }

    /**
     * Returns whether the thread has ended.
     *
     * @return true even if it failed
     */
    public boolean isDone() {
        return task.isDone();
    }

    /**
     * Waits for the end of the thread.
     *
     * @return what it computed
     * @throws AssertionError if it takes longer than {@link Await#DEADLINE}, or threw
     */
    public T result() {
        try {
            return task.get(Await.DEADLINE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            AssertionError hung = new AssertionError("the background thread still runs", e);
            hung.setStackTrace(thread.getStackTrace());
            throw hung;
        } catch (ExecutionException e) {
            throw new AssertionError("the background thread failed: " + e.getCause(), e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for the background thread", e);
        }
    }

    /**
     * Waits for the failure with which it must end.
     *
     * @param type what it must throw
     * @param <E> the type
     * @return what it threw
     */
    public <E extends Throwable> E failure(Class<E> type) {
        try {
            T value = task.get(Await.DEADLINE.toNanos(), TimeUnit.NANOSECONDS);
            throw new AssertionError("expected " + type.getName() + ", but it returned " + value);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (type.isInstance(cause)) {
                return type.cast(cause);
            }
            throw new AssertionError("expected " + type.getName() + ", but it threw " + cause, cause);
        } catch (TimeoutException e) {
            throw new AssertionError("expected " + type.getName() + ", but it still runs", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while waiting for the background thread", e);
        }
    }
}
