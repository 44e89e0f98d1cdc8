package io.millrace.engine;

import java.util.List;

/**
 * The counters of an engine, summed over all its reactors since its start. This is a view: each call reads the current
 * values, from any thread and without a lock. Its types are plain, so that any metrics library can be bound to it.
 */
public interface Metrics {
    /**
     * Returns how many reactors there are.
     *
     * @return at least 1
     */
    int reactors();

    /**
     * Returns how many turns the loops have made.
     *
     * @return a count
     */
    long turns();

    /**
     * Returns how often the kernel was asked for events, with or without waiting.
     *
     * @return a count
     */
    long waits();

    /**
     * Returns how often another thread had to wake a sleeping reactor with a system call.
     *
     * @return a count
     */
    long wakeUps();

    /**
     * Returns how many events of sources there were.
     *
     * @return a count
     */
    long events();

    /**
     * Returns how many items were delivered: handlers of I/O, alarms and tasks.
     *
     * @return a count
     */
    long delivered();

    /**
     * Returns how many alarms came due.
     *
     * @return a count
     */
    long alarmsDue();

    /**
     * Returns how many callbacks threw.
     *
     * @return a count
     */
    long failures();

    /**
     * Returns how many sources are registered.
     *
     * @return a gauge
     */
    int sources();

    /**
     * Returns how many alarms are pending, as of each reactor's last turn.
     *
     * @return a gauge
     */
    long alarmsPending();

    /**
     * Returns how many tasks are waiting to run.
     *
     * @param priority their priority
     * @return a gauge
     */
    int queueDepth(Priority priority);

    /**
     * Returns the loop lag: how long after their deadlines alarms come due, including the rounding to the tick and any
     * slack that was allowed.
     *
     * @return a snapshot
     */
    Histogram loopLag();

    /**
     * Returns how long turns take, from the end of the wait to the end of the turn.
     *
     * @return a snapshot
     */
    Histogram turnTime();

    /**
     * Returns how long the loops have worked, not counting the time in which they waited for events. The share of this
     * in the time that has passed is their utilisation.
     *
     * @return nanoseconds since the start, as of each loop's last turn
     */
    long busyNanos();

    /**
     * Returns the loops one by one.
     *
     * @return as many as {@link #reactors} says
     */
    List<LoopView> loops();
}
