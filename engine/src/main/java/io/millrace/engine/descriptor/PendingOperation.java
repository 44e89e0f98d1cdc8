package io.millrace.engine.descriptor;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Holds at most one pending operation: empty, an operation, or closed for good. It is one atomic word, and the thread
 * that takes the operation out calls its callback; so the callback is called once. The thread that closes it gets the
 * operation that is in it, and none can be put in afterwards.
 */
@SuppressWarnings("ReferenceEquality") // states are compared by identity
final class PendingOperation<T> {
    private static final Object CLOSED = new Object();

    private final AtomicReference<@Nullable Object> state = new AtomicReference<>();

    /** Puts an operation in. */
    void put(T operation, String doing, Object owner) {
        Object present = state.compareAndExchange(null, operation);
        if (present != null) {
            throw new IllegalStateException("cannot " + doing + ": "
                    + (present == CLOSED
                            ? owner + " is closed"
                            : "one is pending on " + owner + "; wait for its callback"));
        }
    }

    /** Returns the operation that is in it, or null. */
    @SuppressWarnings("unchecked") // put accepts nothing else
    @Nullable
    T get() {
        Object present = state.get();
        return present == CLOSED ? null : (T) present;
    }

    /** Takes this operation out. If this returns true, the caller must call its callback. */
    boolean take(T operation) {
        return state.compareAndSet(operation, null);
    }

    /** Accepts no more operations, and takes out the one that is in it, or returns null. */
    @SuppressWarnings("unchecked") // put accepts nothing else
    @Nullable
    T close() {
        Object present = state.getAndSet(CLOSED);
        return present == CLOSED ? null : (T) present;
    }
}
