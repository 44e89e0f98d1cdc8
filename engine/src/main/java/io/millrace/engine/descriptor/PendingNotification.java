package io.millrace.engine.descriptor;

import io.millrace.engine.NotifyOutcome;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.reactor.Alarm;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A callback that waits for a direction of a readiness descriptor, with or without a timeout. Only one thread gets hold
 * of it, and runs it.
 */
final class PendingNotification implements Runnable {
    private final FdReadiness descriptor;
    private final Object callback;
    private final Runnable run;
    private @Nullable Alarm timeout;
    private NotifyOutcome outcome = NotifyOutcome.BECAME_READY;

    PendingNotification(FdReadiness descriptor, Runnable callback) {
        this.descriptor = descriptor;
        this.callback = callback;
        this.run = callback;
    }

    PendingNotification(FdReadiness descriptor, Consumer<NotifyOutcome> callback) {
        this.descriptor = descriptor;
        this.callback = callback;
        this.run = () -> callback.accept(outcome);
    }

    /** Called before it is put into its direction. */
    void setTimeout(Alarm alarm) {
        this.timeout = alarm;
    }

    /** Sets the outcome before it is queued, and cancels its timeout. Called by the thread that got hold of it. */
    PendingNotification with(NotifyOutcome result) {
        outcome = result;
        Alarm alarm = timeout;
        if (alarm != null && result != NotifyOutcome.TIMED_OUT) {
            alarm.reactor.cancel(alarm);
        }
        return this;
    }

    @Override
    public void run() {
        run.run();
    }

    @Override
    public String toString() {
        return FailureLog.name(callback) + " of " + descriptor;
    }
}
