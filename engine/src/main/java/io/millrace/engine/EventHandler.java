package io.millrace.engine;

import io.millrace.engine.internal.FailureLog;
import io.millrace.poll.Readiness;

/** Called by an {@link EventLoop} when a source is ready. */
@FunctionalInterface
public interface EventHandler {
    /**
     * Called when the source is ready. With the default trigger, EDGE, read or write until would-block: what is left is
     * not reported again.
     *
     * @param loop the loop with which the source is registered
     * @param token the token of the source
     * @param readiness what it is ready for, within its interest
     * @throws Exception goes to {@link #onError}; the source stays registered, and what was left of an edge is reported
     *     again after a pause: a millisecond at first, and twice as long each time while this throws, up to a second
     */
    void ready(EventLoop loop, long token, Readiness readiness) throws Exception;

    /**
     * Called when {@link #ready} has thrown, on the same thread. Whatever this method throws does not affect the loop
     * or other sources. By default the failure is logged as an error (SEVERE in {@code java.util.logging}), with its
     * stack, to {@code io.millrace}.
     *
     * @param loop the loop with which the source is registered
     * @param token the token of the source
     * @param failure what was thrown
     */
    default void onError(EventLoop loop, long token, Throwable failure) {
        FailureLog.report("the handler " + FailureLog.name(this) + " of token " + token + " on " + loop, failure);
    }
}
