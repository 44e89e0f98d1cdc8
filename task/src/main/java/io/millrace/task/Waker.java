package io.millrace.task;

/**
 * Says that it is worth polling again.
 *
 * <p>Any thread may call it, at any time, any number of times. It never blocks and never polls by itself. It stays harmless for ever:
 * once the child that it was given to is finished or removed, or the set closed, a call does nothing, and in particular wakes nobody who
 * took the child's place.
 *
 * <p>What the caller wrote before {@link #wake} is visible to the poll that answers it.
 */
@FunctionalInterface
public interface Waker {
    /** Asks for a poll. */
    void wake();

    /**
     * A waker for those who poll anyway.
     *
     * @return does nothing
     */
    static Waker none() {
        return Wakers.NONE;
    }
}
