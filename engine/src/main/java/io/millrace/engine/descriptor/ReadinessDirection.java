package io.millrace.engine.descriptor;

import io.millrace.engine.Priority;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a readiness descriptor: not ready, ready, a waiting callback, or closed. It is one atomic word, so if
 * a notify call, readiness and a timeout happen at once, each sees what the others did (grpc-9, grpc-10).
 *
 * <pre>
 * NOT_READY ── notify ──► callback ── ready, timeout ──► NOT_READY   the thread that did this gets the callback, once
 *     └────── ready ────► READY ──── notify, clear ────► NOT_READY   notify: its callback runs at once
 *                    any ── close ──► CLOSED                         the thread that closes gets a waiting callback
 * </pre>
 */
@SuppressWarnings("ReferenceEquality") // states are compared by identity
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

    /** Lets a callback wait. Returns true if it need not wait, because the direction is ready. */
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

    /** Marks the direction ready. Returns the waiting callback, which the caller must run, or null. */
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

    /** Ends the wait of a callback whose time is over. If this returns true, the caller must run it. */
    boolean timedOut(PendingNotification waiter) {
        return state.compareAndSet(waiter, NOT_READY);
    }

    void clear() {
        state.compareAndSet(READY, NOT_READY);
    }

    /** Closes the direction. Returns the waiting callback, which the caller must run, or null. */
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
