package io.millrace.engine.descriptor;

import io.millrace.engine.Priority;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a readiness descriptor: not ready, ready, a callback that waits, or closed. One word, so that of a notification, a readiness and
 * a timeout that meet, each sees what the other did (grpc-9, grpc-10).
 *
 * <pre>
 * NOT_READY ── notify ──► callback ── ready, timeout ──► NOT_READY   the callback is handed to whoever did that, once
 *     └────── ready ────► READY ──── notify, clear ────► NOT_READY   notify: its callback is run at once
 *                    any ── close ──► CLOSED                         a callback that waits is handed to the closer
 * </pre>
 */
@SuppressWarnings("ReferenceEquality") // states are themselves
final class ReadinessDirection {
    private static final Object NOT_READY = new Object();
    private static final Object READY = new Object();
    private static final Object CLOSED = new Object();

    private final AtomicReference<Object> state = new AtomicReference<>(NOT_READY);
    private final String name;
    volatile Priority priority = Priority.NORMAL;

    ReadinessDirection(String name) {
        this.name = name;
    }

    /** A callback is to wait: true if it need not, because it is ready now. */
    boolean notify(PendingNotification waiter) {
        for (; ; ) {
            Object seen = state.get();
            if (seen == NOT_READY) {
                if (state.compareAndSet(NOT_READY, waiter)) {
                    return false;
                }
            } else if (seen == READY) {
                if (state.compareAndSet(READY, NOT_READY)) {
                    return true;
                }
            } else if (seen == CLOSED) {
                throw new IllegalStateException("cannot notify when " + name + ": the descriptor is closed");
            } else {
                throw new IllegalStateException("cannot notify when " + name + ": " + seen
                        + " waits for that already; ask again when it has run");
            }
        }
    }

    /** It became ready: the callback that waited, which the caller must run; null if none did. */
    @Nullable
    PendingNotification ready() {
        for (; ; ) {
            Object seen = state.get();
            if (seen == READY || seen == CLOSED) {
                return null;
            }
            if (seen == NOT_READY) {
                if (state.compareAndSet(NOT_READY, READY)) {
                    return null;
                }
            } else if (state.compareAndSet(seen, NOT_READY)) {
                return (PendingNotification) seen;
            }
        }
    }

    /** The time of a callback is over: true if it still waited, and the caller must run it. */
    boolean timedOut(PendingNotification waiter) {
        return state.compareAndSet(waiter, NOT_READY);
    }

    void clear() {
        state.compareAndSet(READY, NOT_READY);
    }

    /** The callback that waited, which the caller must run; null if none did. */
    @Nullable
    PendingNotification close() {
        return state.getAndSet(CLOSED) instanceof PendingNotification waiter ? waiter : null;
    }

    boolean isAwaited() {
        return state.get() instanceof PendingNotification;
    }

    @Override
    public String toString() {
        Object seen = state.get();
        return name + (seen == READY ? " ready" : seen instanceof PendingNotification ? " awaited" : "");
    }
}
