package io.millrace.poll;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A clock that moves only when told to, for tests of anything that waits. Any thread may move it; a {@link Poll} that
 * sleeps on it checks its deadlines after each move.
 */
public final class ManualClock implements Clock {
    private final AtomicLong now;
    private final List<Runnable> subscribers = new CopyOnWriteArrayList<>();

    /** Creates a clock that stands at 0. */
    public ManualClock() {
        this(0);
    }

    /**
     * Creates a clock that stands at a given time.
     *
     * @param startNanos the first value of {@link #nanoTime()}
     */
    public ManualClock(long startNanos) {
        this.now = new AtomicLong(startNanos);
    }

    @Override
    public long nanoTime() {
        return now.get();
    }

    /**
     * Moves the clock and notifies its subscribers.
     *
     * @param by how far; not negative
     */
    public void advance(Duration by) {
        if (by.isNegative()) {
            throw new IllegalArgumentException("a clock does not run backwards: " + by);
        }
        now.addAndGet(by.toNanos());
        subscribers.forEach(Runnable::run);
    }

    @Override
    public Runnable subscribe(Runnable onJump) {
        subscribers.add(onJump);
        return () -> subscribers.remove(onJump);
    }

    @Override
    public String toString() {
        return "manual clock at " + now.get() + " ns";
    }
}
