package io.millrace.task;

import java.time.Duration;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Delays over the common pool, which has one thread that keeps time. */
final class SystemDelays implements Delays {
    static final SystemDelays INSTANCE = new SystemDelays();

    private SystemDelays() {}

    @Override
    public Runnable after(Duration delay, Runnable action) {
        // Saturates: a delay of centuries means for ever.
        long nanos = TimeUnit.NANOSECONDS.convert(delay);
        ScheduledFuture<?> alarm = ForkJoinPool.commonPool().schedule(action, nanos, TimeUnit.NANOSECONDS);
        return () -> alarm.cancel(false);
    }
}
