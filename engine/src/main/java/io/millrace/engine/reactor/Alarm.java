package io.millrace.engine.reactor;

import io.millrace.engine.AlarmCallback;
import io.millrace.engine.AlarmKey;
import io.millrace.engine.Priority;
import io.millrace.engine.internal.FailureLog;

/** An alarm of a reactor, and its key. */
public final class Alarm extends Cancellable implements AlarmKey {
    /** Values of {@link #wheelKey} while it is in no wheel. */
    private static final long NEW = -2;

    static final long OUT = -1;

    final Priority priority;
    final long slackNanos;
    /** 0 if it fires once. */
    private final long periodNanos;

    private final AlarmCallback callback;

    /** Written before it is handed to the reactor, and by the reactor's thread from then on. */
    long deadline;

    /** Where it is in {@link AlarmWheels}; negative if it is not. The reactor's thread only. */
    long wheelKey = NEW;

    long latestKey = OUT;

    /** Its callback has asked for {@link Reactor#again}. The reactor's thread only. */
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
     * On the reactor's thread: the first time it goes into the wheel, as a control item; when it is due it fires; and once more as a control item if another
     * thread has cancelled it, to be taken out of the wheel.
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
        try {
            callback.alarm(true);
        } finally {
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

    /** Runs the callback with false, on whatever thread, after {@link #begin} or {@link #tryCancel}. */
    void runCancelled() {
        try {
            callback.alarm(false);
        } finally {
            end();
        }
    }

    /** The next time after the last that is not over, a whole number of periods later. */
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
