package io.millrace.engine.watchdog;

import org.jspecify.annotations.Nullable;

/**
 * What the watchdog remembers of one reactor between two checks, and what it concludes (mr-1). It sees the numbers of
 * the turn and of the item that is running; if a number has not changed since the last check, it is the same turn or
 * the same item. From the time in between it subtracts how long the process was paused and how long the thread was not
 * scheduled. The rest is the time for which the item has held the thread.
 *
 * <p>Used by one thread.
 */
final class LoopDiagnosis {
    /** The conclusion of a check. */
    enum Verdict {
        /** Nothing to report, or nothing new. */
        FINE,
        /** One item has held the thread for longer than the limit. Reported once per item. */
        BLOCKED,
        /** A turn of many items has taken longer than the limit. Reported once per turn. */
        BUSY,
        /** The thread was runnable for longer than the limit, but was not scheduled. Reported once per turn. */
        STARVED
    }

    private final long limitNanos;

    private long turn = -1;
    private long item = -1;
    private long lookedAt;
    private @Nullable ThreadTimes times;
    private long itemNanos;
    private long turnNanos;
    private long starvedNanos;
    private boolean itemTold;
    private boolean turnTold;
    private boolean starvedTold;

    LoopDiagnosis(long limitNanos) {
        this.limitNanos = limitNanos;
    }

    /** The reactor is asleep. */
    void markAsleep() {
        turn = -1;
        item = -1;
    }

    /**
     * The reactor is in a turn.
     *
     * @param itemSince the time from which the item is known to be running, when it is first seen: a clock that only
     *     tests move may not move again
     * @param pausedNanos for how long of the time since the last check the whole process was paused
     */
    Verdict works(
            long turnNumber,
            long itemNumber,
            long itemSince,
            long now,
            @Nullable ThreadTimes timesNow,
            long pausedNanos) {
        boolean sameTurn = turnNumber == turn;
        boolean sameItem = sameTurn && itemNumber == item;
        if (!sameTurn) {
            turn = turnNumber;
            turnNanos = 0;
            starvedNanos = 0;
            turnTold = false;
            starvedTold = false;
        } else {
            long span = now - lookedAt;
            span -= Math.min(span, pausedNanos);
            long starved = ThreadTimes.notLetRun(times, timesNow, span);
            starvedNanos += starved;
            turnNanos += span - starved;
            itemNanos += span - starved;
        }
        if (!sameItem) {
            item = itemNumber;
            itemNanos = now - itemSince;
            itemTold = false;
        }
        lookedAt = now;
        times = timesNow;
        return verdict();
    }

    private Verdict verdict() {
        if (itemNanos >= limitNanos && !itemTold) {
            itemTold = true;
            turnTold = true; // this item is the reason
            return Verdict.BLOCKED;
        }
        if (turnNanos >= limitNanos && !turnTold && itemNanos < limitNanos / 2) {
            turnTold = true;
            return Verdict.BUSY;
        }
        if (starvedNanos >= limitNanos && !starvedTold) {
            starvedTold = true;
            return Verdict.STARVED;
        }
        return Verdict.FINE;
    }

    long itemNanos() {
        return itemNanos;
    }

    long turnNanos() {
        return turnNanos;
    }

    long starvedNanos() {
        return starvedNanos;
    }
}
