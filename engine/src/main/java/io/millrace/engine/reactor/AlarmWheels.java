package io.millrace.engine.reactor;

import io.millrace.poll.internal.Durations;
import io.millrace.poll.internal.TimerWheel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The alarms of a reactor. Used on its thread only.
 *
 * <p>An alarm without slack is in the wheel {@code exact}, by its deadline. One with slack is in two wheels: in {@code
 * earliest} by its deadline, and in {@code latest} by its deadline plus slack. The reactor sleeps until the nearest
 * entry of {@code exact} and {@code latest}. When it is awake, for whatever reason, everything in {@code exact} and
 * {@code earliest} that is due fires. So an alarm with slack causes a wake-up only at the last moment, and that wake-up
 * serves all alarms whose deadlines have passed. No other strategy serves a set of such alarms with fewer wake-ups.
 *
 * <p><b>From the wheel to the callback</b>, an alarm is in three places, one after the other. Its slot holds it by
 * time, with others that are not due. The wheel's list of due alarms holds it in order: a turn takes a limited number
 * of them (end-5), and the rest waits there without using memory, because the list is linked through the entries. The
 * ring of its priority holds it beside I/O and tasks, where priority and budget decide when it runs. Only an alarm that
 * was due when it arrived is in {@code overdue} instead of the first two, because a wheel would make it wait for a
 * tick.
 */
final class AlarmWheels {
    private static final int SLOTS = 4096;
    private static final int CAPACITY = 1 << 29;
    static final long NONE = Long.MAX_VALUE;
    /**
     * How many alarms of a wheel a turn looks at to find out which are due and in which order: about a millisecond of
     * work.
     */
    private static final int WORK = 4_096;
    /** How many alarms of a wheel a turn queues at most. */
    static final int TAKEN = 4_096;

    private final long tickNanos;
    private final TimerWheel<Alarm> exact;
    private final TimerWheel<Alarm> earliest;
    private final TimerWheel<Alarm> latest;
    /**
     * Alarms that were already due when they arrived. They fire in the next turn, without waiting for a tick of the
     * wheel.
     */
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
            // The wheel rounds up by less than a tick, which must not exceed the slack.
            alarm.latestKey = latest.schedule(nowNanos, delay + alarm.slackNanos - tickNanos, alarm);
        }
    }

    /** Takes an alarm out, if it is in a wheel. */
    void remove(Alarm alarm) {
        if (alarm.wheelKey >= 0) {
            (alarm.latestKey >= 0 ? earliest : exact).cancel(alarm.wheelKey);
            takeOut(alarm);
        }
    }

    /**
     * Queues the alarms that are due, in the order of their deadlines. If there are too many, queues the first of them
     * and leaves the rest for the next turns, so that a million alarms do not hold up a turn.
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
        // After the wheels: these arrived after what is in the wheels.
        for (int left = Math.min(overdue.size(), TAKEN); left > 0; left--) {
            Alarm alarm = overdue.remove();
            if (all) {
                queueDue(alarm, nowNanos, queue, metrics);
            } else if (alarm.isWaiting()) {
                alarm.wheelKey = exact.schedule(alarm.deadline, 0, alarm);
            }
        }
    }

    /** Advances one wheel by a step. Returns whether that was everything. */
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
                takeOut(alarm);
                queueDue(alarm, nowNanos, queue, metrics);
            }
        }
        return !wheel.isBehind() && !wheel.hasDue();
    }

    private static void queueDue(Alarm alarm, long nowNanos, RunQueue queue, ReactorMetrics metrics) {
        if (alarm.isWaiting()) {
            metrics.countAlarm(nowNanos - alarm.deadline);
            queue.add(alarm, alarm.priority);
        }
    }

    private void takeOut(Alarm alarm) {
        alarm.wheelKey = Alarm.OUT;
        if (alarm.latestKey >= 0) {
            latest.cancel(alarm.latestKey);
            alarm.latestKey = Alarm.OUT;
        }
    }

    /** Passes on all alarms, in no particular order. For reports; another thread may call this. */
    void forEach(Consumer<Alarm> each) {
        exact.forEach(each);
        earliest.forEach(each);
    }

    /** Returns how long the reactor may sleep; {@link #NONE} if there is no alarm. */
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

    /** Removes and returns all alarms, in the order of their deadlines. */
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
