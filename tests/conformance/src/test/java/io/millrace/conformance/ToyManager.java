package io.millrace.conformance;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.CancelResult;
import io.millrace.engine.EventManager;
import io.millrace.engine.Key;
import io.millrace.engine.Priority;
import io.millrace.engine.Task;
import io.millrace.engine.TaskKey;
import io.millrace.poll.Clock;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The least that is an event manager: a thread, a lock and a priority queue, no descriptors (grpc-15). A turn takes what is due by then and runs it
 * by priority; the lock is free meanwhile.
 */
final class ToyManager implements EventManager {
    private enum State {
        WAITING,
        RUNNING,
        DONE
    }

    /** A task, whose time has always come, or an alarm. Guarded by the lock. */
    private static final class Item implements TaskKey, AlarmKey {
        final ToyManager owner;
        final AlarmCallback body;
        final Priority priority;
        final boolean isTask;
        final long period;
        long deadline;
        long number;
        State state = State.WAITING;
        boolean stopped;

        @Nullable
        Thread runner;

        Item(ToyManager owner, AlarmCallback body, Priority priority, boolean isTask, long deadline, long period) {
            this.owner = owner;
            this.body = body;
            this.priority = priority;
            this.isTask = isTask;
            this.deadline = deadline;
            this.period = period;
        }
    }

    private static final System.Logger LOG = System.getLogger(ToyManager.class.getName());

    private static final Comparator<Item> BY_TIME = (a, b) ->
            a.deadline == b.deadline ? Long.compare(a.number, b.number) : Long.signum(a.deadline - b.deadline);
    private static final Comparator<Item> BY_CLASS =
            Comparator.comparing((Item item) -> item.priority).reversed().thenComparingLong(item -> item.number);

    private final Clock clock;
    private final InstantSource wallClock;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    /** Something was handed over, ended or changed. */
    private final Condition changed = lock.newCondition();

    private final PriorityQueue<Item> alarms = new PriorityQueue<>(BY_TIME);
    private List<Item> tasks = new ArrayList<>();
    private long numbers;
    private int references;
    private boolean isShutdown;
    private boolean isRefusing;
    private boolean isTerminated;

    ToyManager(Clock clock, InstantSource wallClock) {
        this.clock = clock;
        this.wallClock = wallClock;
        this.thread = new Thread(this::loop, "toy");
        thread.setDaemon(true);
        thread.start();
    }

    // ---- The thread ----

    private void loop() {
        Runnable unsubscribe = clock.subscribe(() -> locked(changed::signalAll));
        List<Item> turn = new ArrayList<>();
        while (takeTurn(turn)) {
            turn.forEach(item -> run(item, true));
        }
        // Nothing is accepted any more: the last tasks, and all alarms.
        turn.forEach(item -> run(item, item.isTask));
        unsubscribe.run();
        locked(() -> {
            isTerminated = true;
            changed.signalAll();
        });
    }

