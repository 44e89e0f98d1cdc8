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
         * The engine was restarted, or has lost the topic. What it had acknowledged may be gone; how much, it cannot
         * know.
         */
        NEW_EPOCH
    }

    /**
     * Returns why messages may be missing.
     *
     * @return by comparing the two positions
     */
    public Reason reason() {
        return after.epoch().equals(next.epoch()) ? Reason.TRIMMED : Reason.NEW_EPOCH;
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
