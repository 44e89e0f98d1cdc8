package io.millrace.engine;

import io.millrace.poll.ManualClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An {@link EventManager} without a thread: whoever calls {@link #turn} is its thread for as long. For tests of what is written against the
 * interface; time is a {@link ManualClock}, so nothing happens but what the test makes happen.
 */
final class HandCrankedManager implements EventManager {
    private final ManualClock clock = new ManualClock();
    private final CountDownLatch terminated = new CountDownLatch(1);

    // Guarded by this.
    private final Queue<Item> tasks = new ArrayDeque<>();
    private final List<Item> alarms = new ArrayList<>();
    private @Nullable Item running;
    private int refs;
    private boolean shutdown;

    private volatile @Nullable Thread cranking;

    private static final class Item implements AlarmKey, TaskKey {
        final long deadline;
        final AlarmCallback callback;

        Item(long deadline, AlarmCallback callback) {
            this.deadline = deadline;
            this.callback = callback;
        }
    }

    /** Runs what is queued and what is due, and what that queues, until there is nothing more. */
    void turn() {
        cranking = Thread.currentThread();
        try {
            for (Item next = next(); next != null; next = next()) {
                next.callback.onAlarm(true);
            }
            if (isEnding()) {
                cutOff().forEach(alarm -> alarm.callback.onAlarm(false));
                terminated.countDown();
            }
        } finally {
            cranking = null;
        }
    }

    void advance(Duration by) {
        clock.advance(by);
        turn();
    }

    synchronized int pending() {
        return tasks.size() + alarms.size();
    }

    private synchronized @Nullable Item next() {
        running = tasks.poll();
        if (running == null) {
            Optional<Item> due = alarms.stream()
                    .filter(alarm -> alarm.deadline - clock.nanoTime() <= 0)
                    .min(Comparator.comparingLong(alarm -> alarm.deadline));
            due.ifPresent(alarms::remove);
            running = due.orElse(null);
        }
        return running;
    }

    private synchronized boolean isEnding() {
        return shutdown && refs == 0;
    }

    private synchronized List<Item> cutOff() {
        List<Item> all = List.copyOf(alarms);
        alarms.clear();
        return all;
    }

    @Override
    public ManualClock clock() {
        return clock;
    }

    @Override
    public synchronized AlarmKey schedule(long deadlineNanos, AlarmCallback callback, Priority priority) {
        Item alarm = new Item(deadlineNanos, callback);
        accept();
        alarms.add(alarm);
        return alarm;
    }

    @Override
    public synchronized TaskKey run(Runnable task, Priority priority) {
        Item item = new Item(0, fired -> task.run());
        accept();
        tasks.add(item);
        return item;
    }

    private void accept() {
        if (isEnding()) {
            throw new RejectedExecutionException("the crank is gone");
        }
    }

    @Override
    public void execute(Runnable task) {
        run(task);
    }

    @Override
    public CancelResult cancel(Key key) {
        Item item = (Item) key;
        synchronized (this) {
            if (running == item) {
                return CancelResult.RUNNING;
            }
            if (tasks.remove(item)) {
                return CancelResult.CANCELLED;
            }
            if (!alarms.remove(item)) {
                return CancelResult.DONE;
            }
        }
        item.callback.onAlarm(false);
        return CancelResult.CANCELLED;
    }

    @Override
    public synchronized void shutdownRef() {
        refs++;
    }

    @Override
    public synchronized void shutdownUnref() {
        refs--;
    }

    @Override
    public synchronized void shutdown() {
        shutdown = true;
    }

    @Override
    public synchronized boolean isShutdown() {
        return shutdown;
    }

    @Override
    public boolean isTerminated() {
        return terminated.getCount() == 0;
    }

    @Override
    public boolean awaitTermination(Duration atMost) throws InterruptedException {
        return terminated.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
    }

    @Override
    public boolean inManager() {
        return Thread.currentThread().equals(cranking);
    }

    @Override
    public AlarmKey scheduleEvery(Duration first, Duration period, AlarmCallback callback, Priority priority) {
        throw new UnsupportedOperationException();
    }

    @Override
    public List<TaskKey> runAll(List<Task> tasks) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CancelResult cancelAndWait(Key key) {
        throw new UnsupportedOperationException();
    }

    @Override
    public String toString() {
        return "hand-cranked manager";
    }
}
