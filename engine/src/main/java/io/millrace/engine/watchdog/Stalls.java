package io.millrace.engine.watchdog;

import io.millrace.engine.BlockedLoop;
import io.millrace.engine.StallReport;
import io.millrace.engine.StallReport.Blocked;
import io.millrace.engine.StallReport.Tally;
import io.millrace.engine.recorder.FlightRecorderSwitch;
import io.millrace.engine.recorder.LoopEvents;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What has held up one loop, for reports. The watchdog writes it when something has stalled, which is rare; any thread
 * reads it. Every value is immutable and replaced as a whole, so a reader needs no lock.
 */
public final class Stalls {
    /** How many places are remembered; the one that blocked longest ago is dropped first. */
    private static final int PLACES = 64;

    private record Place(long count, long longestNanos, long totalNanos, long lastNanos, long at, BlockedLoop last) {}

    private final Map<String, Place> places = new ConcurrentHashMap<>();
    /** How often an item has blocked, in whatever place. Written by the watchdog's thread only. */
    private volatile long blockedCount;

    private volatile Tally busy = Tally.NONE;
    private volatile Tally starved = Tally.NONE;
    private volatile Tally paused = Tally.NONE;
    /** Where the loop is blocked now. */
    private volatile @Nullable String ongoing;

    // ---- The watchdog's thread ----

    /** An item has begun to block: reported once per item. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    void begin(String place, BlockedLoop blocked, long now) {
        if (places.size() == PLACES && !places.containsKey(place)) {
            places.entrySet().stream()
                    .min(Comparator.comparingLong(entry -> entry.getValue().at - now))
                    .ifPresent(oldest -> places.remove(oldest.getKey()));
        }
        long nanos = blocked.lasts().toNanos();
        places.merge(
                place,
                new Place(1, nanos, nanos, nanos, now, blocked),
                (before, first) -> new Place(
                        before.count + 1,
                        Math.max(before.longestNanos, nanos),
                        before.totalNanos + nanos,
                        nanos,
                        now,
                        blocked));
        blockedCount++;
        ongoing = place;
        tellRecorder(place, blocked, nanos, false);
    }

    private static void tellRecorder(String place, BlockedLoop blocked, long nanos, boolean ended) {
        if (FlightRecorderSwitch.isOn()) {
            LoopEvents.blocked(blocked, place, nanos, ended);
        }
    }

    /** The item of the last {@link #begin} still blocks. */
    void goOn(long nanos, long now) {
        String place = ongoing;
        if (place != null) {
            places.computeIfPresent(
                    place,
                    (same, before) -> new Place(
                            before.count,
                            Math.max(before.longestNanos, nanos),
                            before.totalNanos - before.lastNanos + nanos,
                            nanos,
                            now,
                            before.last));
        }
    }

    /** No item blocks. */
    void end() {
        String place = ongoing;
        if (place != null) {
            ongoing = null;
            Place known = places.get(place);
            if (known != null) {
                tellRecorder(place, known.last, known.lastNanos, true);
            }
        }
    }

    void countBusy(long nanos) {
        busy = plus(busy, nanos);
    }

    void countStarved(long nanos) {
        starved = plus(starved, nanos);
    }

    void countPaused(long nanos) {
        paused = plus(paused, nanos);
    }

    private static Tally plus(Tally before, long nanos) {
        Duration time = Duration.ofNanos(nanos);
        return new Tally(
                before.count() + 1,
                before.longest().compareTo(time) < 0 ? time : before.longest(),
                before.total().plus(time));
    }

    // ---- Any thread ----

    /** Returns everything so far. */
    public StallReport report(long now) {
        if (places.isEmpty() && busy.count() + starved.count() + paused.count() == 0) {
            return StallReport.NONE;
        }
        String present = ongoing;
        List<Blocked> blocked = places.entrySet().stream()
                .map(entry ->
                        blocked(entry.getKey(), entry.getValue(), entry.getKey().equals(present), now))
                .sorted(Comparator.comparing(Blocked::sinceLast))
                .toList();
        return new StallReport(blocked, blockedCount, busy, starved, paused);
    }

    private static Blocked blocked(String where, Place place, boolean ongoing, long now) {
        return new Blocked(
                where,
                new Tally(place.count, Duration.ofNanos(place.longestNanos), Duration.ofNanos(place.totalNanos)),
                ongoing,
                Duration.ofNanos(Math.max(0, now - place.at)),
                place.last);
    }
}
