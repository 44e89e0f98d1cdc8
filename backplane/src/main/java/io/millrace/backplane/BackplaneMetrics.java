package io.millrace.backplane;

/**
 * The counters of a backplane at one moment.
 *
 * @param state whether the engine can be reached
 * @param pendingMessages how many wait for their acknowledgement
 * @param pendingBytes how many bytes those have
 * @param published how many were acknowledged
 * @param refused how many were not, for whatever reason
 * @param delivered how many messages subscribers were given
 * @param gaps how many gaps subscribers were told of
 * @param topics how many topics have subscribers here
 * @param behind how many subscriptions are catching up from the history
 */
public record BackplaneMetrics(
        EngineState state,
        long pendingMessages,
        long pendingBytes,
        long published,
        long refused,
        long delivered,
        long gaps,
        int topics,
        int behind) {}
