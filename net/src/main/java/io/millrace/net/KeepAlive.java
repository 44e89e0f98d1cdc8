package io.millrace.net;

import io.millrace.poll.internal.Durations;
import io.millrace.sys.posix.SocketSetting;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * When the system checks whether a silent TCP peer is still there. The peer is considered gone after {@code idle +
 * count × interval} without an answer.
 *
 * @param idle how long a connection is silent before the first probe; rounded up to seconds, up to 32,767
 * @param interval how long to wait for an answer before the next probe; rounded up to seconds, up to 32,767
 * @param count how many probes, from 1 to 127
 */
public record KeepAlive(Duration idle, Duration interval, int count) {
    private static final int MAX_SECONDS = 32_767;
    private static final int MAX_COUNT = 127;
    private static final Duration USUAL_INTERVAL = Duration.ofSeconds(75);
    private static final int USUAL_COUNT = 9;

    /**
     * Rounds the times up to seconds.
     *
     * @throws IllegalArgumentException if a value is outside the range that every system supports
     */
    public KeepAlive {
        idle = Duration.ofSeconds(Durations.wholeSeconds(idle, "idle", 1, MAX_SECONDS));
        interval = Duration.ofSeconds(Durations.wholeSeconds(interval, "interval", 1, MAX_SECONDS));
        if (count < 1 || count > MAX_COUNT) {
            throw new IllegalArgumentException("count is from 1 to " + MAX_COUNT + ", not " + count);
        }
    }

    /**
     * Returns times with the first probe after the given silence, and then as Linux does by default: every 75 seconds,
     * 9 times.
     *
     * @param idle how long a connection is silent before the first probe
     * @return the times
     * @throws IllegalArgumentException if it is not from 1 to 32,767 seconds
     */
    public static KeepAlive after(Duration idle) {
        return new KeepAlive(idle, USUAL_INTERVAL, USUAL_COUNT);
    }

    /** Returns the settings: the times, followed by the switch. */
    Map<SocketSetting, Integer> settings() {
        Map<SocketSetting, Integer> settings = new LinkedHashMap<>();
        settings.put(SocketSetting.KEEP_IDLE, (int) idle.toSeconds());
        settings.put(SocketSetting.KEEP_INTERVAL, (int) interval.toSeconds());
        settings.put(SocketSetting.KEEP_COUNT, count);
        settings.put(SocketSetting.KEEP_ALIVE, 1);
        return settings;
    }
}
