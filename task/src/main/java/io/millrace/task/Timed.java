package io.millrace.task;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A pollable with a time limit: the alarm sets a flag and wakes the consumer, and the next poll does the rest. */
final class Timed<T> implements Pollable<T> {
    private final Pollable<T> inner;
    private final Duration limit;
    private final Delays alarms;
    private @Nullable Runnable cancelAlarm;
    private volatile @Nullable Waker waker;
    private volatile boolean over;

    Timed(Pollable<T> inner, Duration limit, Delays alarms) {
        this.inner = inner;
        this.limit = Objects.requireNonNull(limit, "limit");
        this.alarms = Objects.requireNonNull(alarms, "alarms");
    }

    @Override
    public Step<T> poll(Waker latest) throws Exception {
        waker = latest;
        if (cancelAlarm == null) {
            cancelAlarm = alarms.after(limit, this::ring);
        }
        boolean waits = false;
        try {
            // Read before the poll: a value that arrives together with the alarm still counts.
            boolean wasOver = over;
            Step<T> step = inner.poll(latest);
            if (!(step instanceof Step.Pending)) {
                return step;
            }
            if (wasOver) {
                String late = name(latest); // before its text says that it was cancelled
                inner.cancel();
                return Step.failed(new TimeoutException("no value within " + limit + " from " + late));
            }
            waits = true;
            return step;
        } finally {
            if (!waits) {
                cancelAlarm();
            }
        }
    }

    private String name(Waker of) {
        return of instanceof Child child ? "child " + child.index() + ", " + Names.of(inner) : Names.of(inner);
    }

    private void ring() {
        over = true;
        Waker latest = waker;
        if (latest != null) {
            latest.wake();
        }
    }

    private void cancelAlarm() {
        Runnable set = cancelAlarm;
        if (set != null) {
            set.run();
        }
    }

    @Override
    public void cancel() {
        cancelAlarm();
        inner.cancel();
    }

    @Override
    public String toString() {
        return Names.of(inner) + ", within " + limit;
    }
}
