package io.millrace.server.connection;

import io.millrace.engine.AlarmKey;
import java.net.SocketTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The write timeout of one connection: how long its peer may take nothing while output waits. Created when output first
 * waits on a connection with such a limit. Progress only stores a time; the alarm computes how late it really is. Used
 * on the loop only.
 */
final class WriteWatch {
    private final ConnectionOutput output;
    private final long nanos;
    /** When the peer last took something, or the first byte began to wait. */
    private long lastProgress;

    private @Nullable AlarmKey alarm;

    WriteWatch(ConnectionOutput output, long nanos) {
        this.output = output;
        this.nanos = nanos;
    }

    /** Makes the time count from now on. */
    void restart() {
        lastProgress = output.loop.nanoTime();
    }

    /** Watches until nothing waits any more. */
    void start() {
        if (alarm == null) {
            alarm = output.schedule(nanos, this::onAlarm);
        }
    }

    void stop() {
        output.cancel(alarm);
        alarm = null;
    }

    private void onAlarm(boolean fired) {
        AlarmKey present = alarm;
        alarm = null;
        if (!fired || output.over || output.isDoomed() || !output.isWaiting()) {
            return;
        }
        long left = nanos - (output.loop.nanoTime() - lastProgress);
        if (left <= 0) {
            output.onBroken(new SocketTimeoutException("closed " + output + ": the peer took nothing for "
                    + nanos / 1_000_000 + " ms while " + output.queuedBytes() + " bytes wait"));
        } else if (present != null && output.loop.rearm(present, left)) {
            alarm = present;
        } else {
            alarm = output.schedule(left, this::onAlarm);
        }
    }
}
