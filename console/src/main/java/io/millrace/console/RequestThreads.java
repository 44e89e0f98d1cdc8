package io.millrace.console;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The threads that answer requests. The JDK's HTTP server reads a request, and writes the answer, on the thread that
 * handles it, without a time limit: a few clients that send a header each minute would keep all threads for ever. So each
 * request has a deadline, after which its thread is interrupted, which closes its connection.
 *
 * <p>All threads are daemons, and end when there is nothing to do.
 */
final class RequestThreads implements Executor {
    /**
     * Bounded: a flood of requests is refused instead of filling the heap of the server that is looked at. Not fewer, and
     * no queue: behind some clients that are slow to ask, the next one would wait until their time is over.
     */
    private static final int THREADS = 64;

    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            0, THREADS, 1, TimeUnit.SECONDS, new SynchronousQueue<>(), work -> thread(work, "millrace-console"));
    private final ScheduledThreadPoolExecutor clock =
            new ScheduledThreadPoolExecutor(1, work -> thread(work, "millrace-console-clock"));

    @SuppressWarnings("ThreadLocalUsage") // removed after each request; a static one would mix up two consoles
    private final ThreadLocal<@Nullable Deadline> present = new ThreadLocal<>();

    private final Duration toRead;
    private final Duration toAnswer;

    /**
     * @param toRead how long a client may take to send a request
     * @param toAnswer how long it may take to receive the answer
     */
    RequestThreads(Duration toRead, Duration toAnswer) {
        this.toRead = toRead;
        this.toAnswer = toAnswer;
        clock.setKeepAliveTime(1, TimeUnit.SECONDS);
        clock.allowCoreThreadTimeOut(true);
        clock.setRemoveOnCancelPolicy(true);
    }

    private static Thread thread(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public void execute(Runnable request) {
        threads.execute(() -> {
            try (Deadline deadline = new Deadline(toRead)) {
                present.set(deadline);
                request.run();
            } catch (RejectedExecutionException e) {
                // Closed between two statements: the request is cut off with all others.
            } finally {
                present.remove();
            }
        });
    }

    /** The calling thread has read its request. */
    void haveRead() {
        Deadline deadline = present.get();
        if (deadline != null) {
            deadline.extend(toAnswer);
        }
    }

    void close() {
        clock.shutdownNow();
        threads.shutdownNow();
    }

    /** Interrupts the thread that made it, unless it is closed in time. */
    private final class Deadline implements AutoCloseable {
        private final Thread thread = Thread.currentThread();
        /** Guarded by this, as the interrupt: one that came too late would hit the thread's next request. */
        private @Nullable Future<?> alarm;

        Deadline(Duration after) {
            extend(after);
        }

        synchronized void extend(Duration after) {
            if (alarm != null) {
                alarm.cancel(false);
            }
            alarm = clock.schedule(this::pass, after.toNanos(), TimeUnit.NANOSECONDS);
        }

        private synchronized void pass() {
            if (alarm != null) {
                thread.interrupt();
            }
        }

        @Override
        public synchronized void close() {
            if (alarm != null) {
                alarm.cancel(false);
                alarm = null;
            }
            boolean ignored = Thread.interrupted();
        }
    }
}
