package io.millrace.engine;

import io.millrace.poll.BackendReport;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * One loop, observed from outside: what it is doing, what is waiting, and what has blocked it. Nothing is recorded for
 * this: each call reads the loop's own fields when it is made.
 *
 * <p><b>Threads.</b> Any thread may call. No call takes a lock that a loop could hold, waits for a loop or makes it run
 * something, so a loop that is blocked can be looked at, too. The values are not of one moment.
 */
public interface LoopView {
    /** What a loop is doing. */
    enum Activity {
        /** It waits for events in the kernel. */
        SLEEPING,
        /** It is in a turn: see {@link LoopView#turnLasts}. */
        WORKING,
        /** No thread runs it, as an {@link EventLoop} between two runs. */
        NOT_RUN,
        /** It has shut down. */
        ENDED
    }

    /**
     * Returns the loop's name, which is also that of its thread if it has its own.
     *
     * @return a name such as {@code millrace-engine-0}
     */
    String name();

    /**
     * Returns the name of the loop's backend.
     *
     * @return for example {@code epoll}
     */
    String backend();

    /**
     * Returns which backend was chosen, and why.
     *
     * @return the report made when the loop was opened
     */
    BackendReport report();

    /**
     * Returns what the loop is doing.
     *
     * @return as of now
     */
    Activity activity();

    /**
     * Returns how long the loop has been in its present turn.
     *
     * @return zero if it is not in a turn
     */
    Duration turnLasts();

    /**
     * Returns what the loop is running: a handler and its source, an alarm, a task, or a step of the engine.
     *
     * @return a human-readable name; empty if it is not in a turn
     */
    Optional<String> running();

    /**
     * Returns the stack trace of the thread that runs the loop, or of the virtual thread that it carries. This briefly
     * stops that thread; it is the one method here that costs the loop something.
     *
     * @return empty if no thread runs it
     */
    List<StackTraceElement> stack();

    /**
     * Returns the counters of this loop alone.
     *
     * @return a view that reads the current values at each call
     */
    Metrics metrics();

    /**
     * Returns the alarms that fire next.
     *
     * @param atMost how many
     * @return in the order of their deadlines; empty if the alarms changed while they were looked at
     */
    List<PendingAlarm> nextAlarms(int atMost);

    /**
     * Returns the sources that are registered with the loop's poll.
     *
     * @param atMost how many
     * @return a line about each
     */
    List<String> sources(int atMost);

    /**
     * Returns what has held up this loop, as the watchdog saw it.
     *
     * @return empty if the watchdog is off
     */
    StallReport stalls();

    /**
     * An alarm that has not fired yet.
     *
     * @param what a human-readable name of its callback
     * @param in how long until its deadline; negative if it is overdue
     * @param priority with what priority it will run
     */
    record PendingAlarm(String what, Duration in, Priority priority) {}
}
