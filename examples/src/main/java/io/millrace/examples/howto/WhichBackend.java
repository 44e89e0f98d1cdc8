package io.millrace.examples.howto;

import io.millrace.poll.BackendReport;
import io.millrace.poll.Poll;

/** Prints which backend is used here, and why no better one. */
public final class WhichBackend {
    private WhichBackend() {}

    /**
     * Prints the report of a poll.
     *
     * @param args none
     */
    public static void main(String[] args) {
        try (Poll poll = Poll.open()) {
            BackendReport report = poll.report();
            System.out.println(report);
        }
    }
}
