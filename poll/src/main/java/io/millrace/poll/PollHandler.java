package io.millrace.poll;

/** What {@link Poll#run} calls, on the thread that runs it. */
@FunctionalInterface
public interface PollHandler {
    /**
     * A source is ready; timers and channels come this way too.
     *
     * @param poll the poll that found it
     * @param token the source's token
     * @param kind what it is ready for
     */
    void ready(Poll poll, long token, Readiness kind);

    /**
     * All events of one poll have been handed over.
     *
     * @param poll the poll
     */
    default void tick(Poll poll) {}
}
