package io.millrace.redis;

import io.millrace.engine.AlarmKey;
import io.millrace.engine.CancelResult;
import io.millrace.engine.EventManager;
import io.netty.util.Timeout;
import io.netty.util.Timer;
import io.netty.util.TimerTask;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Netty's timer by alarms of the manager, so that Lettuce's timeouts of handshakes need no thread. */
final class AlarmTimer implements Timer {
    private static final System.Logger LOGGER = System.getLogger("io.millrace.backplane");

    private final EventManager manager;

    AlarmTimer(EventManager manager) {
        this.manager = manager;
    }

    @Override
    public Timeout newTimeout(TimerTask task, long delay, TimeUnit unit) {
        return new Alarm(task, Duration.of(delay, unit.toChronoUnit()));
    }

    /** The alarms that are left end with the manager. */
    @Override
    public Set<Timeout> stop() {
        return Set.of();
    }

    private final class Alarm implements Timeout {
        private final TimerTask task;
        private final AlarmKey key;
        private volatile boolean fired;
        private volatile boolean cancelled;

        Alarm(TimerTask task, Duration delay) {
            this.task = task;
            this.key = manager.schedule(delay, this::onAlarm);
        }

        private void onAlarm(boolean due) {
            if (due) {
                fired = true;
                try {
                    task.run(this);
                } catch (Exception e) {
                    LOGGER.log(Level.WARNING, "a timeout of Lettuce failed", e);
                }
            } else {
                cancelled = true;
            }
        }

        @Override
        public Timer timer() {
            return AlarmTimer.this;
        }

        @Override
        public TimerTask task() {
            return task;
        }

        @Override
        public boolean isExpired() {
            return fired;
        }

        @Override
        public boolean isCancelled() {
            return cancelled;
        }

        @Override
        public boolean cancel() {
            return manager.cancel(key) == CancelResult.CANCELLED;
        }
    }
}
