package io.millrace.poll;

/** Called by {@link Poll#run}, on the thread that runs it. */
@FunctionalInterface
public interface PollHandler {
    /**
     * Called when a source is ready. This includes timers and channels.
     *
     * @param poll the poll that reports it
     * @param token the token of the source
     * @param kind what it is ready for
     */
    void ready(Poll poll, long token, Readiness kind);

    /**
     * Called after all events of one poll were passed to {@link #ready}.
     *
     * @param poll the poll
     */
    default void tick(Poll poll) {}
}
