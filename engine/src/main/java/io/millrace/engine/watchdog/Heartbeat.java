package io.millrace.engine.watchdog;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * What a watchdog sees of a reactor: a counter that is odd while the reactor works, even while it sleeps, and different
 * in each turn; and when the turn began.
 *
 * <p><b>A reactor that wakes must be noticed.</b> A reactor that goes from even to odd makes that store and
 * <em>then</em> reads whether its {@link WatchdogSleep} is suspended; the watchdog suspends it and <em>then</em> reads
 * the beats. Both are volatile stores before volatile loads, so one of the two sees the other. From odd to odd a
 * release is enough: the watchdog does not suspend itself while a beat is odd.
 */
public final class Heartbeat {
    private static final VarHandle BEAT;
    private static final VarHandle TURN_BEGAN;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            BEAT = lookup.findVarHandle(Heartbeat.class, "beat", long.class);
            TURN_BEGAN = lookup.findVarHandle(Heartbeat.class, "turnBegan", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private long beat;

    @SuppressWarnings("UnusedVariable") // accessed through TURN_BEGAN
    private long turnBegan;

    private @Nullable WatchdogSleep watchdogSleep;

    /** Called before the reactor runs for the first time. */
    void setWatchdogSleep(WatchdogSleep by) {
        this.watchdogSleep = by;
    }

    // ---- The reactor's thread ----

    /** The reactor sleeps from now on, or looks for work. */
    public void markAsleep() {
        BEAT.setOpaque(this, (beat + 1) & ~1L);
    }

    /** The reactor sleeps from now on, and another thread may be the one that runs it next. */
    public void markLeft() {
        BEAT.setVolatile(this, (beat + 1) & ~1L);
    }

    /** The reactor has slept, and a turn begins. */
    public void markAwake(long nowNanos) {
        TURN_BEGAN.setOpaque(this, nowNanos);
        // Volatile: a store before the load in resumeIfSuspended(). See above.
        BEAT.setVolatile(this, (beat | 1) + 2);
        WatchdogSleep by = watchdogSleep;
        if (by != null) {
            by.resumeIfSuspended();
        }
    }

    /** A turn begins without a sleep before it: it began when the last one ended. */
    public void next(long nowNanos) {
        TURN_BEGAN.setOpaque(this, nowNanos);
        // Release: a thread that sees the new beat sees when the turn began.
        BEAT.setRelease(this, (beat | 1) + 2);
    }

    // ---- Any thread ----

    long beat() {
        return (long) BEAT.getVolatile(this);
    }

    public boolean isOdd() {
        return (beat() & 1) != 0;
    }

    public long turnBegan() {
        return (long) TURN_BEGAN.getOpaque(this);
    }
}
