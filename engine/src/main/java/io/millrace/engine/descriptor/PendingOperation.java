package io.millrace.engine.descriptor;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The place of a pending operation: empty, an operation, or closed for ever. One word; whoever takes an operation out of it calls its callback, so that is
 * called once. An operation that came in before the close is handed to the closer, and none comes in afterwards.
 */
@SuppressWarnings("ReferenceEquality") // states are themselves
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

    /** The operation that is in it; null if there is none. */
    @SuppressWarnings("unchecked") // put lets in nothing else
    @Nullable
    T get() {
        Object present = state.get();
        return present == CLOSED ? null : (T) present;
    }

    /** Takes this operation out: true if it was in, and the caller must call its callback. */
    boolean take(T operation) {
        return state.compareAndSet(operation, null);
    }

    /** Lets none in from now on, and takes out the one that is in; null if there is none. */
    @SuppressWarnings("unchecked") // put lets in nothing else
    @Nullable
    T close() {
        Object present = state.getAndSet(CLOSED);
        return present == CLOSED ? null : (T) present;
    }
}
