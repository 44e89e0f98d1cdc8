package io.millrace.engine;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What has held up a loop since it was opened, as its watchdog saw it. Only what is {@code blocked} is the fault of a
 * handler; the other three are kept apart because they are not.
 *
 * @param blocked handlers that held the loop's thread for longer than the watchdog's limit, the latest first. The
 *     watchdog remembers 64 places
 * @param blockedCount how often handlers did, also in places that are no longer remembered; never decreases
 * @param busy turns that took that long because they had many items
 * @param starved how often the thread was runnable for that long but was not scheduled
 * @param paused how often the whole process was stopped for that long
 */
public record StallReport(List<Blocked> blocked, long blockedCount, Tally busy, Tally starved, Tally paused) {
    /** Nothing has held it up. */
    public static final StallReport NONE = new StallReport(List.of(), 0, Tally.NONE, Tally.NONE, Tally.NONE);

    /** Copies the list. */
    public StallReport {
        blocked = List.copyOf(blocked);
    }

    /**
     * How often something happened, and for how long.
     *
     * @param count how often
     * @param longest the longest time
     * @param total the sum
     */
    public record Tally(long count, Duration longest, Duration total) {
        /** It has never happened. */
        public static final Tally NONE = new Tally(0, Duration.ZERO, Duration.ZERO);
    }

    /**
     * A place in a program that blocks a loop.
     *
     * @param place the class and method of the handler, which is where to look first
     * @param tally how often and for how long. The watchdog looks every 50 ms by default, so a duration is up to that
     *     much too short
     * @param ongoing whether it blocks the loop right now
     * @param sinceLast how long ago it was last seen to block
     * @param last the latest report, with its stack
     */
    public record Blocked(String place, Tally tally, boolean ongoing, Duration sinceLast, BlockedLoop last) {
        /**
         * Returns the innermost line of the program's own code in the last stack: neither of the JDK nor of Millrace.
         *
         * @return empty if the stack has none
         */
        public Optional<StackTraceElement> line() {
            return last.stack().stream().filter(BlockedLoop::isOfTheProgram).findFirst();
        }
    }
}
