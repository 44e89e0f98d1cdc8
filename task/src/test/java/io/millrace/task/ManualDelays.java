package io.millrace.task;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Alarms that ring when the test moves the time. */
final class ManualDelays implements Delays {
    private record Alarm(long dueNanos, Runnable action) {}

    private final List<Alarm> alarms = new ArrayList<>();
    private long now;

    @Override
    public synchronized Runnable after(Duration delay, Runnable action) {
        Alarm alarm = new Alarm(now + delay.toNanos(), action);
        alarms.add(alarm);
        return () -> cancel(alarm);
    }

    private synchronized void cancel(Alarm alarm) {
        alarms.remove(alarm);
    }

    synchronized int set() {
        return alarms.size();
    }

    synchronized void advance(Duration by) {
        now += by.toNanos();
        List<Alarm> due = alarms.stream()
                .filter(alarm -> alarm.dueNanos - now <= 0)
                .sorted(Comparator.comparingLong(Alarm::dueNanos))
                .toList();
        alarms.removeAll(due);
        due.forEach(alarm -> alarm.action.run());
    }

    /** A pollable that has its own length as value when it is over. */
    Pollable<Duration> sleep(Duration length) {
        return new Pollable<>() {
            private boolean started;
            private volatile boolean over;

            @Override
            public Step<Duration> poll(Waker waker) {
                if (!started) {
                    started = true;
                    after(length, () -> {
                        over = true;
                        waker.wake();
                    });
                }
                return over ? Step.item(length) : Step.pending();
            }
        };
    }
}
