package io.millrace.engine.reactor;

import io.millrace.poll.internal.Durations;
import io.millrace.poll.internal.TimerWheel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The alarms of a reactor. Its thread only.
 *
 * <p>An alarm without slack is in the wheel {@code exact}, by its deadline. One with slack is in two wheels: in {@code earliest} by its deadline and in {@code
 * latest} by its deadline plus slack. The reactor sleeps until the nearest entry of {@code exact} and {@code latest}; when it is awake,
 * for whatever reason, everything in {@code exact} and {@code earliest} that is due fires. So slack never makes a wake-up of its own before the last
 * moment, and that one takes along all whose deadline has come: of all ways to serve a set of such alarms, this wakes up the fewest times.
 */
final class AlarmWheels {
    private static final int SLOTS = 4096;
    private static final int CAPACITY = 1 << 29;
    static final long NONE = Long.MAX_VALUE;
    /** How many alarms of a wheel a turn touches at most, to find out which are due and in which order: about a millisecond of work. */
    private static final int WORK = 4_096;
    /** How many alarms of a wheel a turn puts into the queue at most. */
    static final int TAKEN = 4_096;

    private final long tickNanos;
    private final TimerWheel<Alarm> exact;
    private final TimerWheel<Alarm> earliest;
    private final TimerWheel<Alarm> latest;
    /** Due when they came: the next turn's, without a wait for the wheel's tick. */
    private final ArrayDeque<Alarm> overdue = new ArrayDeque<>();

    AlarmWheels(long tickNanos, long nowNanos) {
        this.tickNanos = tickNanos;
        this.exact = new TimerWheel<>(tickNanos, SLOTS, CAPACITY, nowNanos);
        this.earliest = new TimerWheel<>(tickNanos, SLOTS, CAPACITY, nowNanos);
        this.latest = new TimerWheel<>(tickNanos, SLOTS, CAPACITY, nowNanos);
    }

    void add(Alarm alarm, long nowNanos) {
        long delay = Durations.nanosUntil(alarm.deadline, nowNanos);
        if (delay == 0) {
            alarm.wheelKey = Alarm.OUT;
            overdue.add(alarm);
        } else if (alarm.slackNanos < tickNanos) {
            alarm.wheelKey = exact.schedule(nowNanos, delay, alarm);
        } else {
            alarm.wheelKey = earliest.schedule(nowNanos, delay, alarm);
            // The wheel rounds up by less than a tick; the slack must not be exceeded by that.
            alarm.latestKey = latest.schedule(nowNanos, delay + alarm.slackNanos - tickNanos, alarm);
        }
    }

    /** Takes an alarm out, if it is in. */
    void remove(Alarm alarm) {
        if (alarm.wheelKey >= 0) {
            (alarm.latestKey >= 0 ? earliest : exact).cancel(alarm.wheelKey);
            taken(alarm);
        }
    }

    /**
     * Puts what is due into the queue, in the order of the deadlines; or the first of it, and the rest in the next turns, so that no turn is
     * held up by a million.
     */
    void expire(long nowNanos, RunQueue queue, ReactorMetrics metrics) {
        boolean all = expire(exact, nowNanos, queue, metrics);
        if (!earliest.isEmpty()) {
            if (expire(earliest, nowNanos, queue, metrics)) {
                latest.advance(nowNanos, WORK);
            } else {
                all = false;
            }
            assert !latest.hasDue() : "an alarm is due at the latest after it was due at the earliest";
        }
        // After the wheels: what was due when it came has come after what is in them.
        for (int left = Math.min(overdue.size(), TAKEN); left > 0; left--) {
            Alarm alarm = overdue.remove();
            if (all) {
                due(alarm, nowNanos, queue, metrics);
            } else if (alarm.isWaiting()) {
                alarm.wheelKey = exact.schedule(alarm.deadline, 0, alarm);
            }
        }
    }

    /** A step of a wheel; whether that was all. */
    private boolean expire(TimerWheel<Alarm> wheel, long nowNanos, RunQueue queue, ReactorMetrics metrics) {
        if (wheel.isEmpty()) {
            return true;
        }
        if (wheel.dueCount() < TAKEN) {
            wheel.advance(nowNanos, WORK);
        }
        for (int left = Math.min(wheel.dueCount(), TAKEN); left > 0; left--) {
            Alarm alarm = wheel.pollDue();
            if (alarm != null) {
                taken(alarm);
                due(alarm, nowNanos, queue, metrics);
            }
        }
        return !wheel.isBehind() && !wheel.hasDue();
    }

    private static void due(Alarm alarm, long nowNanos, RunQueue queue, ReactorMetrics metrics) {
        if (alarm.isWaiting()) {
            metrics.alarmDue(nowNanos - alarm.deadline);
            queue.add(alarm, alarm.priority);
        }
    }

    private void taken(Alarm alarm) {
        alarm.wheelKey = Alarm.OUT;
        if (alarm.latestKey >= 0) {
            latest.cancel(alarm.latestKey);
            alarm.latestKey = Alarm.OUT;
        }
    }

    /** Shows all of them, in no order; another thread may call this for a report. */
    void forEach(Consumer<Alarm> each) {
        exact.forEach(each);
        earliest.forEach(each);
    }

    /** How long the reactor may sleep; {@link #NONE} if there is no alarm. */
    long nanosUntilNext(long nowNanos) {
        boolean more = !overdue.isEmpty() || exact.hasDue() || earliest.hasDue() || earliest.isBehind();
        return more ? 0 : Math.min(exact.nanosUntilNext(nowNanos), latest.nanosUntilNext(nowNanos));
    }

    boolean isEmpty() {
        return exact.isEmpty() && earliest.isEmpty() && overdue.isEmpty();
    }

    int size() {
        return exact.size() + earliest.size() + overdue.size();
    }

    /** Takes out all of them, in the order of their deadlines. */
    List<Alarm> takeAll() {
        List<Alarm> all = new ArrayList<>();
        all.addAll(overdue);
        forEach(all::add);
        overdue.clear();
        exact.clear();
        earliest.clear();
        latest.clear();
        all.sort((a, b) -> Long.signum(a.deadline - b.deadline));
        return all;
    }
}
