package io.millrace.net;

import io.millrace.poll.internal.Durations;
import io.millrace.sys.posix.SocketSetting;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * When the system asks a silent TCP peer whether it is still there. It is taken for gone after {@code idle + count × interval}
 * without an answer.
 *
 * @param idle how long a connection is silent before the first question; rounded up to seconds, up to 32,767
 * @param interval how long to wait for an answer before the next one; rounded up to seconds, up to 32,767
 * @param count how many questions, from 1 to 127
 */
public record KeepAlive(Duration idle, Duration interval, int count) {
    private static final int MAX_SECONDS = 32_767;
    private static final int MAX_COUNT = 127;
    private static final Duration USUAL_INTERVAL = Duration.ofSeconds(75);
    private static final int USUAL_COUNT = 9;

    /**
     * Rounds the times up to seconds.
     *
     * @throws IllegalArgumentException if a value is out of the range that every system knows
     */
    public KeepAlive {
        idle = Duration.ofSeconds(Durations.wholeSeconds(idle, "idle", 1, MAX_SECONDS));
        interval = Duration.ofSeconds(Durations.wholeSeconds(interval, "interval", 1, MAX_SECONDS));
        if (count < 1 || count > MAX_COUNT) {
            throw new IllegalArgumentException("count is from 1 to " + MAX_COUNT + ", not " + count);
        }
    }

    /**
     * The first question after a time of silence, and then as Linux does by default: every 75 seconds, 9 times.
     *
     * @param idle how long a connection is silent before the first question
     * @return the times
     * @throws IllegalArgumentException if it is not from 1 to 32,767 seconds
     */
    public static KeepAlive after(Duration idle) {
        return new KeepAlive(idle, USUAL_INTERVAL, USUAL_COUNT);
    }

    /** The times, and behind them the switch. */
    Map<SocketSetting, Integer> settings() {
        Map<SocketSetting, Integer> settings = new LinkedHashMap<>();
        settings.put(SocketSetting.KEEP_IDLE, (int) idle.toSeconds());
        settings.put(SocketSetting.KEEP_INTERVAL, (int) interval.toSeconds());
        settings.put(SocketSetting.KEEP_COUNT, count);
        settings.put(SocketSetting.KEEP_ALIVE, 1);
        return settings;
    }
}
