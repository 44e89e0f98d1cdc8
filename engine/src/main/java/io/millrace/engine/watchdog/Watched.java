package io.millrace.engine.watchdog;

import io.millrace.engine.BlockedLoop;
import org.jspecify.annotations.Nullable;

/** A loop as its {@link Watchdog} sees it. Any thread may ask. */
public interface Watched {
    /** Whether it works, and since when. */
    Heartbeat heartbeat();

    /** How many items and steps it has begun. */
    long items();

    /** The system's number of the thread that runs it; negative if unknown. */
    long systemThread();

    /** What it does, for a report: an item has held the thread for so long. */
    BlockedLoop describeTurn(long lastsNanos);

    /** Has it time its items from now on, until {@link #stopTiming}. */
    void startTiming();

    /** Ends that: the item that took longest, or null. */
    @Nullable
    TimedItem stopTiming();
}
