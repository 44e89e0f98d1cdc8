package io.millrace.engine.watchdog;

import org.jspecify.annotations.Nullable;

/**
 * What the watchdog knows of one reactor from look to look, and what it makes of it (mr-1). It sees the number of the turn and of the item that runs; a number that has not changed since the last look is the same
 * turn, the same item. Of the time in between it takes away what the process was paused and what the thread was not let run. What is left has the item held the thread for.
 *
 * <p>One thread.
 */
final class LoopDiagnosis {
    /** What is to be said after a look. */
    enum Verdict {
        /** Nothing, or nothing new. */
        FINE,
        /** One item has held the thread for longer than the limit. Once for each item. */
        BLOCKED,
        /** A turn has taken longer than the limit with many items. Once for each turn. */
        BUSY,
        /** The thread was ready for longer than the limit and was not let run. Once for each turn. */
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

    /** The reactor sleeps. */
    void sleeps() {
        turn = -1;
        item = -1;
    }

    /**
     * The reactor is in a turn.
     *
     * @param itemSince the moment from which the item is known to run, at its first sight: a clock that only tests move may not move again
     * @param pausedNanos for how long of the time since the last look the whole process stood still
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
            turnTold = true; // it is this item's doing
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
