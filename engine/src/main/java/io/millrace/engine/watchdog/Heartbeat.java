package io.millrace.engine.watchdog;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * What a watchdog sees of a reactor: a counter, odd while the reactor works, even while it sleeps, another number each turn; and since when.
 *
 * <p><b>Who sleeps must be noticed when he wakes.</b> A reactor that goes from even to odd makes that store and <em>then</em> looks whether its {@link WatchdogSleep} is
 * suspended; the watchdog says that it suspends its watchdogSleep and <em>then</em> looks at the beats. Both are volatile stores before volatile loads, so one of the two sees
 * the other. From odd to odd a release is enough: the watchdog does not leave while it is odd.
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

    @SuppressWarnings("UnusedVariable") // by TURN_BEGAN
    private long turnBegan;

    private @Nullable WatchdogSleep watchdogSleep;

    /** Before the reactor runs for the first time. */
    void watchedBy(WatchdogSleep by) {
        this.watchdogSleep = by;
    }

    // ---- The reactor's thread ----

    /** It sleeps from now on, or looks for work. */
    public void asleep() {
        BEAT.setOpaque(this, (beat + 1) & ~1L);
    }

    /** It sleeps from now on, and perhaps another thread will wake it. */
    public void left() {
        BEAT.setVolatile(this, (beat + 1) & ~1L);
    }

    /** It has slept, and a turn begins. */
    public void awake(long nowNanos) {
        TURN_BEGAN.setOpaque(this, nowNanos);
        // Volatile: a store before the load in stirred(). See above.
        BEAT.setVolatile(this, (beat | 1) + 2);
        WatchdogSleep by = watchdogSleep;
        if (by != null) {
            by.stirred();
        }
    }

    /** A turn that follows another without a sleep: it began when the other ended. */
    public void next(long nowNanos) {
        TURN_BEGAN.setOpaque(this, nowNanos);
        // Release: whoever sees the new beat sees when the turn began.
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
