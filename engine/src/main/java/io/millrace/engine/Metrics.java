package io.millrace.engine;

/**
 * What an engine counts, over all its reactors, from its start. A view: each call reads anew, from any thread, and takes no lock. It is plain, so that
 * any metrics library can be bound to it.
 */
public interface Metrics {
    /**
     * How many reactors there are.
     *
     * @return at least 1
     */
    int reactors();

    /**
     * Turns of the loops.
     *
     * @return a count
     */
    long turns();

    /**
     * How often the kernel was asked for events, to wait or only to look.
     *
     * @return a count
     */
    long waits();

    /**
     * How often a sleeping reactor was woken by a system call of ours.
     *
     * @return a count
     */
    long wakeUps();

    /**
     * Events of sources.
     *
     * @return a count
     */
    long events();

    /**
     * What was delivered: handlers of I/O, alarms and tasks.
     *
     * @return a count
     */
    long delivered();

    /**
     * Alarms that came due.
     *
     * @return a count
     */
    long alarmsDue();

    /**
     * Callbacks that threw.
     *
     * @return a count
     */
    long failures();

    /**
     * Sources that are registered now.
     *
     * @return a gauge
     */
    int sources();

    /**
     * Alarms that are pending, as of each reactor's last turn.
     *
     * @return a gauge
     */
    long alarmsPending();

    /**
     * Tasks that wait to be run.
     *
     * @param priority their class
     * @return a gauge
     */
    int queueDepth(Priority priority);

    /**
     * Loop lag: how late alarms come due, after their deadline. Includes the rounding to the tick, and a slack that was granted.
     *
     * @return a snapshot
     */
    Histogram loopLag();

    /**
     * How long turns take, from the end of the wait to the end of the turn.
     *
     * @return a snapshot
     */
    Histogram turnTime();
}
