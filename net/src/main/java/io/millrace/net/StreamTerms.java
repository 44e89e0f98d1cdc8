package io.millrace.net;

import io.millrace.poll.internal.Durations;
import io.millrace.sys.posix.SocketSetting;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The initial settings of TCP streams, accepted or connecting: checks them, and converts them for the system. */
final class StreamTerms {
    /** The most seconds that NIO and every kernel accept. */
    private static final int MAX_LINGER_SECONDS = 65_535;

    private static final int MAX_TRAFFIC_CLASS = 255;

    private StreamTerms() {}

    static void requireSize(String what, int bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("the size of " + what + " is not negative: " + bytes);
        }
    }

    static int requireTrafficClass(int octet) {
        if (octet < 0 || octet > MAX_TRAFFIC_CLASS) {
            throw new IllegalArgumentException("a traffic class is from 0 to " + MAX_TRAFFIC_CLASS + ", not " + octet);
        }
        return octet;
    }

    /** Returns seconds, rounded up; −1 for none, as the system expects. */
    static int lingerSeconds(@Nullable Duration time) {
        return time == null ? -1 : Durations.wholeSeconds(time, "linger", 0, MAX_LINGER_SECONDS);
    }

    static @Nullable Duration wholeLinger(@Nullable Duration time) {
        return time == null ? null : Duration.ofSeconds(lingerSeconds(time));
    }

    /**
     * Returns only what differs from the system's defaults, because each setting costs a call. The switch of keep-alive
     * follows its times.
     */
    static Map<SocketSetting, Integer> settings(
            int receiveBuffer,
            boolean noDelay,
            @Nullable KeepAlive keepAlive,
            int sendBuffer,
            @Nullable Duration linger,
            int trafficClass) {
        Map<SocketSetting, Integer> settings = new LinkedHashMap<>();
        if (receiveBuffer > 0) {
            settings.put(SocketSetting.RECEIVE_BUFFER, receiveBuffer);
        }
        if (sendBuffer > 0) {
            settings.put(SocketSetting.SEND_BUFFER, sendBuffer);
        }
        if (trafficClass > 0) {
            settings.put(SocketSetting.TRAFFIC_CLASS, trafficClass);
        }
        if (noDelay) {
            settings.put(SocketSetting.NO_DELAY, 1);
        }
        if (linger != null) {
            settings.put(SocketSetting.LINGER, lingerSeconds(linger));
        }
        if (keepAlive != null) {
            settings.putAll(keepAlive.settings());
        }
        return settings;
    }
}
