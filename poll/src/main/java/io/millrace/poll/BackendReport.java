package io.millrace.poll;

import java.util.List;

/**
 * Which backend a {@link Poll} uses, and why not a better one.
 *
 * @param chosen the backend's name: {@code epoll}, {@code kqueue}, {@code poll} or {@code nio}
 * @param reason why it was chosen: it is the best that opens here, or it was asked for
 * @param remark what to know about it, or empty
 * @param passedOver the better ones that cannot be opened here, best first; empty if the choice was forced
 */
public record BackendReport(String chosen, String reason, String remark, List<PassedOver> passedOver) {
    /**
     * A better backend that could not be used.
     *
     * @param name its name
     * @param reason why it cannot be opened
     * @param remedy what to do to use it
     */
    public record PassedOver(String name, String reason, String remedy) {}

    /** Copies the list. */
    public BackendReport {
        passedOver = List.copyOf(passedOver);
    }

    /**
     * Returns the report of the backend that {@link Poll#open()} would choose. Opens one and closes it again.
     *
     * @return what would be chosen, and why
     */
    public static BackendReport probe() {
        try (Poll poll = Poll.open()) {
            return poll.report();
        }
    }

    /** Returns a line for the choice, and one for each backend that was passed over. */
    @Override
    public String toString() {
        StringBuilder text =
                new StringBuilder("using ").append(chosen).append(" (").append(reason);
        if (!remark.isEmpty()) {
            text.append("; ").append(remark);
        }
        text.append(')');
        for (PassedOver other : passedOver) {
            text.append("\nnot ")
                    .append(other.name)
                    .append(": ")
                    .append(other.reason)
                    .append(". ")
                    .append(other.remedy);
        }
        return text.toString();
    }
}
