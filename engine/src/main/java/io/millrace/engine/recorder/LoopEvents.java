package io.millrace.engine.recorder;

import io.millrace.engine.BlockedLoop;
import io.millrace.engine.Histogram;
import io.millrace.engine.LoopView;
import io.millrace.engine.Metrics;
import io.millrace.engine.Priority;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Percentage;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * The events of loops. Call a method only while {@link FlightRecorderSwitch#isOn}. An event that is begun is an {@code
 * Object} to its caller, so that this is the only class that the caller's class needs to find.
 *
 * <p>Each method asks first whether its event is enabled. Only then does it create one and look at anything else.
 */
public final class LoopEvents {
    /** How many frames of a stack an event holds. */
    private static final int FRAMES = 64;

    private static final TurnEvent TURN = new TurnEvent();
    private static final AlarmEvent ALARM = new AlarmEvent();
    private static final BlockedHandlerEvent BLOCKED = new BlockedHandlerEvent();

    private LoopEvents() {}

    // ---- Turns ----

    @Name("millrace.Turn")
    @Label("Turn")
    @Category("Millrace")
    @Description("One turn of a loop, from the end of its wait to its end")
    @Threshold("20 ms")
    @StackTrace(false)
    static final class TurnEvent extends Event {
        @Label("Loop")
        @Nullable
        String loop;

        @Label("Items")
        @Description("How many handlers, alarms and tasks ran")
        int items;

        @Label("Left Over")
        @Description("How many items wait for the next turn, because a budget was used up")
        int leftOver;
    }

    /** A turn begins. Returns null if turns are not recorded. */
    public static @Nullable Object beginTurn() {
        if (!TURN.isEnabled()) {
            return null;
        }
        TurnEvent event = new TurnEvent();
        event.begin();
        return event;
    }

    /** The turn of an earlier {@link #beginTurn} has ended. */
    public static void endTurn(Object begun, String loop, int items, IntSupplier leftOver) {
        TurnEvent event = (TurnEvent) begun;
        event.end();
        if (event.shouldCommit()) {
            event.loop = loop;
            event.items = items;
            event.leftOver = leftOver.getAsInt();
            event.commit();
        }
    }

    // ---- Alarms ----

    @Name("millrace.Alarm")
    @Label("Alarm")
    @Category("Millrace")
    @Description("The callback of an alarm; with how late it was")
    @Threshold("20 ms")
    @StackTrace(false)
    static final class AlarmEvent extends Event {
        @Label("Loop")
        @Nullable
        String loop;

        @Label("Callback")
        @Nullable
        String callback;

        @Label("Priority")
        @Nullable
        String priority;

        @Label("Late")
        @Description("How long after its deadline the callback was called")
        @Timespan(Timespan.NANOSECONDS)
        long late;
    }

    /** The callback of an alarm is about to be called. Returns null if alarms are not recorded. */
    public static @Nullable Object beginAlarm(long lateNanos) {
        if (!ALARM.isEnabled()) {
            return null;
        }
        AlarmEvent event = new AlarmEvent();
        event.late = lateNanos;
        event.begin();
        return event;
    }

    /** The callback of an earlier {@link #beginAlarm} has returned or thrown. */
    public static void endAlarm(Object begun, String loop, Object alarm, Priority priority) {
        AlarmEvent event = (AlarmEvent) begun;
        event.end();
        if (event.shouldCommit()) {
            event.loop = loop;
            event.callback = alarm.toString();
            event.priority = priority.name();
            event.commit();
        }
    }

    // ---- Handlers that block ----

    @Name("millrace.BlockedHandler")
    @Label("Blocked Handler")
    @Category("Millrace")
    @Description(
            "A handler, task or alarm that holds its loop's thread: once when the watchdog notices, and once when it has ended")
    @StackTrace(false)
    static final class BlockedHandlerEvent extends Event {
        @Label("Loop")
        @Nullable
        String loop;

        @Label("Handler")
        @Nullable
        String handler;

        @Label("Place")
        @Description("The class and method to look at first")
        @Nullable
        String place;

