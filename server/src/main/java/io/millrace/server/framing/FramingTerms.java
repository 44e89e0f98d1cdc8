package io.millrace.server.framing;

import io.millrace.poll.internal.Durations;
import io.millrace.server.Framing;
import io.millrace.server.support.ServerSettings;
import java.time.Duration;
import java.util.Objects;

/** A framing for one connection, with its limits. They are asked for where it is set, so that a mistake shows there. */
public record FramingTerms(Framing framing, int maxBytes, long withinNanos) {
    public static FramingTerms of(Framing framing) {
        Framing own = Objects.requireNonNull(
                Objects.requireNonNull(framing, "framing").forConnection(), "forConnection of a framing");
        Duration limit = framing.timeLimit();
        if (limit.isZero()) {
            limit = own.timeLimit();
        }
        while (own instanceof FramingKinds.Timed timed) {
            own = timed.framing();
        }
        int maxBytes = ServerSettings.inRange("maxBytes of a framing", own.maxBytes(), 1, FramingKinds.LONGEST);
        return new FramingTerms(own, maxBytes, Durations.limitNanos(limit, "the time limit of a framing"));
    }

    @SuppressWarnings("ReferenceEquality") // there is only one
    public boolean isNone() {
        return framing == FramingKinds.NONE;
    }
}
