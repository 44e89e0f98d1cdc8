package io.millrace.engine.reactor;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.Priority;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.recorder.FlightRecorderSwitch;
import io.millrace.engine.recorder.LoopEvents;

/** An alarm of a reactor, and its key. */
public final class Alarm extends Cancellable implements AlarmKey {
    /** Values of {@link #wheelKey} while the alarm is in no wheel. */
    private static final long NEW = -2;

    static final long OUT = -1;

    final Priority priority;
    final long slackNanos;
    /** 0 if it fires once. */
    private final long periodNanos;

    private final AlarmCallback callback;

    /** Written before the alarm is handed to the reactor, and afterwards by the reactor's thread. */
    long deadline;

    /** Its place in {@link AlarmWheels}; negative if it has none. Used on the reactor's thread only. */
    long wheelKey = NEW;

    long latestKey = OUT;

    /** Whether its callback called {@link Reactor#rearm}. Used on the reactor's thread only. */
    boolean again;

    public Alarm(
            Reactor reactor,
            long deadline,
            long slackNanos,
            long periodNanos,
            AlarmCallback callback,
            Priority priority) {
        super(reactor);
        this.deadline = deadline;
        this.slackNanos = slackNanos;
        this.periodNanos = periodNanos;
        this.callback = callback;
        this.priority = priority;
    }

    /**
     * Runs on the reactor's thread: first as a control item, which puts it into the wheel; then, when it is due, to
     * fire; and once more as a control item, if another thread cancelled it, to take it out of the wheel.
     */
    @Override
    public void run() {
        if (wheelKey == NEW) {
            reactor.place(this);
        } else if (begin()) {
            fire();
        } else {
            reactor.forget(this);
        }
    }

    private void fire() {
        Object recorded = FlightRecorderSwitch.isOn() ? LoopEvents.beginAlarm(reactor.now() - deadline) : null;
        try {
            callback.onAlarm(true);
        } finally {
            if (recorded != null) {
                LoopEvents.endAlarm(recorded, reactor.name(), this, priority);
            }
            if (periodNanos == 0 && !again) {
                end();
            } else if (endRun()) {
                if (!again) {
                    moveOn(reactor.now());
                }
                again = false;
                reactor.place(this);
            }
        }
    }

    /** Calls the callback with false, on any thread, after {@link #begin} or {@link #tryCancel}. */
    void runCancelled() {
        try {
            callback.onAlarm(false);
        } finally {
            end();
        }
    }

    /** Moves the deadline by a whole number of periods to the next time that has not passed. */
    private void moveOn(long nowNanos) {
        long behind = nowNanos - deadline;
        long periods = behind < 0 ? 1 : behind / periodNanos + 1;
        deadline += periods * periodNanos;
    }

    @Override
    public String toString() {
        return "alarm " + FailureLog.name(callback)
                + (periodNanos == 0 ? "" : ", every " + periodNanos / 1_000_000 + " ms");
    }
}
