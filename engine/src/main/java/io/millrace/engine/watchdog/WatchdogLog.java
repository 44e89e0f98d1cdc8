package io.millrace.engine.watchdog;

import io.millrace.engine.BlockedLoop;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides what the watchdog logs to {@code io.millrace.watchdog}, and how often. The first time that a handler blocks
 * is logged at once, with its stack; how often it happened again is logged at most once a minute. Turns of many items,
 * threads that were not scheduled and pauses are not the fault of handlers: they get one line a minute with counts.
 *
 * <p>Used on the watchdog's thread only.
 */
final class WatchdogLog {
    private static final long MINUTE_NANOS = 60_000_000_000L;
    /** The delay before the first summary, to collect what happens together and until items have been measured. */
    private static final long SECOND_NANOS = 1_000_000_000L;
    /** How many places are remembered; the oldest is dropped first. */
    private static final int PLACES = 64;

    /** By name, because this package does not know the reactor's. */
    private static final String REACTOR = "io.millrace.engine.reactor.Reactor";
    /** Its methods that run an item. */
    private static final List<String> ITEMS = List.of("runItem", "runTimed");

    /** Where lines go; tests have their own. */
    interface Sink {
        void log(Level level, String message);
    }

    private final String name;
    private final Sink sink;
    private final Map<String, Place> places = new LinkedHashMap<>();

    private final Tally busy = new Tally();
    private final Tally starved = new Tally();
    private final Tally paused = new Tally();
    private @Nullable TimedItem longestItem;
    /** When the counts were last logged, and when the first of the current ones was counted. */
    private long toldAt;

    private long firstAt;
    private boolean hasTold;
    private boolean hasFirst;

    WatchdogLog(String name) {
        this(name, System.getLogger("io.millrace.watchdog")::log);
    }

    WatchdogLog(String name, Sink sink) {
        this.name = name;
        this.sink = sink;
    }

    /** How often something happened, and the worst of it. */
    private static final class Tally {
        private long count;
        private long longestNanos;

        void add(long nanos) {
            count++;
            longestNanos = Math.max(longestNanos, nanos);
        }

        void clear() {
            count = 0;
            longestNanos = 0;
        }

        String text(String what) {
            return count == 0 ? "" : "; " + what + " " + count + " × (at most " + longestNanos / 1_000_000 + " ms)";
        }
    }

    private static final class Place {
        private long toldAt;
        private final Tally since = new Tally();
    }

    void reportBlocked(BlockedLoop turn, long now) {
        String where = place(turn);
        Place known = places.get(where);
        if (known == null) {
            if (places.size() == PLACES) {
                places.remove(places.keySet().iterator().next());
            }
            known = new Place();
            known.toldAt = now;
            places.put(where, known);
            sink.log(Level.WARNING, turn.toString());
            return;
        }
        known.since.add(turn.lasts().toNanos());
        if (now - known.toldAt >= MINUTE_NANOS) {
            sink.log(
                    Level.WARNING,
                    name + " was blocked again at " + where + known.since.text("since the last report")
                            + "; the last time by " + turn.handler());
            known.toldAt = now;
            known.since.clear();
        }
    }

    /**
     * Identifies the handler that blocks: the user's outermost frame above the reactor's. It is neither the innermost
     * frame nor a line number, because a handler that computes is at a different place at each check. If the item has
     * no frame of the user, it is the item's own frame; and if there is no item, what the reactor says it is doing.
     */
    static String place(BlockedLoop turn) {
        List<StackTraceElement> stack = turn.stack();
        int item = -1;
        for (StackTraceElement frame : stack) {
            if (frame.getClassName().equals(REACTOR) && ITEMS.contains(frame.getMethodName())) {
                break;
            }
            item++;
        }
        if (item < 0 || (item == stack.size() - 1 && !isOfAVirtualThread(stack.get(item)))) {
            return turn.handler();
        }
        for (int i = item; i >= 0; i--) {
            StackTraceElement frame = stack.get(i);
            if (BlockedLoop.isOfTheProgram(frame)) {
                return method(frame);
            }
        }
        return method(stack.get(item));
    }

    /** Whether a stack that ends with this frame is that of a virtual thread, which has no frame of the reactor. */
    private static boolean isOfAVirtualThread(StackTraceElement last) {
        return last.getClassName().equals("java.lang.VirtualThread");
    }

    private static String method(StackTraceElement frame) {
        return frame.getClassName() + "." + frame.getMethodName();
    }

    void countBusy(long nanos) {
        busy.add(nanos);
    }

    void keepIfLongest(@Nullable TimedItem item) {
        TimedItem longest = longestItem;
        if (item != null && (longest == null || item.nanos() > longest.nanos())) {
            longestItem = item;
        }
    }

    void countStarved(long nanos) {
        starved.add(nanos);
    }

    void countPaused(long nanos) {
        paused.add(nanos);
    }

    /** Returns whether there is something to summarize and the last summary was a minute ago. Called at each check. */
    boolean isSummaryDue(long now) {
        if (busy.count + starved.count + paused.count == 0) {
            return false;
        }
        if (!hasFirst) {
            hasFirst = true;
            firstAt = now;
        }
        return now - firstAt >= SECOND_NANOS && (!hasTold || now - toldAt >= MINUTE_NANOS);
    }

    /** Logs the counts and resets them. */
    void summarise(long now) {
        hasTold = true;
        hasFirst = false;
        toldAt = now;
        TimedItem item = longestItem;
        String longest = item == null ? "" : ", of which the longest timed was " + item;
        sink.log(
                Level.INFO,
                name + ": no handler is to blame" + busy.text("turns of many items") + (busy.count == 0 ? "" : longest)
                        + starved.text("a loop was runnable but not scheduled, because the machine is busy")
                        + paused.text("the whole process was stopped (garbage collection, a signal, a quota)"));
        busy.clear();
        starved.clear();
        paused.clear();
        longestItem = null;
    }
}
