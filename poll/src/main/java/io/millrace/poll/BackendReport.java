package io.millrace.poll;

import java.util.List;

/**
 * Which mechanism a {@link Poll} waits with, and why not a better one.
 *
 * @param chosen the backend's name: {@code epoll}, {@code kqueue}, {@code poll} or {@code nio}
 * @param reason why it was taken: it is the best that opens here, or somebody asked for it
 * @param remark what to know of it, or empty
 * @param passedOver the better ones that cannot open here, best first; empty if the choice was forced
 */
public record BackendReport(String chosen, String reason, String remark, List<PassedOver> passedOver) {
    /**
     * A backend that would have been better.
     *
     * @param name its name
     * @param reason why it cannot open
     * @param remedy what to do to have it
     */
    public record PassedOver(String name, String reason, String remedy) {}

    /** Copies the list. */
    public BackendReport {
        passedOver = List.copyOf(passedOver);
    }

    /**
     * The report of the backend that {@link Poll#open()} takes here; opens one and closes it again.
     *
     * @return what would be chosen, and why
     */
    public static BackendReport probe() {
        try (Poll poll = Poll.open()) {
            return poll.report();
        }
    }

    /** A line for the choice, and one for each backend that was passed over. */
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
