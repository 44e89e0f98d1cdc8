package io.millrace.engine.descriptor;

import io.millrace.engine.NotifyOutcome;
import io.millrace.engine.internal.FailureLog;
import io.millrace.engine.reactor.Alarm;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A callback that waits for a direction of a readiness descriptor, with or without a timeout. It is handed to one caller, which runs it. */
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

    /** Before it is put into its direction. */
    void timeout(Alarm alarm) {
        this.timeout = alarm;
    }

    /** By whoever got it: what it will be told, before it is queued. Its timeout is not needed any more. */
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
