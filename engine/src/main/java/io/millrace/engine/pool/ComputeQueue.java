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
 * What waits in a {@link ComputePool}, who is next, and the books.
 *
 * <p><b>Order.</b> One list per priority, in the order of arrival. Without ageing the next task is the head of the highest list that is not
 * empty. With ageing, a task's <em>level</em> is its priority plus one for each whole step that it has waited, at most that of {@link
 * Priority#MAX}; the next task is the one with the highest level, among equals the one that was submitted first. No task is ever moved:
 * within one list nobody has waited longer than the head (Q1), so the heads are the only candidates, and five are looked at.
 *
 * <p><b>Books.</b> Every number changes under the one lock, together with the step that it counts, so each snapshot adds up (Q2: submitted =
 * completed + failed + cancelled + active + depth). No user code runs under the lock; even the clock is read before it is taken.
 */
final class ComputeQueue {
    enum Admission {
        QUEUED,
        FULL,
        SHUT_DOWN
    }

    private final Clock clock;
    /** 0: nothing ages. */
    private final long stepNanos;

    private final int capacity;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Condition ended = lock.newCondition();
    /** Completed when it was shut down and no worker is left; never under the lock, because stages may depend on it. */
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

    /** Takes a task out that has not begun; false if it has, or is out already. */
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

    void workerStarts() {
        lock.lock();
        try {
            workers++;
        } finally {
            lock.unlock();
        }
    }

    void workerEnds() {
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

    /** Waits for the next task; null if there will be none any more. What it returns is active until {@link #finished}. */
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
                    cancelled++; // completed behind our back, e.g. by completeAsync
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
            // Negative if it came after the clock was read.
            long steps = Math.max(0, now - head.sinceNanos) / stepNanos;
            long level = Math.min(i + steps, Priority.MAX.level());
            if (best == null || level > bestLevel || (level == bestLevel && head.sequence < best.sequence)) {
                best = head;
                bestLevel = level;
            }
        }
        return best;
    }

    void finished(boolean successfully, long nanos) {
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
            ended.signalAll(); // if it has no worker
        } finally {
            lock.unlock();
        }
        completeEnd();
    }

    /** What waits now, the next one first as far as that is fixed: by priority, then by arrival. */
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

    /** The tasks of one priority in the order of arrival; linked through the tasks, so that any can leave at once. */
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
                // Q1: two threads that read the clock and then queued up the other way round.
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