        @Label("Held For")
        @Description("How long the thread was held, without the time in which it was not scheduled")
        @Timespan(Timespan.NANOSECONDS)
        long heldFor;

        @Label("Ended")
        @Description("Whether it has ended; otherwise another event follows when it does")
        boolean ended;

        @Label("Blocked Stack")
        @Description("Where the loop's thread was when the watchdog noticed")
        @Nullable
        String blockedStack;
    }

    /** The watchdog has found an item that blocks, or that it has ended. */
    public static void blocked(BlockedLoop blocked, String place, long heldNanos, boolean ended) {
        if (!BLOCKED.isEnabled()) {
            return;
        }
        BlockedHandlerEvent event = new BlockedHandlerEvent();
        event.loop = blocked.reactor();
        event.handler = blocked.handler();
        event.place = place;
        event.heldFor = heldNanos;
        event.ended = ended;
        event.blockedStack = blocked.stack().stream()
                .limit(FRAMES)
                .map(StackTraceElement::toString)
                .collect(Collectors.joining("\n"));
        event.commit();
    }

    // ---- Lag, periodically ----

    @Name("millrace.LoopLag")
    @Label("Loop Lag")
    @Category("Millrace")
    @Description("How late a loop's alarms were and how busy it was, since the last event")
    @Period("1 s")
    @StackTrace(false)
    static final class LoopLagEvent extends Event {
        @Label("Loop")
        @Nullable
        String loop;

        @Label("Median Lag")
        @Timespan(Timespan.NANOSECONDS)
        long lagMedian;

        @Label("99th Percentile of Lag")
        @Timespan(Timespan.NANOSECONDS)
        long lagP99;

        @Label("Greatest Lag")
        @Timespan(Timespan.NANOSECONDS)
        long lagMax;

        @Label("Utilisation")
        @Description("The share of the time in which the loop worked, a turn that has not ended included")
        @Percentage
        float utilisation;

        @Label("Alarms")
        @Description("How many alarms came due; if none did, the lag is not known and reads 0")
        long alarms;

        @Label("Turns")
        long turns;

        @Label("Waiting")
        @Description("How many tasks were waiting to run")
        int waiting;

        @Label("In Turn For")
        @Description("How long the present turn has lasted; grows while a loop is blocked")
        @Timespan(Timespan.NANOSECONDS)
        long inTurnFor;
    }

    /** What a loop had counted at its last event. */
    private record Before(long at, long busy, long turns, Histogram lag) implements OpenLoops.Note {}

    /** Called when the recorder is started for the first time. */
    static void begin() {
        FlightRecorder.addPeriodicEvent(LoopLagEvent.class, () -> OpenLoops.replaceNotes(LoopEvents::recordLag));
    }

    /** Records one event. The first one of a loop covers all its time. */
    private static Before recordLag(LoopView loop, OpenLoops.@Nullable Note last) {
        Metrics metrics = loop.metrics();
        long inTurn = loop.turnLasts().toNanos();
        Before now = new Before(System.nanoTime(), metrics.busyNanos() + inTurn, metrics.turns(), metrics.loopLag());
        Histogram lag = now.lag;
        LoopLagEvent event = new LoopLagEvent();
        event.loop = loop.name();
        event.inTurnFor = inTurn;
        for (Priority priority : Priority.values()) {
            event.waiting += metrics.queueDepth(priority);
        }
        if (last instanceof Before before) {
            lag = now.lag.since(before.lag);
            event.turns = now.turns - before.turns;
            event.utilisation = share(now.busy - before.busy, now.at - before.at);
        } else {
            event.turns = now.turns;
        }
        event.alarms = lag.count();
        event.lagMedian = lag.percentileNanos(50);
        event.lagP99 = lag.percentileNanos(99);
        event.lagMax = lag.maxNanos();
        event.commit();
        return now;
    }

    private static float share(long part, long whole) {
        return whole <= 0 ? 0 : (float) Math.clamp((double) part / whole, 0.0, 1.0);
    }
}
