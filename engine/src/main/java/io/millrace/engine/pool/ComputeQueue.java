package io.millrace.engine.pool;

import io.millrace.engine.Priority;
import io.millrace.poll.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The waiting tasks of a {@link ComputePool}, the choice of the next one, and the counters.
 *
 * <p><b>Order.</b> There is one list per priority, in the order of arrival. Without ageing, the next task is the head
 * of the highest list that is not empty. With ageing, a task's <em>level</em> is its priority plus one for each whole
 * step that it has waited, up to that of {@link Priority#MAX}; the next task is the one with the highest level and,
 * among equals, the one that was submitted first. Tasks never move between lists: within a list no task has waited
 * longer than the head (Q1), so only the five heads have to be compared.
 *
 * <p><b>Counters.</b> Every counter changes under the one lock, together with the step that it counts, so each snapshot
 * adds up (Q2: submitted = completed + failed + cancelled + active + depth). No user code runs under the lock; even the
 * clock is read before it is taken.
 */
final class ComputeQueue {
    enum Admission {
        QUEUED,
        FULL,
        SHUT_DOWN
    }

    private final Clock clock;
    /** 0 if tasks do not age. */
    private final long stepNanos;

    private final int capacity;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Condition ended = lock.newCondition();
    /**
     * Completes when the queue was shut down and no worker is left. Never completed under the lock, because stages may
     * depend on it.
     */
    private final CompletableFuture<Void> end = new CompletableFuture<>();

    private static final int CLASSES = Priority.values().length;

    private final Line[] lines = new Line[CLASSES];

    private boolean shutdown;
    private int workers;
    private int waiting;
    private int active;
    private long submitted;
    private long completed;
    private long failed;
    private long cancelled;
    private long rejected;
    private long executionNanos;

    ComputeQueue(Clock clock, long stepNanos, int capacity) {
        this.clock = clock;
        this.stepNanos = stepNanos;
        this.capacity = capacity;
        for (int i = 0; i < lines.length; i++) {
            lines[i] = new Line();
        }
    }

    private long now() {
        return stepNanos == 0 ? 0 : clock.nanoTime();
    }

    Admission add(ComputeTask<?> task) {
        long now = now();
        lock.lock();
        try {
            if (shutdown || waiting >= capacity) {
                rejected++;
                return shutdown ? Admission.SHUT_DOWN : Admission.FULL;
            }
            task.sequence = submitted++;
            task.sinceNanos = now;
            task.queued = true;
            waiting++;
            lines[task.priority.level()].append(task);
            work.signal();
            return Admission.QUEUED;
        } finally {
            lock.unlock();
        }
    }

    /** Removes a task that has not started. Returns false if it has, or was removed already. */
    boolean withdraw(ComputeTask<?> task) {
        lock.lock();
        try {
            if (!task.queued) {
                return false;
            }
            takeOut(task);
            cancelled++;
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void takeOut(ComputeTask<?> task) {
        lines[task.priority.level()].remove(task);
        task.queued = false;
        waiting--;
    }

    void addWorker() {
        lock.lock();
        try {
            workers++;
        } finally {
            lock.unlock();
        }
    }

    void removeWorker() {
        lock.lock();
        try {
            workers--;
            ended.signalAll();
        } finally {
            lock.unlock();
        }
        completeEnd();
    }

    private void completeEnd() {
        if (hasEnded()) {
            end.complete(null);
        }
    }

    CompletableFuture<Void> end() {
        return end;
    }

    /**
     * Waits for the next task. Returns null if there will be no more. The task counts as active until {@link
     * #countFinished}.
     */
    @Nullable
    ComputeTask<?> take() {
        for (; ; ) {
            long now = now();
            lock.lock();
            try {
                ComputeTask<?> next = next(now);
                if (next != null) {
                    takeOut(next);
                    if (!next.isDone()) {
                        active++;
                        return next;
                    }
                    cancelled++; // completed from outside, for example by completeAsync
                } else if (shutdown) {
                    return null;
                } else {
                    // Without a timeout: an idle pool makes no system call.
                    work.awaitUninterruptibly();
                }
            } finally {
                lock.unlock();
            }
        }
    }

    private @Nullable ComputeTask<?> next(long now) {
        ComputeTask<?> best = null;
        long bestLevel = -1;
        for (int i = CLASSES - 1; i >= 0; i--) {
            ComputeTask<?> head = lines[i].head;
            if (head == null) {
                continue;
            }
            if (stepNanos == 0) {
                return head;
            }
            // Negative if the task arrived after the clock was read.
            long steps = Math.max(0, now - head.sinceNanos) / stepNanos;
            long level = Math.min(i + steps, Priority.MAX.level());
            if (best == null || level > bestLevel || (level == bestLevel && head.sequence < best.sequence)) {
                best = head;
                bestLevel = level;
            }
        }
        return best;
    }

    void countFinished(boolean successfully, long nanos) {
        lock.lock();
        try {
            active--;
            executionNanos += nanos;
            if (successfully) {
                completed++;
            } else {
                failed++;
            }
        } finally {
            lock.unlock();
        }
    }

    void shutdown() {
        lock.lock();
        try {
            shutdown = true;
            work.signalAll();
            ended.signalAll(); // in case there is no worker
        } finally {
            lock.unlock();
        }
        completeEnd();
    }

    /** Returns the waiting tasks, by priority and then by arrival. */
    List<ComputeTask<?>> waiting() {
        lock.lock();
        try {
            List<ComputeTask<?>> all = new ArrayList<>(waiting);
            for (int i = CLASSES - 1; i >= 0; i--) {
                for (ComputeTask<?> task = lines[i].head; task != null; task = task.behind) {
                    all.add(task);
                }
            }
            return all;
        } finally {
            lock.unlock();
        }
    }

    boolean isShutdown() {
        lock.lock();
        try {
            return shutdown;
        } finally {
            lock.unlock();
        }
    }

    boolean hasEnded() {
        lock.lock();
        try {
            return shutdown && workers == 0;
        } finally {
            lock.unlock();
        }
    }

    boolean awaitEnd(long atMostNanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = atMostNanos;
            while (!(shutdown && workers == 0)) {
                if (left <= 0) {
                    return false;
                }
                left = ended.awaitNanos(left);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    ComputePoolMetrics metrics() {
        lock.lock();
        try {
            assert submitted == completed + failed + cancelled + active + waiting : "Q2";
            Map<Priority, Integer> depths = new EnumMap<>(Priority.class);
            for (Priority priority : Priority.values()) {
                depths.put(priority, lines[priority.level()].size);
            }
            return new ComputePoolMetrics(
                    submitted,
                    completed,
                    failed,
                    cancelled,
                    rejected,
                    active,
                    depths,
                    Duration.ofNanos(executionNanos));
        } finally {
            lock.unlock();
        }
    }

    /**
     * The tasks of one priority in the order of arrival. They are linked through the tasks themselves, so that any task
     * can be removed in constant time.
     */
    private static final class Line {
        @Nullable
        ComputeTask<?> head;

        private @Nullable ComputeTask<?> tail;
        int size;

        void append(ComputeTask<?> task) {
            ComputeTask<?> last = tail;
            if (last == null) {
                head = task;
            } else {
                // Q1: two threads may read the clock in one order and queue up in the other.
                if (task.sinceNanos - last.sinceNanos < 0) {
                    task.sinceNanos = last.sinceNanos;
                }
                last.behind = task;
                task.before = last;
            }
            tail = task;
            size++;
        }

        void remove(ComputeTask<?> task) {
            ComputeTask<?> before = task.before;
            ComputeTask<?> behind = task.behind;
            if (before == null) {
                head = behind;
            } else {
                before.behind = behind;
            }
            if (behind == null) {
                tail = before;
            } else {
                behind.before = before;
            }
            task.before = null;
            task.behind = null;
            size--;
        }
    }
}
