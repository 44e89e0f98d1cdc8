package io.millrace.server.connection;

import io.millrace.engine.AlarmKey;
import org.jspecify.annotations.Nullable;

/**
 * The last stage of a close, if the peer was sending: the peer was told that no more bytes follow, and its input is
 * discarded until it closes too, or for a second. Exists only then. Used on the loop only.
 */
final class Lingering {
    /** How long input is discarded after our last byte if the peer keeps sending. */
    static final long NANOS = 1_000_000_000;

    private final StreamConnection connection;
    private @Nullable AlarmKey alarm;

    Lingering(StreamConnection connection) {
        this.connection = connection;
    }

    /** Starts the time that the peer has. */
    void start() {
        alarm = connection.schedule(NANOS, fired -> {
            alarm = null;
            if (fired) {
                connection.finishSoon(null);
            }
        });
    }

    void stop() {
        connection.cancel(alarm);
        alarm = null;
    }
}
