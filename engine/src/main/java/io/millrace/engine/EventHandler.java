package io.millrace.engine;

import io.millrace.engine.internal.FailureLog;
import io.millrace.poll.Readiness;

/** Called by an {@link EventLoop} when a source is ready. */
@FunctionalInterface
public interface EventHandler {
    /**
     * The source is ready. With the default trigger, EDGE, read or write until would-block: it is not told again of what is left.
     *
     * @param loop where the source is registered
     * @param token of the source
     * @param readiness what it is ready for, within its interest
     * @throws Exception goes to {@link #onError}; the source stays registered
     */
    void ready(EventLoop loop, long token, Readiness readiness) throws Exception;

    /**
     * {@link #ready} has thrown. Called on the same thread. The loop and all other sources go on, whatever is thrown here.
     *
     * @param loop where the source is registered
     * @param token of the source
     * @param failure what was thrown
     */
    default void onError(EventLoop loop, long token, Throwable failure) {
        FailureLog.report("the handler " + FailureLog.name(this) + " of token " + token + " on " + loop, failure);
    }
}
