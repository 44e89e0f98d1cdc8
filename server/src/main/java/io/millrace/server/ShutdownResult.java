package io.millrace.server;

import java.util.List;

/**
 * How the end of a server went.
 *
 * @param drained whether every connection had sent what it had to send before the deadline
 * @param cutOff the connections that were closed with bytes left, and how many
 */
public record ShutdownResult(boolean drained, List<String> cutOff) {
    /** Copies the list. */
    public ShutdownResult {
        cutOff = List.copyOf(cutOff);
    }
}
