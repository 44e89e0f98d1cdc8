package io.millrace.server.connection;

import io.millrace.engine.AlarmKey;
import io.millrace.server.Idle;
import io.millrace.server.support.ServerSettings;
import org.jspecify.annotations.Nullable;

/**
 * How long a connection may be silent, for each kind of silence, since when each counts, and the alarm that watches
 * over all of them. Created for connections that have a limit.
 *
 * <p>Receiving and sending only cost a store each; the alarm computes how late it really is. If it is early, the same
 * alarm is used again, so no object is allocated. Used on the loop only, except {@link #ask}.
 */
final class IdleWatch {
    private static final Idle[] KINDS = Idle.values();

    private final StreamConnection connection;
    private @Nullable AlarmKey alarm;

    /**
     * The limit of each kind that was asked for last, by whatever thread. The loop applies what it finds here: so of two
     * calls on different threads, the last one counts, although the loop may get to them in another order.
     */
    private volatile long bothAsked;

    private volatile long readAsked;
    private volatile long writeAsked;

    private long bothNanos;
    private long readNanos;
    private long writeNanos;
    /**
     * From when on silence of this kind counts, if nothing was received or sent since: when the limit was set, or last
     * reported.
     */
    private long bothFrom;

    private long readFrom;
    private long writeFrom;

    /** One that has been asked for the limits that connections have at first. */
    IdleWatch(StreamConnection connection, ServerSettings settings) {
        this.connection = connection;
        for (Idle kind : KINDS) {
            ask(kind, settings.idleNanos(kind));
        }
    }

    // ---- The limits ----

    boolean isSet() {
        return (bothNanos | readNanos | writeNanos) != 0;
    }

    long nanos(Idle kind) {
        return switch (kind) {
            case BOTH -> bothNanos;
            case READ -> readNanos;
            case WRITE -> writeNanos;
        };
    }

    /** Asks for a limit, 0 for none, which {@link #apply} or {@link #change} makes count. Any thread. */
    void ask(Idle kind, long nanos) {
        switch (kind) {
            case BOTH -> bothAsked = nanos;
            case READ -> readAsked = nanos;
            case WRITE -> writeAsked = nanos;
        }
    }

    /** Makes the limit count that was asked for, from now on. What is due then, the alarm does not know yet. */
    void apply(Idle kind, long now) {
        switch (kind) {
            case BOTH -> bothNanos = bothAsked;
            case READ -> readNanos = readAsked;
            case WRITE -> writeNanos = writeAsked;
        }
        restart(kind, now);
    }

    /** Makes all limits count that were asked for. */
    void apply(long now) {
        for (Idle kind : KINDS) {
            apply(kind, now);
        }
    }

    /** Makes the time of one kind count from now on. */
    private void restart(Idle kind, long now) {
        switch (kind) {
            case BOTH -> bothFrom = now;
            case READ -> readFrom = now;
            case WRITE -> writeFrom = now;
        }
    }

    /** Returns the kind that is due first. Must not be called if nothing is set. */
    private Idle first(long now) {
        Idle first = Idle.BOTH;
        for (Idle kind : KINDS) {
            if (left(kind, now) < left(first, now)) {
                first = kind;
            }
        }
        return first;
    }

    /** Returns how long it is until this kind is due; not positive if it is. */
    private long left(Idle kind, long now) {
        long lastIn = connection.lastIn();
        long lastOut = connection.lastOut;
        return switch (kind) {
            case BOTH -> left(bothNanos, later(bothFrom, later(lastIn, lastOut)), now);
            case READ -> left(readNanos, later(readFrom, lastIn), now);
            case WRITE -> left(writeNanos, later(writeFrom, lastOut), now);
        };
    }

    private static long left(long nanos, long since, long now) {
        return nanos == 0 ? Long.MAX_VALUE : nanos - (now - since);
    }

    private static long later(long one, long other) {
        return one - other > 0 ? one : other;
    }

    // ---- The alarm ----

    /** Begins to watch, if there is a limit. */
    void start() {
        if (isSet()) {
            long now = connection.loop.now();
            alarm = connection.schedule(left(first(now), now), this::onAlarm);
        }
    }

    void stop() {
        connection.cancel(alarm);
        alarm = null;
    }

    /** Makes a limit count that was asked for on a connection that is already watched. */
    void change(Idle kind) {
        long before = nanos(kind);
        apply(kind, connection.loop.now());
        if (alarm != null && before > 0 && nanos(kind) >= before) {
            return; // the alarm will come too early, notice it, and wait on
        }
        stop();
        start();
    }

    private void onAlarm(boolean fired) {
        AlarmKey present = alarm;
        alarm = null;
        if (!fired || connection.over || connection.isDoomed() || !isSet()) {
            return;
        }
        Idle first = first(connection.loop.now());
        if (left(first, connection.loop.now()) <= 0) {
            // If the process was stopped for a while, there may be input that the loop has not been told about.
            connection.readArrived();
            if (connection.over || !isSet() || alarm != null) {
                return; // it has ended, or its handler has set another timeout
            }
            connection.excuseUnreadInput();
            first = first(connection.loop.now());
            if (left(first, connection.loop.now()) <= 0) {
                restart(first, connection.loop.now());
                connection.tellIdle(first);
                if (connection.over || connection.isDoomed() || !isSet() || alarm != null) {
                    return;
                }
                first = first(connection.loop.now());
            }
        }
        long left = left(first, connection.loop.now());
        if (present != null && connection.loop.rearm(present, left)) {
            alarm = present;
        } else {
            alarm = connection.schedule(left, this::onAlarm);
        }
    }
}
