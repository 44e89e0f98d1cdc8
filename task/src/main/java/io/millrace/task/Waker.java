package io.millrace.task;

/**
 * Signals that polling is worthwhile again.
 *
 * <p>Any thread may call it, at any time, any number of times. It never blocks and never polls by itself. It stays
 * harmless for ever: once its child is finished or removed, or the set is closed, a call does nothing; in particular,
 * it does not wake another child that took its place.
 *
 * <p>What the caller wrote before {@link #wake} is visible to the poll that answers it.
 */
@FunctionalInterface
public interface Waker {
    /** Asks for a poll. */
    void wake();

    /**
     * Returns a waker for callers that poll anyway.
     *
     * @return a waker that does nothing
     */
    static Waker none() {
        return Wakers.NONE;
    }
}