    /** False for the last turn. */
    private boolean takeTurn(List<Item> turn) {
        lock.lock();
        try {
            turn.clear();
            for (; ; ) {
                long now = clock.nanoTime();
                for (Item next = alarms.peek(); next != null && next.deadline - now <= 0; next = alarms.peek()) {
                    turn.add(alarms.remove());
                }
                turn.addAll(tasks);
                tasks = new ArrayList<>();
                isRefusing = isShutdown && references == 0;
                if (isRefusing) {
                    turn.addAll(alarms);
                    alarms.clear();
                }
                if (isRefusing || !turn.isEmpty()) {
                    turn.sort(BY_CLASS);
                    return !isRefusing;
                }
                Item next = alarms.peek();
                if (next == null) {
                    changed.awaitUninterruptibly();
                } else if (changed.awaitNanos(next.deadline - now) <= 0) {
                    LOG.log(System.Logger.Level.TRACE, "an alarm is due");
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts this thread", e);
        } finally {
            lock.unlock();
        }
    }

    private void run(Item item, boolean fired) {
        lock.lock();
        try {
            if (item.state != State.WAITING) {
                return;
            }
            item.state = State.RUNNING;
            item.runner = Thread.currentThread();
        } finally {
            lock.unlock();
        }
        call(item, fired);
        boolean cutOff = false;
        lock.lock();
        try {
            item.runner = null;
            item.state = State.DONE;
            if (fired && item.period > 0 && !item.stopped) {
                item.state = State.WAITING;
                long missed = Math.max(0, clock.nanoTime() - item.deadline) / item.period;
                item.deadline += (missed + 1) * item.period;
                cutOff = isRefusing;
                if (!cutOff) {
                    alarms.add(item);
                }
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        if (cutOff) {
            run(item, false);
        }
    }

    private static void call(Item item, boolean fired) {
        try {
            item.body.onAlarm(fired);
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.INFO, "a callback threw", e);
        }
    }

    // ---- Handing over ----

    private Item add(Item item) {
        locked(() -> {
            requireAccepting();
            item.number = numbers++;
            if (item.isTask) {
                tasks.add(item);
            } else {
                alarms.add(item);
            }
            changed.signalAll();
        });
        return item;
    }

    private boolean hasEnded() {
        return isRefusing || (isShutdown && references == 0);
    }

    private void requireAccepting() {
        if (hasEnded()) {
            throw new RejectedExecutionException("the toy has shut down");
        }
    }

    private Item task(Runnable work, Priority priority) {
        return new Item(this, fired -> work.run(), priority, true, 0, 0);
    }

    @Override
    public AlarmKey schedule(long deadlineNanos, AlarmCallback callback, Priority priority) {
        return add(new Item(this, callback, priority, false, deadlineNanos, 0));
    }

    @Override
    public AlarmKey scheduleEvery(Duration first, Duration period, AlarmCallback callback, Priority priority) {
        if (!period.isPositive()) {
            throw new IllegalArgumentException("a period is positive, not " + period);
        }
        long deadline = clock.nanoTime() + nanos(first);
        return add(new Item(this, callback, priority, false, deadline, nanos(period)));
    }

    private static long nanos(Duration duration) {
        Duration most = Duration.ofDays(365 * 50);
        return duration.isNegative() ? 0 : (duration.compareTo(most) > 0 ? most : duration).toNanos();
    }

    @Override
    public TaskKey run(Runnable task, Priority priority) {
        return add(task(task, priority));
    }

    @Override
    public List<TaskKey> runAll(List<Task> all) {
        List<TaskKey> keys = new ArrayList<>();
        locked(() -> {
            requireAccepting();
            for (Task task : all) {
                keys.add(add(task(task.work(), task.priority())));
            }
        });
        return keys;
    }

    @Override
    public void execute(Runnable task) {
        run(task, Priority.NORMAL);
    }

    // ---- Cancelling ----

    @Override
    public CancelResult cancel(Key key) {
        Item item = ours(key);
        lock.lock();
        try {
            if (item.state == State.RUNNING) {
                item.stopped = true;
                return CancelResult.RUNNING;
            }
            if (item.state == State.DONE) {
                return CancelResult.DONE;
            }
            item.state = State.RUNNING;
            item.runner = Thread.currentThread();
            alarms.remove(item);
        } finally {
            lock.unlock();
        }
        if (!item.isTask) {
            call(item, false);
        }
        locked(() -> {
            item.runner = null;
            item.state = State.DONE;
            changed.signalAll();
        });
        return CancelResult.CANCELLED;
    }

    @Override
    public CancelResult cancelAndWait(Key key) throws InterruptedException {
        CancelResult result = cancel(key);
        Item item = ours(key);
        lock.lock();
        try {
            if (result != CancelResult.RUNNING || Thread.currentThread().equals(item.runner)) {
                return result;
            }
            while (item.state == State.RUNNING) {
                changed.await();
            }
            return CancelResult.DONE;
        } finally {
            lock.unlock();
        }
    }

    private Item ours(Key key) {
        if (key instanceof Item item && item.owner == this) {
            return item;
        }
        throw new IllegalArgumentException(key + " is no key of this manager");
    }

    // ---- Ending ----

    @Override
    public void shutdownRef() {
        locked(() -> {
            if (hasEnded()) {
                throw new IllegalStateException("it has ended");
            }
            references++;
        });
    }

    @Override
    public void shutdownUnref() {
        locked(() -> {
            if (references == 0) {
                throw new IllegalStateException("no reference is held");
            }
            references--;
            changed.signalAll();
        });
    }

    @Override
    public void shutdown() {
        locked(() -> {
            isShutdown = true;
            changed.signalAll();
        });
    }

    @Override
    public boolean isShutdown() {
        lock.lock();
        try {
            return isShutdown;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean isTerminated() {
        lock.lock();
        try {
            return isTerminated;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean awaitTermination(Duration atMost) throws InterruptedException {
        long left = nanos(atMost);
        lock.lockInterruptibly();
        try {
            while (!isTerminated && left > 0) {
                left = changed.awaitNanos(left);
            }
            return isTerminated;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean inManager() {
        return Thread.currentThread().equals(thread);
    }

    @Override
    public Clock clock() {
        return clock;
    }

    @Override
    public InstantSource wallClock() {
        return wallClock;
    }

    private void locked(Runnable section) {
        lock.lock();
        try {
            section.run();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return "a toy of an event manager";
    }
}
