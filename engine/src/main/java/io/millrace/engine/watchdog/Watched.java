package io.millrace.engine.watchdog;

import io.millrace.engine.BlockedLoop;
import org.jspecify.annotations.Nullable;

/** A loop as its {@link Watchdog} sees it. Any thread may call. */
public interface Watched {
    /** Returns whether it works, and since when. */
    Heartbeat heartbeat();

    /** Returns how many items and steps it has started. */
    long items();

    /** Returns the system's number of the thread that runs it; negative if unknown. */
    long systemThread();

    /** Describes what it is doing, for a report about an item that has held the thread for {@code lastsNanos}. */
    BlockedLoop describeTurn(long lastsNanos);

    /** Returns where the watchdog records what has held it up. */
    Stalls stalls();

    /** Called at each check while an item holds the thread for longer than the limit. */
    void onBlocked();

    /** Starts to measure items, until {@link #stopTiming}. */
    void startTiming();

    /** Stops measuring. Returns the item that took longest, or null. */
    @Nullable
    TimedItem stopTiming();
}
