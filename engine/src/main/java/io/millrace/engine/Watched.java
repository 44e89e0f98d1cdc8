package io.millrace.engine;

import org.jspecify.annotations.Nullable;

/** A loop as its {@link Watchdog} sees it. Any thread may ask. */
interface Watched {
    /** Whether it works, and since when. */
    Pulse pulse();

    /** How many items and steps it has begun. */
    long items();

    /** The system's number of the thread that runs it; negative if unknown. */
    long systemThread();

    /** What it does, for a report: an item has held the thread for so long. */
    BlockedTurn describeTurn(long lastsNanos);

    /** Has it time its items from now on, until {@link #stopTiming}. */
    void startTiming();

    /** Ends that: the item that took longest, or null. */
    @Nullable
    TimedItem stopTiming();
}
