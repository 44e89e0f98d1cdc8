package io.millrace.backplane;

/**
 * Messages that a subscriber has missed, or may have missed.
 *
 * @param after where it was
 * @param next where it continues: the next message is the one behind this position
 */
public record Gap(Position after, Position next) {
    /** Why messages may be missing. */
    public enum Reason {
        /** They are no longer in the history, which keeps a limited number. */
        TRIMMED,
        /**
         * The engine was restarted, or has lost the topic; or the position that the subscriber came back with was never
         * one of this topic. What was acknowledged may be missing; how much, nobody can know.
         */
        NEW_EPOCH
    }

    /**
     * Returns why messages may be missing.
     *
     * @return by comparing the two positions
     */
    public Reason reason() {
        boolean forward = after.epoch().equals(next.epoch()) && after.offset() <= next.offset();
        return forward ? Reason.TRIMMED : Reason.NEW_EPOCH;
    }

    /**
     * Returns how many messages are missing.
     *
     * @return the exact number if they were trimmed; -1 if it cannot be known
     */
    public long count() {
        return reason() == Reason.TRIMMED ? next.offset() - after.offset() : -1;
    }
}
